"""A model's reply becomes items, one by one: a bad item costs itself only, and a reply that cannot be read is an error.

Three outcomes are three things: a ``ParsedReply`` with items, a ``ParsedReply`` without any (a valid empty answer), and
``UnusableReply``. A reply that was cut off is unusable as a whole: what is missing from it is unknown, and to store the
items before the cut would lose the others silently.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.engine.extraction.items import ExtractedItem, ItemFailure
from memoranda.engine.extraction.json_text import FoundObject, objects_in
from memoranda.engine.extraction.prompts import Prompt
from memoranda.engine.extraction.reply_items import ItemError, item_of, one_line
from memoranda.engine.extraction.schema import SUMMARY
from memoranda.engine.records import SEMANTIC
from memoranda.engine.text import clean_text, normal_statement

_OTHER_NAMES: Final = {SEMANTIC: ("facts",)}
"""Names that models give to a list instead of its own."""
MAX_ITEMS: Final = 200
"""The most items of one reply; a snapshot of twenty turns gives some ten."""
_MAX_SUMMARY: Final = 2_000
_MAX_RAW: Final = 4_000


class UnusableReply(Exception):
    """The reply answers nothing; ``truncated`` when it was cut off."""

    def __init__(self, reason: str, *, truncated: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.truncated = truncated


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """What a reply says: its good items, its bad ones, and the summary. Neither means: nothing to extract."""

    items: tuple[ExtractedItem, ...]
    failures: tuple[ItemFailure, ...]
    summary: str


def parse_reply(text: str | None, prompt: Prompt) -> ParsedReply:
    """Return what a reply to this prompt says; raises ``UnusableReply`` when it says nothing that can be used.

    That is so when there is no JSON object with at least one list of a kind that was asked for, when the object is
    cut off, and when there are items of which none is good.
    """
    answer = _answer(text or "", prompt)
    items: dict[tuple[object, ...], ExtractedItem] = {}
    failures: list[ItemFailure] = []
    for kind in prompt.kinds:
        for raw in _elements(answer, kind):
            if isinstance(raw, ItemFailure):
                failures.append(raw)
                continue
            try:
                item = item_of(kind, raw, prompt)
            except ItemError as error:
                failures.append(_failure(f"{kind} item: {error}", raw))
            else:
                items.setdefault(_identity(item), item)
    if failures and not items:
        raise UnusableReply(f"none of its {len(failures)} items can be used; the first: {failures[0].reason}")
    kept, failures = _bounded(list(items.values()), failures)
    return ParsedReply(_labelled(kept, prompt), tuple(failures), _summary(answer.get(SUMMARY)))


def _bounded(
    items: Sequence[ExtractedItem], failures: Sequence[ItemFailure]
) -> tuple[list[ExtractedItem], list[ItemFailure]]:
    """Return at most ``MAX_ITEMS`` of each; what is over is one failure, not many, and holds up no other writer."""
    over = [*(item.content for item in items[MAX_ITEMS:]), *(failure.raw for failure in failures[MAX_ITEMS:])]
    told = list(failures[:MAX_ITEMS])
    if over:
        reason = f"{len(over)} items are more than the {MAX_ITEMS} that one reply may give; they were left out"
        told.append(ItemFailure(reason, "\n".join(over)))
    return list(items[:MAX_ITEMS]), told


def _answer(text: str, prompt: Prompt) -> Mapping[str, object]:
    """Return the last object of the text that answers the question, unless another was begun after it."""
    if not text.strip():
        raise UnusableReply("it is empty")
    found = list(objects_in(text))
    begun = None
    for each in reversed(found):
        if each.truncated:
            begun = each
        if each.value is not None and _answers(each.value, prompt):
            if begun is not None:
                raise UnusableReply(begun.problem, truncated=True)
            return each.value
    raise _unusable(found)


def _answers(value: Mapping[str, object], prompt: Prompt) -> bool:
    return any(isinstance(_list(value, kind), list) for kind in prompt.kinds)


def _unusable(found: list[FoundObject]) -> UnusableReply:
    if not found:
        return UnusableReply("there is no JSON object in it")
    # The outermost object that was cut off explains what is inside it.
    if found[0].truncated:
        return UnusableReply(found[0].problem, truncated=True)
    problem = next((each.problem for each in found if each.problem), "its JSON object has none of the lists asked for")
    return UnusableReply(problem)


def _list(value: Mapping[str, object], kind: str) -> object:
    names = (kind, *_OTHER_NAMES.get(kind, ()))
    return next((value[name] for name in names if value.get(name) is not None), None)


def _elements(answer: Mapping[str, object], kind: str) -> Iterator[object]:
    """Yield the elements of a kind's list; a value that is no list is one failure, an absent list is empty."""
    elements = _list(answer, kind)
    if isinstance(elements, list):
        yield from elements
    elif elements is not None:
        yield _failure(f"{kind} is {_named(elements)}, not a list", elements)


def _identity(item: ExtractedItem) -> tuple[object, ...]:
    """Return what makes two items of one reply the same: said twice in a snapshot is said once."""
    own = json.dumps(item.body, sort_keys=True) if item.body else ""
    return (item.kind, item.label, normal_statement(item.content), own, item.event_time)


def _labelled(items: Sequence[ExtractedItem], prompt: Prompt) -> tuple[ExtractedItem, ...]:
    """Take away a label that several statements of one time have: it names no single value, and would lose all but one.

    At different times they are a value and what followed it.
    """
    times = {turn.turn_id: turn.event_time for turn in prompt.turns}
    keys = [
        (item.label, item.event_time or max((times[each] for each in item.turn_ids), default=max(times.values())))
        for item in items
    ]
    several = {key for key, number in Counter(keys).items() if number > 1 and key[0]}
    return tuple(replace(item, label=None) if key in several else item for item, key in zip(items, keys, strict=True))


def _summary(value: object) -> str:
    return one_line(value)[:_MAX_SUMMARY] if isinstance(value, str) else ""


def _failure(reason: str, raw: object) -> ItemFailure:
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return ItemFailure(reason, clean_text(text)[:_MAX_RAW])


def _named(value: object) -> str:
    return {dict: "an object", str: "a text", bool: "a truth value", int: "a number", float: "a number"}.get(
        type(value), type(value).__name__
    )
