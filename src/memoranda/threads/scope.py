"""Whose records a search sees: omitted is the default, ``None`` asks for records without that owner."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from memoranda.engine.scope import Scope as EngineScope
from memoranda.threads.not_set import NOT_SET, NotSet, first_set

_DIMENSIONS: Final = ("user", "agent", "thread")


@dataclass(frozen=True, slots=True)
class Scope:
    """The owners of records: an id, ``None`` for records without one, or omitted."""

    user_id: str | NotSet | None = NOT_SET
    agent_id: str | NotSet | None = NOT_SET
    thread_id: str | NotSet | None = NOT_SET


@dataclass(frozen=True, slots=True)
class SearchScope(Scope):
    """A scope for searching. An exact dimension must be equal; one that is not is ignored, even with an id."""

    exact_user_match: bool | NotSet = NOT_SET
    exact_agent_match: bool | NotSet = NOT_SET
    exact_thread_match: bool | NotSet = NOT_SET


@dataclass(frozen=True, slots=True)
class ResolvedScope:
    """What a search reads: ``NOT_SET`` any owner, ``None`` records without one, else that owner's."""

    user_id: str | NotSet | None = NOT_SET
    agent_id: str | NotSet | None = NOT_SET
    thread_id: str | NotSet | None = NOT_SET

    def to_engine(self) -> EngineScope:
        """Return the same scope in the engine's words; its session is the thread."""
        return EngineScope(_engine(self.user_id), _engine(self.agent_id), _engine(self.thread_id))


@dataclass(frozen=True, slots=True)
class ThreadOwners:
    """The ids of a thread: its own, its user's and its agent's."""

    thread_id: str
    user_id: str | None
    agent_id: str | None


def merged_scope(scope: Scope | NotSet, single: SearchScope) -> SearchScope:
    """Return the scope that a call asks for: the ``scope`` argument, or its single arguments.

    Raises ``ValueError`` when both are given and for a ``scope`` of another type.
    """
    if scope is NOT_SET:
        return single
    given = [each.name for each in fields(single) if getattr(single, each.name) is not NOT_SET]
    if given:
        raise ValueError(f"scope and {', '.join(given)} are both given; say it in one of them")
    if isinstance(scope, SearchScope):
        return scope
    if not isinstance(scope, Scope):
        raise ValueError(f"scope is of type {type(scope).__name__}; give a SearchScope")
    return SearchScope(scope.user_id, scope.agent_id, scope.thread_id)


def client_search_scope(asked: SearchScope) -> ResolvedScope:
    """Return what a client's search reads.

    The user is explicit and exact; the agent is exact when it is given; the thread only with ``exact_thread_match``.
    Raises ``ValueError`` without a user or with ``exact_user_match=False``.
    """
    if asked.user_id is NOT_SET:
        raise ValueError("a client's search needs user_id: an id, or None for records without a user")
    if asked.exact_user_match is not NOT_SET and not asked.exact_user_match:
        raise ValueError("exact_user_match=False would read all users; give the user_id to read")
    exact_agent = first_set(asked.exact_agent_match, default=asked.agent_id is not NOT_SET)
    exact_thread = first_set(asked.exact_thread_match, default=False)
    return ResolvedScope(
        user_id=_dimension("user", asked.user_id, exact=True),
        agent_id=_dimension("agent", asked.agent_id, exact=exact_agent),
        thread_id=_dimension("thread", asked.thread_id, exact=exact_thread),
    )


def thread_search_scope(
    asked: SearchScope, owners: ThreadOwners, *, this_thread: bool = False, allow_cross_user: bool = False
) -> ResolvedScope:
    """Return what a thread's search reads: what is omitted is the thread's own, exact for user and agent.

    ``this_thread`` restricts to the thread, and is a ``ValueError`` with a thread argument that says otherwise. So is
    another user's id, or ``exact_user_match=False``, unless ``allow_cross_user``.
    """
    wanted = _of_this_thread(asked, owners) if this_thread else asked
    found = ResolvedScope(
        user_id=_dimension(
            "user",
            first_set(wanted.user_id, default=owners.user_id),
            exact=first_set(wanted.exact_user_match, default=True),
        ),
        agent_id=_dimension(
            "agent",
            first_set(wanted.agent_id, default=owners.agent_id),
            exact=first_set(wanted.exact_agent_match, default=True),
        ),
        thread_id=_dimension(
            "thread",
            first_set(wanted.thread_id, default=owners.thread_id),
            exact=first_set(wanted.exact_thread_match, default=False),
        ),
    )
    if not allow_cross_user and found.user_id is not None and found.user_id != owners.user_id:
        raise ValueError(
            f"a thread of user {owners.user_id!r} reads that user's records only; search on the client, "
            "or open the client with allow_cross_user=True"
        )
    return found


def check_id(name: str, value: object) -> str:
    """Return an id. Raises ``ValueError`` when it is no string or is empty."""
    if isinstance(value, str) and value:
        return value
    raise ValueError(f"{name} is {value!r}; give a string that is not empty")


def _of_this_thread(asked: SearchScope, owners: ThreadOwners) -> SearchScope:
    other = asked.thread_id is not NOT_SET and asked.thread_id != owners.thread_id
    if other or (asked.exact_thread_match is not NOT_SET and not asked.exact_thread_match):
        raise ValueError("this_thread=True asks for this thread only; leave thread_id and exact_thread_match out")
    return SearchScope(
        asked.user_id,
        asked.agent_id,
        owners.thread_id,
        exact_user_match=asked.exact_user_match,
        exact_agent_match=asked.exact_agent_match,
        exact_thread_match=True,
    )


def _dimension(name: str, value: str | NotSet | None, *, exact: bool) -> str | NotSet | None:
    if not exact:
        return NOT_SET
    if value is NOT_SET:
        raise ValueError(f"exact_{name}_match needs {name}_id: an id, or None for records without one")
    # The engine reads "" as "without one", which only None says here.
    return None if value is None else check_id(f"{name}_id", value)


def _engine(value: str | NotSet | None) -> str | None:
    if value is NOT_SET:
        return None
    return "" if value is None else value
