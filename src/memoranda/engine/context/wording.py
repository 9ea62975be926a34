"""What a memory says, in the words a reader of the context gets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from memoranda.engine.indexing import taxonomic_text
from memoranda.engine.records import EPISODIC, PROCEDURAL, TAXONOMIC, Image, JsonValue, MemoryRecord, Profile


def wording(record: MemoryRecord | Profile | Image) -> str:
    """Return the text of a memory, a profile or an image for a prompt."""
    if isinstance(record, Profile):
        return record.information
    if isinstance(record, Image):
        return record.description
    if record.kind == TAXONOMIC:
        return taxonomic_text(record)
    if record.kind not in (EPISODIC, PROCEDURAL):
        return record.content
    return "\n".join(_lines(record))


def _lines(record: MemoryRecord) -> Iterator[str]:
    """The lines of an episode or a procedure; what its content says word for word is not said twice."""
    if record.kind == EPISODIC:
        yield from _unsaid(record, (_string(record.body.get("title")), _string(record.body.get("summary"))))
    else:
        description = _string(record.body.get("description"))
        yield f"{record.name}: {description}" if any(_unsaid(record, (description,))) else record.name
    if record.content:
        yield record.content
    if record.kind == PROCEDURAL:
        steps = record.body.get("steps")
        said = [_step(step) for step in steps] if isinstance(steps, list | tuple) else []
        if any(_unsaid(record, said)):
            yield from (f"{number}. {step}" for number, step in enumerate(said, start=1))


def _unsaid(record: MemoryRecord, lines: Iterable[str]) -> Iterator[str]:
    """The lines that the content does not hold; a title may be cut from it."""
    return (line for line in dict.fromkeys(lines) if line and line.rstrip("… ") not in record.content)


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _step(step: JsonValue) -> str:
    said = step.get("text") if isinstance(step, Mapping) else step
    return said if isinstance(said, str) else json.dumps(step, ensure_ascii=False, default=str)
