"""Search: which sources a request reads, how its hits become records, and how far each is from the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memoranda.engine.engine import MemoryEngine
from memoranda.engine.filters import Filter
from memoranda.engine.project import searched_kinds
from memoranda.engine.records import IMAGE, ORG, PRIVATE, PROFILE, SEMANTIC, STM, Image, MemoryRecord, Profile, Turn
from memoranda.engine.retrieval.hits import TEXT_ONLY, Hit, SearchResult
from memoranda.engine.retrieval.plan import Mode, SearchRequest, SourcePlan
from memoranda.engine.rows import Narrowing
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.threads.engine_backend.base import EngineParts
from memoranda.threads.engine_backend.forms import image_of, memories_of, message_of, profile_of
from memoranda.threads.engine_backend.graph import Graph, Reach
from memoranda.threads.filters import search_filter
from memoranda.threads.relations import MEMORY_TYPES
from memoranda.threads.stored import FoundRecord, StoredMemory, StoredRecord, ThreadSearch

MAX_HOPS = 5


class EngineSearch(EngineParts):
    """Search over an engine, by words, vectors or both."""

    def __init__(self, engine: MemoryEngine, *, mode: Mode = Mode.HYBRID) -> None:
        super().__init__(engine)
        self._mode = mode

    def search(self, search: ThreadSearch) -> Sequence[FoundRecord]:
        _check(search, self._mode)
        where = search_filter(search.filter)
        mode = Mode.SEMANTIC if search.query_vector is not None and not search.query else self._mode
        plans = [replace(plan, mode=mode, top_k=search.k) for plan in self._plans(search, where)]
        if not plans:
            return []
        request = SearchRequest(
            # Words that no source is asked for stand in for none.
            query=search.query or "-",
            scope=search.scope,
            sources=plans,
            query_vector=search.query_vector,
            include_superseded=search.include_invalid,
        )
        result = self.engine.searcher.search(request)
        hits = list(result.hits)[: search.k]
        return self._found(search, where, hits, _distances(result, hits, alone=len(plans) == 1))

    def _plans(self, search: ThreadSearch, where: Filter | None) -> Iterator[SourcePlan]:
        asked = search.record_types
        narrowing = Narrowing(where=where)
        if asked is None or "message" in asked:
            yield SourcePlan(STM, narrowing=narrowing)
        memory_types = tuple(name for name in MEMORY_TYPES if asked is None or name in asked)
        if memory_types:
            types = () if len(memory_types) == len(MEMORY_TYPES) else memory_types
            yield SourcePlan(SEMANTIC, narrowing=replace(narrowing, record_types=types))
        if "memory" in memory_types:
            others = sorted(kind for kind in searched_kinds(self.engine.config) if kind not in (SEMANTIC, PROFILE))
            yield from (SourcePlan(kind, narrowing=narrowing) for kind in others)
        if asked is None or "image" in asked:
            yield SourcePlan(IMAGE, narrowing=narrowing)
        profiles = _profile_scope(search)
        if profiles is not None:
            yield SourcePlan(PROFILE, narrowing=narrowing, scope=profiles)

    def _found(
        self, search: ThreadSearch, where: Filter | None, hits: Sequence[Hit], distances: Sequence[float]
    ) -> list[FoundRecord]:
        with self._read() as tx:
            memories = [hit.record for hit in hits if isinstance(hit.record, MemoryRecord)]
            shown = {memory.id: memory for memory in memories_of(tx, memories)}
            records = [_record(hit, shown) for hit in hits]
            graph = Graph(tx, Reach.of(search, where, self._now())) if search.num_hops else None
            linked = [
                graph.around(each.id) if graph is not None and isinstance(each, StoredMemory) else ()
                for each in records
            ]
        return [FoundRecord(*each) for each in zip(records, distances, linked, strict=True)]


def _check(search: ThreadSearch, mode: Mode) -> None:
    if not 0 <= search.num_hops <= MAX_HOPS:
        raise _refused(f"num_hops is {search.num_hops}; give a number from 0 to {MAX_HOPS}")
    if search.max_linked_results < 1:
        raise _refused(f"max_linked_results is {search.max_linked_results}; give at least 1")
    if search.k < 1:
        raise _refused(f"k is {search.k}; give at least 1")
    if bool(search.query.strip()) == (search.query_vector is not None):
        raise _refused("give either a query or a query_vector")
    if search.query_vector is not None and mode is Mode.TEXT:
        raise _refused("a keyword search takes no query_vector; give a query")


def _refused(message: str) -> MemoryBadRequestError:
    return MemoryBadRequestError(message, code="INVALID_REQUEST")


def _profile_scope(search: ThreadSearch) -> Scope | None:
    """Return where the wanted profiles are: a user's is private to the user, an agent's is for the project."""
    asked = search.record_types
    users = asked is None or "user_profile" in asked
    agents = asked is None or "agent_profile" in asked
    if users and agents:
        return search.scope
    if not (users or agents):
        return None
    return replace(search.scope, visibility=PRIVATE if users else ORG)


def _record(hit: Hit, memories: dict[str, StoredMemory]) -> StoredRecord:
    match hit.record:
        case MemoryRecord():
            return memories[hit.record.id]
        case Turn():
            return message_of(hit.record)
        case Profile():
            return profile_of(hit.record)
        case Image():
            return image_of(hit.record)


def _distances(result: SearchResult, hits: Sequence[Hit], *, alone: bool) -> list[float]:
    """Return distances from 0 to 1, rising as the hits fall."""
    scores = [max(hit.score, 0.0) for hit in hits]
    if alone and result.strategy == TEXT_ONLY:
        # The scores of one source that was searched by words have no upper end.
        return [1.0 / (1.0 + score) for score in scores]
    most = max([1.0, *scores])
    return [1.0 - score / most for score in scores]
