"""The extract job: a snapshot's turns in, reconciled memories out, exactly once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.extraction.candidates import Batch, draft_of
from memoranda.engine.extraction.items import (
    ExtractedItem,
    Extraction,
    ExtractionRequest,
    Extractor,
    InformedExtractor,
    RelatedMemory,
    SourceTurn,
)
from memoranda.engine.extraction.prompts import readable_text
from memoranda.engine.extraction.reconcile import Reconciler
from memoranda.engine.extraction.related import RelatedMemories
from memoranda.engine.feed.log import ChangeLog
from memoranda.engine.jobs.failure import Cause, FailureClass
from memoranda.engine.jobs.handler import Lease, Outcome
from memoranda.engine.jobs.queue import REREAD
from memoranda.engine.jobs.worker import failure_of
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import SEMANTIC, Failure, Job, Session, Snapshot, SnapshotState, Turn
from memoranda.engine.scope import Scope
from memoranda.engine.spending import Spending
from memoranda.sdk.errors import MemoryBadRequestError

logger = logging.getLogger(__name__)

_UNFINISHED = (SnapshotState.PENDING, SnapshotState.FAILED)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A snapshot and those of its turns that still exist; its session and earlier turns where a policy wants them."""

    snapshot: Snapshot
    turns: Mapping[str, Turn]
    session: Session | None = None
    context: Sequence[Turn] = ()


