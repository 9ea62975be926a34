"""One element of a reply's list becomes one typed item, or an error that says what is wrong with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.prompts import Prompt
from memoranda.engine.extraction.schema import VERDICTS
from memoranda.engine.records import EPISODIC, PROCEDURAL, RECORD_TYPES, SEMANTIC, TAXONOMIC
from memoranda.engine.text import clean_text

_Fields = Mapping[str, object]

_MAX_LABEL: Final = 200
_MAX_NAMES: Final = 100
_NUMBER: Final = re.compile(r"\D{0,12}?(\d{1,6})\D?")
_LONGEST_AHEAD: Final = timedelta(days=36_525)
"""A time further after its turns is none: models write the year 9999 for "for ever", and the year 1 for "unknown"."""
_PARTIAL_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


class ItemError(ValueError):
    """What is wrong with one item."""


def item_of(kind: str, raw: object, prompt: Prompt) -> ExtractedItem:
    """Return an element as an item of its kind; raises ``ItemError``. A bare text is an item that says just that."""
    if isinstance(raw, str) and kind in (SEMANTIC, EPISODIC):
        raw = {"text": raw}
    if not isinstance(raw, Mapping):
        raise ItemError(f"an object is needed, not {type(raw).__name__}")
    item = _BY_KIND[kind](raw)
    turn_ids = _turn_ids(raw.get("turns"), prompt)
    verdicts = {name: _memory_ids(name, raw.get(name), prompt) for name in VERDICTS}
    return ExtractedItem(
        kind=kind,
        content=item.content,
        record_type=item.record_type,
        label=item.label,
        body=item.body,
        event_time=_event_time(raw.get("event_time"), turn_ids, prompt),
        turn_ids=turn_ids,
        supersedes=verdicts["supersedes"],
        refines=verdicts["refines"],
        repeats=verdicts["repeats"],
        contradicts=verdicts["contradicts"],
    )


def one_line(text: str) -> str:
    """Return text in one line: control characters removed, lone surrogates replaced, white space folded."""
    kept = "".join(char for char in clean_text(text) if char.isspace() or unicodedata.category(char) != "Cc")
    return " ".join(kept.split())


# --- kinds


def _semantic(raw: _Fields) -> ExtractedItem:
    record_type = raw.get("record_type")
    if record_type is not None and record_type not in RECORD_TYPES:
        raise ItemError(f"record_type is {record_type!r}; one of {', '.join(RECORD_TYPES)} is needed")
    return ExtractedItem(
        SEMANTIC, _required(raw, "text"), record_type=str(record_type or "fact"), label=_label(raw.get("label"))
    )


def _episodic(raw: _Fields) -> ExtractedItem:
    body = {"title": _optional(raw, "title"), "participants": _texts(raw, "participants")}
    return ExtractedItem(EPISODIC, _required(raw, "text"), body=_filled(body))


def _taxonomic(raw: _Fields) -> ExtractedItem:
    definition = _required(raw, "definition")
    body = {
        "domain": _required(raw, "domain").casefold(),
        "term": _required(raw, "term"),
        "definition": definition,
        "related_terms": _texts(raw, "related_terms"),
    }
    return ExtractedItem(TAXONOMIC, definition, body=_filled(body))


def _procedural(raw: _Fields) -> ExtractedItem:
    procedure, steps = _required(raw, "procedure"), _texts(raw, "steps")
    description = _optional(raw, "description")
    if not steps and not description:
        raise ItemError("steps and description are empty")
    body = {
        "procedure": procedure,
        "description": description,
        "steps": [{"n": number, "text": step} for number, step in enumerate(steps, 1)],
        "trigger_conditions": _texts(raw, "trigger_conditions"),
    }
    written = "; ".join(f"{number}) {step}" for number, step in enumerate(steps, 1))
    return ExtractedItem(PROCEDURAL, ": ".join(part for part in (description, written) if part), body=_filled(body))


_BY_KIND: Final[Mapping[str, Callable[[_Fields], ExtractedItem]]] = {
    SEMANTIC: _semantic,
    EPISODIC: _episodic,
    TAXONOMIC: _taxonomic,
    PROCEDURAL: _procedural,
}


def _filled(body: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in body.items() if value}


# --- fields


def _required(raw: _Fields, name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str):
        raise ItemError(f"{name} is missing" if value is None else f"{name} is {value!r:.80}, not a text")
    text = one_line(value)
    if not text:
        raise ItemError(f"{name} is blank")
    return text


def _optional(raw: _Fields, name: str) -> str:
    value = raw.get(name)
    return one_line(value) if isinstance(value, str) else ""


def _label(value: object) -> str | None:
    label = one_line(value)[:_MAX_LABEL] if isinstance(value, str) else ""
    # Models write "null" where they mean it.
    return None if label.casefold() in ("", "null", "none") else label


def _texts(raw: _Fields, name: str) -> list[str]:
    """Return a list's texts; a single text stands for a list of one, and what is no text is left out."""
    value = raw.get(name)
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    texts = [one_line(each) for each in map(_element_text, values) if each is not None]
    return [text for text in texts if text][:_MAX_NAMES]


