"""One source of a search, inside the transaction: its legs, its ranking, and the records behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memoranda.engine.ports import Transaction
from memoranda.engine.records import IMAGE, PRIVATE, PROFILE, STM, IndexState, Profile, Turn
from memoranda.engine.retrieval.bm25 import score_text
from memoranda.engine.retrieval.companions import is_tool_turn, read_exchanges
from memoranda.engine.retrieval.fusion import Legs, above_threshold, fuse
from memoranda.engine.retrieval.hits import Explanation, Found, LegRank
from memoranda.engine.retrieval.neighbours import missing_runs, smooth
from memoranda.engine.retrieval.plan import Mode, QueryVector, SourcePlan
from memoranda.engine.retrieval.recency import favour_recent
from memoranda.engine.retrieval.settings import FusionSettings, RetrievalSettings
from memoranda.engine.rows import LegQuery, Narrowing, ScoredKey
from memoranda.sdk.errors import MemoryServerError

_NO_NARROWING = Narrowing()


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """The query as both legs want it."""

    terms: tuple[str, ...]
    vector: QueryVector
    threshold: float | None = None
    companions: bool = False


@dataclass(frozen=True, slots=True)
class SourceFindings:
    """What one source gave: its records best first, what each leg said, and how it went."""

    plan: SourcePlan
    mode: Mode
    legs: Legs
    order: tuple[ScoredKey, ...] = ()
    records: Mapping[int, Found] = field(default_factory=dict)
    states: Mapping[int, IndexState] = field(default_factory=dict)
    error: str | None = None
    failed: bool = False
    companions: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)

    def explanations(self, settings: FusionSettings) -> dict[int, Explanation]:
        """Say for each record why it stands where it does."""
        text, semantic = _places(self.legs.text), _places(self.legs.semantic)
        own = {item.key: item.score for item in fuse(self.legs, settings)}
        return {
            item.key: Explanation(
                fused=item.score,
                text=text.get(item.key),
                semantic=semantic.get(item.key),
                neighbour=(item.score - own.get(item.key, 0.0)) or None,
            )
            for item in self.order
        }


class SourceSearch:
    """Runs one source's plan over an open transaction."""

    def __init__(self, transaction: Transaction, query: PreparedQuery, settings: RetrievalSettings) -> None:
        self._rows = transaction
        self._query = query
        self._settings = settings

    def run(self, plan: SourcePlan, leg_query: LegQuery, mode: Mode) -> SourceFindings:
        """Return the source's findings; raises ``MemoryServerError`` only when no leg could answer."""
        legs, error = self._legs(leg_query, mode, max(self._settings.fusion.pool, plan.top_k))
        scores = fuse(legs, self._settings.fusion)
        needs_all = self._smooths(plan) or self._settings.recency.weight
        records, states = self._load(plan.source, scores if needs_all else scores[: plan.top_k])
        order = [item for item in scores if item.key in records]
        if self._smooths(plan):
            order = self._smoothed(order, records, leg_query)
        times = {key: _time_of(record) for key, record in records.items()}
        order = favour_recent(order, times, self._settings.recency)[: plan.top_k]
        found = SourceFindings(plan, _ran(legs), legs, tuple(order), records, states, error)
        return replace(found, companions=self._companions(found, leg_query)) if self._query.companions else found

    def _legs(self, leg_query: LegQuery, mode: Mode, pool: int) -> tuple[Legs, str | None]:
        text: list[ScoredKey] | None = None
        semantic: list[ScoredKey] | None = None
        ceiling = 1.0
        errors: list[MemoryServerError] = []
        if mode is not Mode.SEMANTIC:
            try:
                text, ceiling = self._text(leg_query, pool)
            except MemoryServerError as error:
                errors.append(error)
        if mode is not Mode.TEXT:
            try:
                semantic = self._semantic(leg_query, pool, text or ())
            except MemoryServerError as error:
                errors.append(error)
        if text is None and semantic is None:
            raise errors[0]
        return Legs(text, semantic, ceiling), str(errors[0]) if errors else None

    def _text(self, leg_query: LegQuery, pool: int) -> tuple[list[ScoredKey], float]:
        terms = self._query.terms
        if not terms:
            return [], 1.0
        scores = score_text(self._rows.search.text(leg_query, terms), terms, self._settings.text)
        return scores.best(pool), scores.ceiling

    def _semantic(self, leg_query: LegQuery, pool: int, text: Sequence[ScoredKey]) -> list[ScoredKey]:
        vector = self._query.vector
        found = self._rows.search.vectors(leg_query, vector.model, vector.values or (), pool)
        return list(found) if self._query.threshold is None else above_threshold(found, self._query.threshold, text)

    def _smooths(self, plan: SourcePlan) -> bool:
        return plan.source == STM and bool(self._settings.neighbours.shares)

    def _load(self, source: str, scores: Iterable[ScoredKey]) -> tuple[dict[int, Found], dict[int, IndexState]]:
        rows = self._rows.search.documents([item.key for item in scores])
        ids = [row.record_id for row in rows]
        found: Sequence[Found]
        if source == STM:
            found = self._rows.turns.get(ids)
        elif source == PROFILE:
            found = [profile for profile in map(self._profile, ids) if profile is not None]
        elif source == IMAGE:
            found = self._rows.images.get(ids)
        else:
            found = self._rows.memories.get(ids)
        return {record.key: record for record in found}, {row.key: row.state for row in rows}

    def _profile(self, record_id: str) -> Profile | None:
        subject, _, profile_id = record_id.partition(":")
        return self._rows.profiles.get(subject, profile_id)

    def _smoothed(self, scores: Sequence[ScoredKey], records: dict[int, Found], leg_query: LegQuery) -> list[ScoredKey]:
        turns = {key: record for key, record in records.items() if isinstance(record, Turn)}
        # A neighbour that the narrowing did not admit may not come in by the side door.
        if leg_query.narrowing == _NO_NARROWING:
            best = [turns[item.key] for item in scores[: self._settings.neighbours.reach]]
            for turn in self._neighbours(best, turns, leg_query):
                turns[turn.key] = records[turn.key] = turn
        return smooth(scores, turns, self._settings.neighbours)

    def _companions(self, found: SourceFindings, leg_query: LegQuery) -> dict[str, tuple[Turn, ...]]:
        shown = {item.key for item in found.order}
        turns = [record for key, record in found.records.items() if key in shown and isinstance(record, Turn)]
        narrowed = leg_query.narrowing != _NO_NARROWING
        return read_exchanges(
            turns,
            self._rows.turns,
            # Whether another turn satisfies the narrowing is not known here; then only what was found is paired.
            lambda turn: turn.key in shown or (not narrowed and _admitted(turn, leg_query)),
        )

    def _neighbours(self, best: Sequence[Turn], known: dict[int, Turn], leg_query: LegQuery) -> Iterable[Turn]:
        for run in missing_runs(best, known.values(), self._settings.neighbours):
            for turn in self._rows.turns.run(run.user_id, run.session_id, run.first_seq, run.last_seq):
                if turn.key not in known and _admitted(turn, leg_query):
                    yield turn


def _time_of(record: Found) -> datetime:
    return record.updated_at if isinstance(record, Profile) else record.event_time


def _admitted(turn: Turn, leg_query: LegQuery) -> bool:
    """Whether a turn that no leg returned is inside the scope, alive, and has something to show."""
    inside = leg_query.scope.matches(
        user_id=turn.user_id, agent_id=turn.agent_id, session_id=turn.session_id, visibility=PRIVATE
    )
    alive = turn.expires_at is None or turn.expires_at > leg_query.now
    return inside and alive and (bool(turn.content) or is_tool_turn(turn))


def _ran(legs: Legs) -> Mode:
    if legs.semantic is None:
        return Mode.TEXT
    return Mode.SEMANTIC if legs.text is None else Mode.HYBRID


def _places(leg: Sequence[ScoredKey] | None) -> dict[int, LegRank]:
    return {item.key: LegRank(rank, item.score) for rank, item in enumerate(leg or (), start=1)}
