"""The known memories that a snapshot may speak of again: a search in its user's own, before the model is asked."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from memoranda.engine.analyser import Analyser
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.items import RelatedMemory
from memoranda.engine.extraction.prompts import MAX_RELATED
from memoranda.engine.ports import Clock, LegQuery, Transaction
from memoranda.engine.records import EPISODIC, IndexState, MemoryRecord
from memoranda.engine.retrieval.merge import merge
from memoranda.engine.retrieval.plan import Mode, QueryVector, SourcePlan, effective_mode
from memoranda.engine.retrieval.settings import RetrievalSettings
from memoranda.engine.retrieval.source import PreparedQuery, SourceSearch
from memoranda.engine.scope import Scope

logger = logging.getLogger(__name__)

_EMBEDDED: Final = 2_000
"""Of a query only the first piece is embedded; to split the whole text for it would be work for nothing."""
_MOST_TERMS: Final = 64
"""Of the terms of a whole snapshot the longest are searched: long ones are rare, and rare ones tell."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a snapshot speaks of, as both legs of a search want it."""

    terms: tuple[str, ...]
    vector: QueryVector


class RelatedMemories:
    """Finds up to ``MAX_RELATED`` current memories of one user, by words, and by meaning where there is an embedder."""

    def __init__(self, analyser: Analyser, clock: Clock, embedding: EmbeddingService) -> None:
        self._analyser = analyser
        self._clock = clock
        self._embedding = embedding
        self._settings = RetrievalSettings()

    def wanted(self, text: str) -> Wanted:
        """Return what to look for; asks the embedder, so call it outside transactions."""
        terms = sorted(self._analyser.query_terms(text), key=lambda term: (-len(term), term))
        return Wanted(tuple(sorted(terms[:_MOST_TERMS])), self._vector(text))

    def find(self, tx: Transaction, scope: Scope, kinds: Iterable[str], wanted: Wanted) -> tuple[RelatedMemory, ...]:
        """Return the best current memories of this scope (one user's, and nobody else's), best first."""
        if not wanted.terms and wanted.vector.values is None:
            return ()
        search = SourceSearch(tx, PreparedQuery(wanted.terms, wanted.vector), self._settings)
        now = self._clock.now()
        findings = [
            search.run(
                SourcePlan(kind, top_k=MAX_RELATED),
                LegQuery(scope, kind, (IndexState.CURRENT,), now),
                effective_mode(Mode.HYBRID, wanted.vector),
            )
            for kind in kinds
        ]
        placed = merge(findings, self._settings.fusion)[:MAX_RELATED]
        records = [findings[each.source].records[each.key] for each in placed]
        return tuple(_related(record) for record in records if isinstance(record, MemoryRecord))

    def _vector(self, text: str) -> QueryVector:
        if not self._embedding.available or not text.strip():
            return QueryVector()
        try:
            return QueryVector(self._embedding.name, self._embedding.embed_query(text[:_EMBEDDED]))
        except Exception as error:  # noqa: BLE001 - an embedder raises what it likes; words alone find most of it
            logger.warning("related.by_words_alone", extra={"error": type(error).__name__})
            return QueryVector(error=type(error).__name__)


def _related(record: MemoryRecord) -> RelatedMemory:
    name = "/".join(part for part in (record.domain, record.name) if part)
    since = record.event_time if record.kind == EPISODIC else record.valid_from
    return RelatedMemory(record.id, record.kind, record.content, since, name)
