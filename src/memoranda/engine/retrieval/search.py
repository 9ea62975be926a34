"""The search service: plan, legs in one consistent view, fusion, merge and rerank."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from memoranda.engine.analyser import Analyser
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.ports import Clock, Reranker, Store, Transaction
from memoranda.engine.records import BUILT_IN_KINDS, IMAGE, PROFILE, STM, IndexState
from memoranda.engine.retrieval.fusion import Legs
from memoranda.engine.retrieval.hits import (
    RERANK,
    SEMANTIC_ONLY,
    TEXT_ONLY,
    WEIGHTED_MINMAX,
    Hit,
    Outcome,
    SearchResult,
)
from memoranda.engine.retrieval.merge import merge
from memoranda.engine.retrieval.plan import Mode, QueryVector, SearchRequest, SourcePlan, check_request, effective_mode
from memoranda.engine.retrieval.rerank import rerank
from memoranda.engine.retrieval.settings import RetrievalSettings
from memoranda.engine.retrieval.source import PreparedQuery, SourceFindings, SourceSearch
from memoranda.engine.rows import LegQuery
from memoranda.sdk.errors import MemoryServerError

_log = logging.getLogger(__name__)

ALL_SOURCES_FAILED = "ALL_SOURCES_FAILED"


@dataclass(slots=True)
class _Timer:
    """Seconds a stage, each measured from the end of the one before."""

    started: float = field(default_factory=time.perf_counter)
    stages: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = now - self.started
        self.started = now


class Searcher:
    """Answers searches over one project; thread-safe. ``kinds`` are the project's kinds, custom types included."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        *,
        analyser: Analyser,
        clock: Clock,
        embedding: EmbeddingService,
        reranker: Reranker | None = None,
        kinds: Collection[str] = BUILT_IN_KINDS,
        settings: RetrievalSettings | None = None,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._analyser = analyser
        self._clock = clock
        self._embedding = embedding
        self._reranker = reranker
        self._sources = frozenset({STM, PROFILE, IMAGE, *kinds})
        self._settings = settings or RetrievalSettings()

    @property
    def analyser(self) -> Analyser:
        return self._analyser

    def search(self, request: SearchRequest) -> SearchResult:
        """Return what the request's sources hold, best first.

        Raises ``MemoryClientError`` (for a vector ``MemoryBadRequestError``) when the request cannot be run, and
        ``MemoryServerError`` (``ALL_SOURCES_FAILED``) when no source could answer. A source that fails alone is told
        in its outcome.
        """
        check_request(request, self._sources)
        timer = _Timer()
        vector = self._query_vector(request)
        timer.lap("embed")
        with self._store.read(self._project_id) as transaction:
            terms = self._analyser.query_terms(request.query)
            query = PreparedQuery(terms, vector, request.similarity_threshold, request.companions)
            findings = self._run_sources(request, query, transaction)
            hits = self._hits(request, findings)
        timer.lap("search")
        strategy, rerank_error = _strategy(findings), None
        if request.rerank and hits:
            # After the transaction: a reranker may be a slow call, and everything it needs has been read.
            hits, rerank_error = rerank(request.query, hits, self._reranker)
            strategy = RERANK if rerank_error is None else strategy
            timer.lap("rerank")
        companions = {turn_id: turns for found in findings for turn_id, turns in found.companions.items()}
        return SearchResult(hits, _outcomes(findings), timer.stages, strategy, rerank_error, companions)

    def _query_vector(self, request: SearchRequest) -> QueryVector:
        if all(plan.mode is Mode.TEXT for plan in request.sources):
            return QueryVector()
        embedding = self._embedding
        if request.query_vector is not None:
            return QueryVector(embedding.name, embedding.given_query(request.query_vector))
        if not embedding.available:
            return QueryVector(error="no embedder is configured: searched by text alone")
        try:
            return QueryVector(embedding.name, embedding.embed_query(request.query))
        except Exception as error:  # noqa: BLE001 - an embedder raises what it likes; the outcomes tell the caller
            _log.warning("query_embedding_failed", extra={"model": embedding.name, "error": type(error).__name__})
            return QueryVector(error=f"the query could not be embedded by {embedding.name}: {error}")

    def _run_sources(
        self, request: SearchRequest, query: PreparedQuery, transaction: Transaction
    ) -> list[SourceFindings]:
        search = SourceSearch(transaction, query, self._settings)
        now = self._clock.now()
        findings: list[SourceFindings] = []
        failure: MemoryServerError | None = None
        for plan in request.sources:
            leg_query = LegQuery(plan.scope or request.scope, plan.source, request.states(), now, plan.narrowing)
            mode = effective_mode(plan.mode, query.vector)
            try:
                findings.append(search.run(plan, leg_query, mode))
            except MemoryServerError as error:
                _log.warning("source_failed", extra={"source": plan.source, "error": type(error).__name__})
                findings.append(_failed(plan, mode, error))
                failure = error
        if failure is not None and all(found.failed for found in findings):
            tried = ", ".join(f"{found.plan.source}: {found.error}" for found in findings)
            raise MemoryServerError(f"no source could be searched ({tried})", code=ALL_SOURCES_FAILED) from failure
        return [_degraded(found, query.vector.error) for found in findings]

    def _hits(self, request: SearchRequest, findings: Sequence[SourceFindings]) -> list[Hit]:
        fusion = self._settings.fusion
        explained = [found.explanations(fusion) if request.explain else {} for found in findings]
        return [
            Hit(
                source=findings[placed.source].plan.source,
                record=findings[placed.source].records[placed.key],
                score=placed.score,
                state=findings[placed.source].states.get(placed.key, IndexState.CURRENT),
                explanation=explained[placed.source].get(placed.key),
            )
            for placed in merge(findings, fusion)
        ]


def _failed(plan: SourcePlan, mode: Mode, error: MemoryServerError) -> SourceFindings:
    return SourceFindings(plan, mode, Legs((), ()), error=str(error), failed=True)


def _degraded(found: SourceFindings, reason: str | None) -> SourceFindings:
    if found.error is not None or found.mode is found.plan.mode:
        return found
    return replace(found, error=reason)


def _outcomes(findings: Sequence[SourceFindings]) -> list[Outcome]:
    return [
        Outcome(found.plan.source, found.plan.mode, found.mode, len(found.order), found.error, found.failed)
        for found in findings
    ]


def _strategy(findings: Sequence[SourceFindings]) -> str:
    modes = {found.mode for found in findings if not found.failed}
    if modes == {Mode.TEXT}:
        return TEXT_ONLY
    return SEMANTIC_ONLY if modes == {Mode.SEMANTIC} else WEIGHTED_MINMAX
