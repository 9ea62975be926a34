"""From an extractor's item to a memory draft: its natural key, its time, its owner and its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.draft_checks import checked_draft
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.records import PROCEDURAL, SEMANTIC, TAXONOMIC, Snapshot, Turn
from memoranda.engine.text import normal_statement
from memoranda.sdk.errors import MemoryBadRequestError

# Fields of a kind that are columns of its record.
_NOT_BODY = {
    SEMANTIC: frozenset({"label", "text"}),
    TAXONOMIC: frozenset({"domain", "term", "definition"}),
    PROCEDURAL: frozenset({"procedure", "content"}),
}
EXTRACTED = "extracted"


@dataclass(frozen=True, slots=True)
class Batch:
    """What the items of one snapshot have in common."""

    snapshot: Snapshot
    turns: Mapping[str, Turn]
    extractor: str
    config: ProjectConfig


def draft_of(item: ExtractedItem, batch: Batch) -> MemoryDraft:
    """Return an item as a checked draft; raises ``MemoryBadRequestError`` for one that cannot be stored."""
    unknown = [turn_id for turn_id in item.turn_ids if turn_id not in batch.turns]
    if unknown:
        raise MemoryBadRequestError(f"the item names turns that its snapshot does not have: {', '.join(unknown)}")
    domain, name = _natural_key(item)
    content = _content(item)
    if not normal_statement(content):
        raise MemoryBadRequestError(f"the {item.kind} item says nothing: {content!r}")
    hidden = _NOT_BODY.get(item.kind, frozenset())
    turn_ids = item.turn_ids or tuple(batch.turns)
    draft = MemoryDraft(
        kind=item.kind,
        content=content,
        user_id=batch.snapshot.user_id,
        agent_id=batch.snapshot.agent_id,
        visibility=batch.config.extraction.visibility,
        record_type=item.record_type,
        domain=domain,
        name=name,
        body={key: value for key, value in item.body.items() if key not in hidden},
        event_time=_event_time(item, [batch.turns[turn_id] for turn_id in turn_ids]),
        origin=EXTRACTED,
        provenance={"extractor": batch.extractor, "snapshot_id": batch.snapshot.id},
        turn_ids=turn_ids,
        snapshot_id=batch.snapshot.id,
        upsert=bool(name),
    )
    return checked_draft(draft, batch.config)


def _natural_key(item: ExtractedItem) -> tuple[str, str]:
    if item.kind == SEMANTIC:
        return "", (item.label or "").strip()
    if item.kind == TAXONOMIC:
        return _text(item.body.get("domain")), _text(item.body.get("term"))
    if item.kind == PROCEDURAL:
        return "", _text(item.body.get("procedure"))
    return "", ""


def _content(item: ExtractedItem) -> str:
    definition = _text(item.body.get("definition")) if item.kind == TAXONOMIC else ""
    return definition or item.content


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _event_time(item: ExtractedItem, turns: Sequence[Turn]) -> datetime:
    """Return the item's own time, or that of the conversation it was said in; never the time of extraction."""
    if item.event_time is None:
        return max(turn.event_time for turn in turns)
    if item.event_time.tzinfo is None:
        return item.event_time.replace(tzinfo=UTC)
    return item.event_time.astimezone(UTC)
