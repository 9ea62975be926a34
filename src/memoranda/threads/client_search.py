"""A client's search."""

from __future__ import annotations

from memoranda.threads.client_state import ClientState, OptionalId
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.records import Metadata
from memoranda.threads.results import SearchResult
from memoranda.threads.scope import Scope, SearchScope, client_search_scope, merged_scope
from memoranda.threads.search_config import TopKMemorySearchConfig
from memoranda.threads.searching import SearchArguments, searched

_Match = bool | NotSet


class ClientSearch(ClientState):
    """How a client finds records."""

    def search(
        self,
        query: str,
        *,
        user_id: OptionalId = NOT_SET,
        agent_id: OptionalId = NOT_SET,
        thread_id: OptionalId = NOT_SET,
        exact_user_match: _Match = NOT_SET,
        exact_agent_match: _Match = NOT_SET,
        exact_thread_match: _Match = NOT_SET,
        max_results: int | NotSet | None = NOT_SET,
        token_budget: int | NotSet | None = NOT_SET,
        soft_token_budget: int | NotSet | None = NOT_SET,
        record_types: list[str] | NotSet | None = NOT_SET,
        metadata_filter: Metadata | NotSet | None = NOT_SET,
        num_hops: int | NotSet = NOT_SET,
        max_linked_results: int | NotSet = NOT_SET,
        include_invalid_results: bool | NotSet = NOT_SET,
        scope: Scope | NotSet = NOT_SET,
    ) -> list[SearchResult]:
        """Return what bears on a question, best first: messages, memories, images and profiles of one user.

        ``user_id`` is an id, or None for records without a user, and has to be given. ``agent_id`` restricts where it
        is given, ``thread_id`` only with ``exact_thread_match=True``. ``max_results`` is 10 unless given;
        ``record_types`` names what to look for; ``num_hops`` (0 to 5) also follows the links of memories found.
        Memories that are not valid are left out with ``include_invalid_results=False``. Budgets are in tokens. Raises
        ``ValueError`` for a scope or another argument that cannot be.
        """
        parts = self._client_parts()
        single = SearchScope(user_id, agent_id, thread_id, exact_user_match, exact_agent_match, exact_thread_match)
        resolved = client_search_scope(merged_scope(scope, single))
        asked = SearchArguments(
            query,
            max_results,
            token_budget,
            soft_token_budget,
            record_types,
            metadata_filter,
            num_hops,
            max_linked_results,
            include_invalid_results,
        )
        return searched(parts.backend, resolved, asked, parts.search_config or TopKMemorySearchConfig())
