"""One search, from the arguments of a call to results: the same for a client and for a thread."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.threads.backend import ThreadBackend
from memoranda.threads.filters import parse_metadata_filter
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.options import is_integer
from memoranda.threads.pipeline import max_results_of, refinement_of
from memoranda.threads.record_forms import search_result
from memoranda.threads.records import Metadata
from memoranda.threads.results import SearchResult
from memoranda.threads.scope import ResolvedScope
from memoranda.threads.search_config import MemorySearchConfig
from memoranda.threads.stored import JsonObject, ThreadSearch


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """What a call of ``search`` says beside its scope."""

    query: str
    max_results: int | NotSet | None = NOT_SET
    token_budget: int | NotSet | None = NOT_SET
    soft_token_budget: int | NotSet | None = NOT_SET
    record_types: list[str] | NotSet | None = NOT_SET
    metadata_filter: Metadata | NotSet | None = NOT_SET
    num_hops: int | NotSet = NOT_SET
    max_linked_results: int | NotSet = NOT_SET
    include_invalid_results: bool | NotSet = NOT_SET


def searched(
    backend: ThreadBackend, scope: ResolvedScope, asked: SearchArguments, config: MemorySearchConfig
) -> list[SearchResult]:
    """Return what was found, reranked, pruned and cut as the configuration and the call say.

    Raises ``ValueError`` for an argument that cannot be.
    """
    question = question_of(asked.query)
    budgets = {"token_budget": asked.token_budget, "soft_token_budget": asked.soft_token_budget}
    refinement = refinement_of(config, **budgets)
    types = asked.record_types
    search = ThreadSearch(
        query=question,
        k=max_results_of(config, asked.max_results),
        scope=scope.to_engine(),
        record_types=None if types is NOT_SET or types is None else tuple(types),
        filter=filter_of(asked.metadata_filter),
        include_invalid=first_set(asked.include_invalid_results, default=True),
        num_hops=_number("num_hops", asked.num_hops, 0),
        max_linked_results=_number("max_linked_results", asked.max_linked_results, 100),
    )
    return refinement.apply(question, [search_result(each) for each in backend.search(search)])


def question_of(query: object) -> str:
    """Return a query without the space around it; ``ValueError`` for one that is blank or no text."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError(f"query is {query!r:.80}; give a text that is not blank")
    return query.strip()


def filter_of(given: Metadata | NotSet | None) -> JsonObject | None:
    """Return the filter of a search, checked; omitted and None are no filter."""
    if given is NOT_SET or given is None:
        return None
    parse_metadata_filter(given)
    return given


def _number(name: str, value: int | NotSet, default: int) -> int:
    if value is NOT_SET:
        return default
    if not is_integer(value):
        raise ValueError(f"{name} is {value!r}; give an integer")
    return value
