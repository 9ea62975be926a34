"""From an extractor's item to a memory draft: its natural key, its time, its owner and its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.draft_checks import checked_draft
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.records import ORG, PROCEDURAL, SEMANTIC, TAXONOMIC, Snapshot, Turn
from memoranda.engine.text import normal_statement
from memoranda.sdk.errors import MemoryBadRequestError

# Fields of a kind that are columns of its record.
_NOT_BODY = {
    SEMANTIC: frozenset({"label", "text"}),
    TAXONOMIC: frozenset({"domain", "term", "definition"}),
    PROCEDURAL: frozenset({"procedure", "content"}),
}
EXTRACTED = "extracted"
_DAY = 86_400
_MOMENT = 1 / _DAY


@dataclass(frozen=True, slots=True)
class Batch:
    """What the items of one snapshot have in common.

    With ``settings``, those of the session's own policy, the memories belong to the session, end with the turns that
    they come from, and inherit of their metadata what the setting ``inherit`` says (True: all, or a list of keys).
    """

    snapshot: Snapshot
    turns: Mapping[str, Turn]
    extractor: str
    config: ProjectConfig
    now: datetime
    settings: Mapping[str, object] | None = None

    @property
    def in_session(self) -> bool:
        return self.settings is not None

    @property
    def visibility(self) -> str:
        """What nobody owns is private to nobody."""
        return ORG if self.in_session and not self.snapshot.user_id else self.config.extraction.visibility

    def ttl_days(self, turn_ids: Sequence[str]) -> float | None:
        """Return how long a memory is kept that comes from these turns: as long as the first of them."""
        ends = [self.turns[each].expires_at for each in turn_ids]
        left = [(end - self.now).total_seconds() / _DAY for end in ends if end is not None]
        return max(min(left), _MOMENT) if left and self.in_session else None

    def metadata(self, item: ExtractedItem, turn_ids: Sequence[str]) -> dict[str, object] | None:
        """Return an item's metadata with what it inherits: what all those turns that say something agree on."""
        wanted = (self.settings or {}).get("inherit", False)
        found: dict[str, list[object]] = {}
        for turn_id in turn_ids if wanted else ():
            for key, value in (self.turns[turn_id].metadata or {}).items():
                if wanted is True or (isinstance(wanted, Sequence) and key in wanted):
                    found.setdefault(key, []).append(value)
        inherited = {key: values[0] for key, values in found.items() if all(each == values[0] for each in values)}
        return {**inherited, **(item.metadata or {})} or None


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
        session_id=batch.snapshot.session_id if batch.in_session else "",
        visibility=batch.visibility,
        record_type=item.record_type,
        domain=domain,
        name=name,
        body={key: value for key, value in item.body.items() if key not in hidden},
        metadata=batch.metadata(item, turn_ids),
        ttl_days=batch.ttl_days(turn_ids),
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