def _element_text(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("text")
    return value if isinstance(value, str) else None


# --- numbers


def _turn_ids(value: object, prompt: Prompt) -> tuple[str, ...]:
    numbers = _numbers("turns", value, len(prompt.turns))
    return tuple(dict.fromkeys(prompt.turns[number - 1].turn_id for number in numbers))


def _memory_ids(name: str, value: object, prompt: Prompt) -> tuple[str, ...]:
    numbers = _numbers(name, value, len(prompt.related))
    return tuple(dict.fromkeys(prompt.related[number - 1].memory_id for number in numbers))


def _numbers(name: str, value: object, highest: int) -> list[int]:
    values = [] if value is None else value if isinstance(value, list) else [value]
    numbers = [_number(name, each) for each in values]
    unknown = [number for number in numbers if not 1 <= number <= highest]
    if unknown:
        shown = f"1 to {highest} were shown" if highest else "none was shown"
        raise ItemError(f"{name} has the number {unknown[0]}; {shown}")
    return numbers


def _number(name: str, value: object) -> int:
    """Return a number that may be written as ``3``, ``3.0``, ``"3"`` or ``"[turn 3]"``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    written = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    if written is None:
        raise ItemError(f"{name} has {value!r:.80}, not a number")
    return int(written[1])


# --- times


def _event_time(value: object, turn_ids: Sequence[str], prompt: Prompt) -> datetime | None:
    """Return the time that an item gives, or None: then that of its turns counts.

    A date alone is the beginning of the day, month or year; but the day of the turns themselves is their time, so that
    what was said that day keeps its order. What is no date is none, and so is what is out of all bounds: it would be
    the first or the last word on its matter for ever.
    """
    if not isinstance(value, str) or not value.strip():
        return None
    moment = _moment(value.strip(), turn_ids, prompt)
    if moment is None or moment.year == 1 or moment - _latest(turn_ids, prompt) > _LONGEST_AHEAD:
        return None
    return moment


def _moment(written: str, turn_ids: Sequence[str], prompt: Prompt) -> datetime | None:
    partial = _PARTIAL_DATE.fullmatch(written)
    try:
        if partial is None:
            moment = datetime.fromisoformat(written)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        year, month, day = (int(part or 1) for part in partial.groups())
        begin = datetime(year, month, day, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None if partial[3] and begin.date() == _latest(turn_ids, prompt).date() else begin


def _latest(turn_ids: Sequence[str], prompt: Prompt) -> datetime:
    times = [turn.event_time for turn in prompt.turns if not turn_ids or turn.turn_id in turn_ids]
    latest = max(times)
    return latest.replace(tzinfo=UTC) if latest.tzinfo is None else latest.astimezone(UTC)
