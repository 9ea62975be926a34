"""A thread's own memories, the links between them, and its search: the client's, with the thread's ids."""

from __future__ import annotations

from typing import Any

from memoranda.threads.client_parts import ClientOperations
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.records import Metadata
from memoranda.threads.results import SearchResult
from memoranda.threads.scope import Scope, SearchScope, ThreadOwners, merged_scope, thread_search_scope
from memoranda.threads.searching import SearchArguments, searched
from memoranda.threads.thread_state import ThreadState

_Id = str | NotSet | None


class ThreadMemories(ThreadState):
    """What a thread does with memories; every argument that is not named here is that of the client."""

    def add_memory(
        self,
        /,
        content: str,
        *,
        user_id: _Id = NOT_SET,
        agent_id: _Id = NOT_SET,
        thread_id: _Id = NOT_SET,
        **arguments: Any,
    ) -> str:
        """Add a memory, of this thread unless owners are given, and return its id.

        Another user's id is a ``ValueError`` unless the client allows it; a memory of another thread to link it to is a
        ``KeyError``.
        """
        self._check_open()
        self._check_user(user_id)
        target = arguments.get("memory_id_to_link", NOT_SET)
        if target is not NOT_SET and not self._is_own(str(target)):
            raise KeyError(f"thread {self.thread_id!r} has no memory {target!r} to link to")
        own = {"user_id": self.user_id, "agent_id": self.agent_id, "thread_id": self.thread_id}
        given = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        owners = {name: first_set(value, default=own[name]) for name, value in given.items()}
        return self._operations.add_memory(content, **owners, **arguments)

    def update_memory(self, /, memory_id: str, **arguments: Any) -> str:
        """Change a memory of this thread and return its id; raises ``KeyError`` for any other."""
        self._check_open()
        if not self._is_own(memory_id):
            raise KeyError(f"thread {self.thread_id!r} has no memory {memory_id!r}")
        return self._operations.update_memory(memory_id, **arguments)

    def delete_memory(self, memory_id: str) -> int:
        """Delete a memory of this thread; return 1, or 0 where it has none of this id."""
        self._check_open()
        return self._operations.delete_memory(memory_id) if self._is_own(memory_id) else 0

    def link_records(
        self,
        /,
        source_record_id: str,
        source_record_type: str,
        target_record_id: str,
        target_record_type: str,
        relation_type: str,
        **arguments: Any,
    ) -> str:
        """Link two memories of this thread and return the id of the link; raises ``KeyError`` for any other."""
        self._check_open()
        for memory_id in (source_record_id, target_record_id):
            if not self._is_own(memory_id):
                raise KeyError(f"thread {self.thread_id!r} has no memory {memory_id!r}")
        return self._operations.link_records(
            source_record_id=source_record_id,
            source_record_type=source_record_type,
            target_record_id=target_record_id,
            target_record_type=target_record_type,
            relation_type=relation_type,
            **arguments,
        )

    def update_record_link(self, /, relation_id: str, **arguments: Any) -> int:
        """Change a link between memories of this thread; return 1, or 0 where it has none of this id."""
        self._check_open()
        return self._operations.update_record_link(relation_id, **arguments) if self._links(relation_id) else 0

    def delete_record_link(self, /, **arguments: Any) -> int:
        """Delete a link between memories of this thread; return 1, or 0 where it has none such."""
        self._check_open()
        relation_id = arguments.get("relation_id", NOT_SET)
        ends = [arguments.get(f"{end}_record_id", NOT_SET) for end in ("source", "target")]
        mine = (
            all(self._is_own(str(end)) for end in ends if end is not NOT_SET)
            if relation_id is NOT_SET
            else self._links(str(relation_id))
        )
        return self._operations.delete_record_link(**arguments) if mine else 0

    def search(
        self,
        query: str,
        *,
        user_id: _Id = NOT_SET,
        agent_id: _Id = NOT_SET,
        thread_id: _Id = NOT_SET,
        exact_user_match: bool | NotSet = NOT_SET,
        exact_agent_match: bool | NotSet = NOT_SET,
        exact_thread_match: bool | NotSet = NOT_SET,
        max_results: int | NotSet | None = NOT_SET,
        token_budget: int | NotSet | None = NOT_SET,
        soft_token_budget: int | NotSet | None = NOT_SET,
        record_types: list[str] | NotSet | None = NOT_SET,
        metadata_filter: Metadata | NotSet | None = NOT_SET,
        num_hops: int | NotSet = NOT_SET,
        max_linked_results: int | NotSet = NOT_SET,
        include_invalid_results: bool | NotSet = NOT_SET,
        scope: Scope | NotSet = NOT_SET,
        this_thread: bool = False,
    ) -> list[SearchResult]:
        """Return what bears on a question, best first: of the thread's user and agent, from any of their threads.

        ``this_thread=True`` restricts it to this thread. Another user's records are a ``ValueError`` unless the client
        allows it. Everything else is as in the client's search.
        """
        self._check_open()
        single = SearchScope(user_id, agent_id, thread_id, exact_user_match, exact_agent_match, exact_thread_match)
        resolved = thread_search_scope(
            merged_scope(scope, single),
            self._owners,
            this_thread=this_thread,
            allow_cross_user=self._parts.allow_cross_user,
        )
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
        return searched(self._backend, resolved, asked, self._options.search_config)

    # --- parts

    @property
    def _owners(self) -> ThreadOwners:
        return ThreadOwners(self.thread_id, self.user_id, self.agent_id)

    @property
    def _operations(self) -> ClientOperations:
        if self._parts.operations is None:
            raise RuntimeError("this thread was made without a client; get it from AgentMemory")
        return self._parts.operations

    def _check_user(self, user_id: _Id) -> None:
        if user_id not in (NOT_SET, self.user_id) and not self._parts.allow_cross_user:
            raise ValueError(
                f"a thread of user {self.user_id!r} writes that user's memories only; add it on the client, or open "
                "the client with allow_cross_user=True"
            )

    def _is_own(self, memory_id: str) -> bool:
        stored = self._backend.get_memory(memory_id)
        return stored is not None and stored.thread_id == self.thread_id

    def _links(self, relation_id: str) -> bool:
        link = self._backend.get_link(relation_id)
        return link is not None and self._is_own(link.source_id) and self._is_own(link.target_id)