class ExtractHandler:
    """Runs extract jobs with the extractor that each asks for by name."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        clock: Clock,
        *,
        config: ProjectConfig,
        extractors: Mapping[str, Extractor],
        reconciler: Reconciler,
        related: RelatedMemories | None = None,
        spending: Spending | None = None,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._clock = clock
        self._config = config
        self._extractors = dict(extractors)
        self._reconciler = reconciler
        self._related = related
        self._changes = ChangeLog(clock, config.change_feed)
        self._spending = spending or Spending(store, project_id, clock, config.spending)

    def provide(self, name: str, extractor: Extractor) -> None:
        """Have jobs that ask for this name run with this extractor from now on."""
        self._extractors[name] = extractor

    def handle(self, job: Job, lease: Lease) -> Outcome:
        """Extract one snapshot. The extractor runs outside any transaction; all effects are one, with the job's end."""
        outcome: Outcome | None = None
        while outcome is None:
            lease.check()
            with self._store.read(self._project_id) as tx:
                reading = _read(tx, job, self._clock.now())
            with self._spending.metered(job) as meter:
                extraction = None if reading is None else self._extract(job, reading)
                with self._store.write(self._project_id) as tx:
                    outcome = self._commit(tx, job, lease, reading, extraction)
                    meter.keep(tx)
                meter.kept = True
        return outcome

    def _extract(self, job: Job, reading: _Reading) -> Extraction:
        extractor = self._extractors[job.extractor]
        turns = [_source_turn(turn) for turn in reading.turns.values() if turn.content and turn.content.strip()]
        if not turns:
            return Extraction((), "", f"{extractor.name}/{extractor.version}")
        if isinstance(extractor, InformedExtractor):
            return extractor.extract_request(self._request(job, reading, turns))
        return extractor.extract(turns, kinds=self._kinds(_settings(job) is not None))

    def _kinds(self, own: bool) -> frozenset[str]:
        """Return the kinds to extract; what a session asks for itself has statements, whatever the project wants."""
        return frozenset((*self._config.extraction.kinds, SEMANTIC) if own else self._config.extraction.kinds)

    def _request(self, job: Job, reading: _Reading, turns: Sequence[SourceTurn]) -> ExtractionRequest:
        config, settings = self._config.extraction, _settings(job)
        owner = reading.snapshot
        scope = Scope(user_id=owner.user_id)
        if settings is not None:
            scope = replace(scope, agent_id=owner.agent_id)
        return ExtractionRequest(
            turns=tuple(turns),
            kinds=self._kinds(settings is not None),
            related=self._find_related(scope, "\n".join(readable_text(turn) for turn in turns)),
            instructions=config.instructions,
            preferences_only=config.preferences_only,
            settings=settings,
            context=tuple(_source_turn(turn) for turn in reading.context if turn.content),
            running_summary=None if reading.session is None else reading.session.summary,
            session_id=owner.session_id,
            find=partial(self._find_related, scope),
            history=partial(self._history, owner),
        )

    def _history(self, snapshot: Snapshot, first: int, last: int) -> tuple[SourceTurn, ...]:
        with self._store.read(self._project_id) as tx:
            found = _alive(tx.turns.run(snapshot.user_id, snapshot.session_id, first, last), self._clock.now())
        return tuple(_source_turn(turn) for turn in found)

    def _find_related(self, scope: Scope, text: str) -> tuple[RelatedMemory, ...]:
        """Search before the model is asked; the embedder, which may be slow, is asked outside any transaction."""
        if self._related is None:
            return ()
        wanted = self._related.wanted(text)
        with self._store.read(self._project_id) as tx:
            return self._related.find(tx, scope, self._config.extraction.kinds, wanted)

    def _commit(
        self, tx: Transaction, job: Job, lease: Lease, reading: _Reading | None, extraction: Extraction | None
    ) -> Outcome | None:
        """Store the outcome; None when sources went or changed meanwhile, so that what is there is to be read again."""
        if reading is None or extraction is None:
            lease.finish(tx)
            return Outcome.NOTHING
        present = _read(tx, job, self._clock.now())
        if present is None or _contents(present) != _contents(reading):
            return None
        lease.finish(tx)
        stored, failed = self._store_items(tx, job, reading, extraction)
        state = _state(stored, failed)
        now = self._clock.now()
        self._keep_summary(tx, reading, extraction)
        if REREAD in job.payload:
            return Outcome.DONE if stored else Outcome.NOTHING
        tx.snapshots.finish(
            replace(
                present.snapshot,
                state=state,
                summary=extraction.summary,
                extractor=extraction.extractor,
                updated_at=now,
            )
        )
        if self._config.snapshot.delete_promoted and state is not SnapshotState.FAILED:
            # Their memories stay: the snapshot is a source of its own.
            tx.index.remove([turn.key for turn in present.turns.values()])
            tx.turns.delete(list(present.turns))
            self._changes.turns_deleted(tx, list(present.turns))
        logger.info(
            "snapshot.extracted",
            extra={
                "snapshot_id": present.snapshot.id,
                "state": state.value,
                "memories": stored,
                "failed_items": failed,
                "model_calls": extraction.usage.calls,
                "input_tokens": extraction.usage.input_tokens,
                "output_tokens": extraction.usage.output_tokens,
            },
        )
        return Outcome.DONE if stored else Outcome.NOTHING

    def _keep_summary(self, tx: Transaction, reading: _Reading, extraction: Extraction) -> None:
        """Store the conversation's summary, unless it has another by now than the one that this one goes on from."""
        before = reading.session
        if before is None or extraction.running_summary is None:
            return
        session = tx.sessions.get(before.user_id, before.session_id)
        if session is not None and session.summary == before.summary:
            tx.sessions.update(replace(session, summary=extraction.running_summary, updated_at=self._clock.now()))

    def _store_items(self, tx: Transaction, job: Job, reading: _Reading, extraction: Extraction) -> tuple[int, int]:
        """Store what is good; return how many items were stored, and how many became failures."""
        settings = _settings(job)
        batch = Batch(reading.snapshot, reading.turns, extraction.extractor, self._config, self._clock.now(), settings)
        stored = 0
        bad = [(failure.reason, failure.raw) for failure in extraction.failures]
        for item in extraction.items:
            if not self._wanted(item, batch.in_session):
                continue
            try:
                draft = draft_of(item, batch)
            except MemoryBadRequestError as error:
                # One bad item costs itself only.
                bad.append((str(error), item.content))
                continue
            self._reconciler.reconcile(tx, item, draft)
            stored += 1
        for reason, raw in bad:
            tx.failures.insert(self._item_failure(job, reason, raw))
        return stored, len(bad)

    def _wanted(self, item: ExtractedItem, own: bool) -> bool:
        config = self._config.extraction
        if own and item.kind == SEMANTIC:
            return True
        if item.kind == SEMANTIC and config.preferences_only and item.record_type != "preference":
            return False
        return item.kind in config.kinds

    def _item_failure(self, job: Job, reason: str, raw: str) -> Failure:
        failure = failure_of(job, Cause(FailureClass.CONTENT, reason, raw_reply=raw), self._clock.now())
        return replace(failure, retryable=False)


