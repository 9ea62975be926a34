"""A model's answers become memories and links, one by one: what cannot be used costs itself only and is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memoranda.engine.extraction.items import ItemFailure
from memoranda.engine.extraction.json_text import FoundObject, objects_in
from memoranda.engine.records import RECORD_TYPES
from memoranda.threads.extraction_prompts import LINK_TYPES
from memoranda.threads.times import moment_of

_FENCE: Final = re.compile(r"^\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_MOST_RAW: Final = 4_000


@dataclass(frozen=True, slots=True)
class Said:
    """One memory as a model gave it; ``links`` are (number of a known memory, type of link)."""

    text: str
    record_type: str = "memory"
    own_id: str | None = None
    event_time: datetime | None = None
    details: Mapping[str, object] | None = None
    links: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What an answer says. ``cut_off`` when it ends in the middle: there was more."""

    memories: tuple[Said, ...] = ()
    failures: tuple[ItemFailure, ...] = ()
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a new memory relates to known ones: (id, type of link), and its text where that is to be another."""

    links: tuple[tuple[str, str], ...] = ()
    text: str | None = None


def read_extraction(text: str) -> Reply:
    """Read an answer with memories, whatever stands around the JSON; an answer without any is one failure."""
    whole = _whole(text)
    elements, cut_off = _elements_of(whole), False
    if elements is None:
        found = list(objects_in(text))
        cut_off = any(each.truncated for each in found)
        elements = _elements_among(found)
    if elements is None:
        return Reply(failures=(_failure("the answer has no memories that can be read", text),), cut_off=cut_off)
    memories: list[Said] = []
    failures: list[ItemFailure] = []
    for raw in elements:
        outcome = _said(raw)
        if isinstance(outcome, Said):
            memories.append(outcome)
        elif outcome is not None:
            failures.append(outcome)
    if cut_off:
        failures.append(_failure("the answer was cut off: what came after is not known", text))
    return Reply(tuple(memories), tuple(failures), cut_off)


def read_resolutions(text: str, offered: Mapping[str, Sequence[str]]) -> dict[str, Resolution]:
    """Read an answer with links; links to memories that were not offered, and of unknown types, are left out.

    Raises ``ValueError`` for an answer that says nothing.
    """
    for found in [_whole(text), *(each.value for each in objects_in(text))]:
        resolutions = found.get("source_resolutions") if isinstance(found, Mapping) else None
        if isinstance(resolutions, Mapping):
            read = {str(source): _resolution(raw, offered.get(str(source), ())) for source, raw in resolutions.items()}
            return {source: each for source, each in read.items() if each is not None and source in offered}
    raise ValueError("the answer has no source_resolutions that can be read")


def read_object(text: str, key: str) -> Mapping[str, object] | None:
    """Return the object of an answer that has this key; None where there is none."""
    for found in [_whole(text), *(each.value for each in objects_in(text))]:
        if isinstance(found, Mapping) and key in found:
            return found
    return None


def _whole(text: str) -> object:
    fenced = _FENCE.match(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except ValueError:
        return None


def _elements_of(value: object) -> list[object] | None:
    if isinstance(value, list):
        return value
    memories = value.get("memories") if isinstance(value, Mapping) else None
    if isinstance(memories, list):
        return memories
    # An object of nothing but a null list says that there is nothing.
    return [] if isinstance(value, Mapping) and "memories" in value and memories is None else None


def _elements_among(found: Sequence[FoundObject]) -> list[object] | None:
    """Return the memories of the last object that has any; else the objects that are memories themselves."""
    for each in reversed(found):
        elements = _elements_of(each.value) if each.value is not None else None
        if elements is not None:
            return elements
    bare: list[object] = [each.value for each in found if each.value is not None and "text" in each.value]
    return bare or None


def _said(raw: object) -> Said | ItemFailure | None:
    """Read one memory; None for one that is blank."""
    if isinstance(raw, str):
        raw = {"text": raw}
    if not isinstance(raw, Mapping):
        return _failure(f"a memory is an object, not a {type(raw).__name__}", raw)
    text = raw.get("text")
    if text is not None and not isinstance(text, str):
        return _failure(f"the text of a memory is a string, not a {type(text).__name__}", raw)
    if not text or not text.strip():
        return None if "text" in raw else _failure("a memory has no text", raw)
    record_type = raw.get("record_type") or "memory"
    if record_type not in RECORD_TYPES:
        return _failure(f"record_type is {record_type!r}; one of {', '.join(RECORD_TYPES)} is needed", raw)
    event_time = moment_of(_text(raw.get("timestamp")))
    return Said(
        text=text.strip(),
        record_type=str(record_type),
        own_id=_text(raw.get("id")),
        event_time=event_time,
        details=_details(raw, event_time),
        links=tuple(_links(raw.get("links"))),
    )


def _details(raw: Mapping[str, object], event_time: datetime | None) -> dict[str, object]:
    """Return what is kept of a memory beside its text; a detail that is not what it should be is left out."""
    entities = raw.get("entities")
    importance = raw.get("importance")
    kept: dict[str, object | None] = {
        "extraction_id": _text(raw.get("id")),
        "scope": _text(raw.get("scope")),
        "entities": [each for each in entities if isinstance(each, str)] if isinstance(entities, list) else None,
        "importance": importance if type(importance) is int and 1 <= importance <= 5 else None,
        "valid_to": _text(raw.get("valid_to")),
        # A time that is none is no time of the memory, but is not lost.
        "timestamp": None if event_time is not None else _text(raw.get("timestamp")),
    }
    return {name: value for name, value in kept.items() if value not in (None, [], "")}


def _links(raw: object) -> Iterator[tuple[int, str]]:
    for link in raw if isinstance(raw, list) else ():
        if isinstance(link, Mapping) and link.get("link_type") in LINK_TYPES:
            number = link.get("candidate", link.get("target_memory_id"))
            if isinstance(number, int | str) and str(number).isdecimal():
                yield int(number), str(link["link_type"])


def _resolution(raw: object, offered: Sequence[str]) -> Resolution | None:
    if not isinstance(raw, Mapping):
        return None
    links = raw.get("links")
    kept = tuple(
        (str(link["target_memory_id"]), str(link["link_type"]))
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, Mapping) and link.get("target_memory_id") in offered and link.get("link_type") in LINK_TYPES
    )
    return Resolution(kept, _text(raw.get("updated_source_memory_text")))


def _text(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _failure(reason: str, raw: object) -> ItemFailure:
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False, default=str)
    return ItemFailure(reason, text[:_MOST_RAW])
