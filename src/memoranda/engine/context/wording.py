"""What a memory says, in the words a reader of the context gets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memoranda.engine.indexing import taxonomic_text
from memoranda.engine.records import EPISODIC, PROCEDURAL, TAXONOMIC, JsonValue, MemoryRecord, Profile


def wording(record: MemoryRecord | Profile) -> str:
    """Return the text of a memory or a profile for a prompt."""
    if isinstance(record, Profile):
        return record.information
    if record.kind == TAXONOMIC:
        return taxonomic_text(record)
    if record.kind not in (EPISODIC, PROCEDURAL):
        return record.content
    return "\n".join(_lines(record))


def _lines(record: MemoryRecord) -> Iterator[str]:
    """The lines of a memory, none of them twice."""
    yield from dict.fromkeys(line for line in _all_lines(record) if line)


def _all_lines(record: MemoryRecord) -> Iterator[str]:
    if record.kind == EPISODIC:
        yield _string(record.body.get("title"))
        yield _string(record.body.get("summary"))
    elif record.kind == PROCEDURAL:
        description = _string(record.body.get("description"))
        yield f"{record.name}: {description}" if description else record.name
    yield record.content
    if record.kind == PROCEDURAL:
        steps = record.body.get("steps")
        for number, step in enumerate(steps if isinstance(steps, list | tuple) else (), start=1):
            yield f"{number}. {_step(step)}"


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _step(step: JsonValue) -> str:
    said = step.get("text") if isinstance(step, Mapping) else step
    return said if isinstance(said, str) else json.dumps(step, ensure_ascii=False, default=str)