def _state(stored: int, failed: int) -> SnapshotState:
    """Return a snapshot's outcome: where there was something and all of it was bad, that is not nothing."""
    if stored:
        return SnapshotState.EXTRACTED
    return SnapshotState.FAILED if failed else SnapshotState.EMPTY


def snapshot_failed(tx: Transaction, job: Job, failure: Failure) -> Failure | None:
    """Mark the snapshot of an extract job that ended as a failure; where it is gone there is nothing to act on."""
    snapshot = tx.snapshots.get(failure.snapshot_id)
    if snapshot is None:
        return None
    if REREAD in job.payload:
        return failure  # What was extracted of the snapshot stands.
    tx.snapshots.finish(replace(snapshot, state=SnapshotState.FAILED, updated_at=failure.last_seen))
    return failure


def _read(tx: Transaction, job: Job, now: datetime) -> _Reading | None:
    """Return the job's snapshot with its turns, or None when it is gone or has its outcome."""
    snapshot = tx.snapshots.get(str(job.payload["snapshot_id"]))
    reread = job.payload.get(REREAD)
    if snapshot is None or (reread is None and snapshot.state not in _UNFINISHED):
        return None
    if isinstance(reread, int):
        snapshot = replace(snapshot, first_seq=reread, last_seq=reread)
    found = tx.turns.run(snapshot.user_id, snapshot.session_id, snapshot.first_seq, snapshot.last_seq)
    reading = _Reading(snapshot, {turn.id: turn for turn in _alive(found, now)})
    if _settings(job) is None:
        return reading
    session = tx.sessions.get(snapshot.user_id, snapshot.session_id)
    return replace(reading, session=session, context=_earlier(tx, snapshot, _count(job.payload.get("context")), now))


def _contents(reading: _Reading) -> dict[str, str | None]:
    return {turn_id: turn.content for turn_id, turn in reading.turns.items()}


def _earlier(tx: Transaction, snapshot: Snapshot, number: int, now: datetime) -> Sequence[Turn]:
    """Return the turns before a snapshot's; numbers have gaps where turns were deleted, so there may be fewer."""
    if number < 1 or snapshot.first_seq <= 1:
        return ()
    first = max(1, snapshot.first_seq - number)
    found = tx.turns.run(snapshot.user_id, snapshot.session_id, first, snapshot.first_seq - 1)
    return _alive(found, now)


def _alive(turns: Sequence[Turn], now: datetime) -> list[Turn]:
    return [turn for turn in turns if turn.expires_at is None or turn.expires_at > now]


def _settings(job: Job) -> Mapping[str, object] | None:
    """Return what the session's own policy says to the extractor; None where the session has none."""
    settings = job.payload.get("settings")
    return settings if isinstance(settings, Mapping) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _source_turn(turn: Turn) -> SourceTurn:
    return SourceTurn(
        turn_id=turn.id,
        turn_seq=turn.turn_seq,
        role=turn.role,
        content=turn.content or "",
        event_time=turn.event_time,
        speaker=_speaker(turn),
    )


def _speaker(turn: Turn) -> str | None:
    """Return the display name that the caller gave with a turn, if any."""
    names: Sequence[object] = [(turn.metadata or {}).get(name) for name in ("speaker", "name")]
    return next((name for name in names if isinstance(name, str) and name.strip()), None)
