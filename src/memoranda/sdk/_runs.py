"""What a run of an agent is, apart from waiting: who it is for, what it records, how its turns are keyed and marked.

A run is one call of an agent by its host. What `AgentHost` and `AsyncAgentHost` have in common stands here.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from typing import Any, Final, ParamSpec, TypedDict, TypeVar
from uuid import uuid4

from memoranda.sdk.identity import is_blank, resolve_identity
from memoranda.sdk.protocol import MemoryRequestContext

P = ParamSpec("P")
T = TypeVar("T")

# The mark on a reply that was cut off, in its turn's metadata; the value is one of the two below.
INCOMPLETE: Final = "incomplete"
FAILED: Final = "failed"
ABANDONED: Final = "abandoned"

_NOBODY: Final = MemoryRequestContext()


class RunOptions(TypedDict, total=False):
    """What a run may be given; each may be left out.

    `user_id`, `session_id`, `agent_id`: who it is for. A run within another inherits what it does not name, but a run
    for another user never the session. `run_id`: a retry with the same one records no turn twice (default: a new one).
    `record_turns`: whether its input and reply become turns (default: as the host says; not within a run of the same
    session, whose input is what an agent said and not the user). `metadata`: goes on each turn that it records.
    """

    user_id: str | None
    session_id: str | None
    agent_id: str | None
    run_id: str | None
    record_turns: bool | None
    metadata: dict[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """`RunOptions` as they were given: an unknown one is a TypeError."""

    user_id: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    record_turns: bool | None = None
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One turn to record: its text, the key that makes it the same turn in a retry, its metadata."""

    content: str
    key: str
    metadata: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Who a run is for and what it records; `replies` hands out the places of its replies."""

    identity: MemoryRequestContext
    run_id: str
    records: bool
    metadata: dict[str, Any] | None
    replies: Places = field(default_factory=lambda: Places())

    def input_part(self, text: str) -> Part:
        """The turn of what the agent was asked."""
        return Part(text, f"run:{self.run_id}:input", self.metadata)

    def reply_part(self, text: str, place: int, metadata: dict[str, Any] | None = None) -> Part:
        """The turn of what the agent said, for the `place`-th time (from 0)."""
        return Part(text, f"run:{self.run_id}:reply:{place}", {**(self.metadata or {}), **(metadata or {})} or None)

    def cut_off_part(self, text: str, reason: str) -> Part:
        """The turn of what had been said when a reply was cut off; a retry may still record the whole reply."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return Part(text, f"run:{self.run_id}:part:{digest}", {**(self.metadata or {}), INCOMPLETE: reason})


class Places:
    """Numbers from 0 on, each taken once, from any thread; one that was given back is the next."""

    __slots__ = ("_free", "_numbers")

    def __init__(self) -> None:
        self._numbers = count()
        self._free: deque[int] = deque()

    def take(self) -> int:
        """Take the next number."""
        try:
            return self._free.popleft()
        except IndexError:
            return next(self._numbers)

    def give_back(self, place: int) -> None:
        """Have the number taken again: what it was for did not happen."""
        self._free.append(place)


def plan_run(
    options: RunOptions, *, outer: RunPlan | None, host: MemoryRequestContext | None, records: bool
) -> RunPlan:
    """Resolve who a run is for: its own options, else the run around it, else what the host's handle is bound to.

    Raises MemoryIdentityError without a user, or, when it records turns, without a session.
    """
    asked = _Options(**options)
    own = MemoryRequestContext(user_id=asked.user_id, agent_id=asked.agent_id, session_id=asked.session_id)
    bound, ambient = _inherited(own, outer.identity if outer else None), _inherited(own, host)
    wanted = resolve_identity(own, bound=bound, ambient=ambient)
    if asked.record_turns is not None:
        records = asked.record_turns
    elif outer is not None and (outer.identity.user_id, outer.identity.session_id) == (
        wanted.user_id,
        wanted.session_id,
    ):
        records = False
    required = ("user_id", "session_id") if records else ("user_id",)
    run_id = uuid4().hex if asked.run_id is None or is_blank(asked.run_id) else asked.run_id
    identity = resolve_identity(own, bound=bound, ambient=ambient, required=required)
    return RunPlan(identity, run_id, records, asked.metadata)


def _inherited(own: MemoryRequestContext, outer: MemoryRequestContext | None) -> MemoryRequestContext:
    if outer is None:
        return _NOBODY
    # A session belongs to one user: with another one it would be a mix of two people.
    if not is_blank(own.user_id) and own.user_id != outer.user_id:
        return outer.model_copy(update={"user_id": None, "session_id": None})
    return outer


class Present:
    """The present run of one host: a context variable, so that each task and thread sees its own."""

    __slots__ = ("_variable",)

    def __init__(self) -> None:
        self._variable: ContextVar[RunPlan | None] = ContextVar("memoranda_run", default=None)

    def get(self) -> RunPlan | None:
        """Return the present run, or None outside of any."""
        return self._variable.get()

    @contextmanager
    def under(self, plan: RunPlan) -> Iterator[None]:
        """Make a run the present one for the block."""
        token = self._variable.set(plan)
        try:
            yield
        finally:
            self._variable.reset(token)


def carry(function: Callable[P, T]) -> Callable[P, T]:
    """Return `function` so that it runs, in whatever thread, under the context variables of this moment."""
    context = copy_context()

    @wraps(function)
    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        # A copy a call: a context can be entered only once at a time.
        return context.copy().run(function, *args, **kwargs)

    return carried


def text_of_reply(reply: object) -> str | None:
    """Return a reply that is a text, or None; anything else is a TypeError that names the remedy."""
    if reply is None or isinstance(reply, str):
        return reply
    raise TypeError(f"the agent replied with a {type(reply).__name__}; give the host text_of= to read its text")


_REMEDIES: Final = {
    "function": "AgentHost.call",
    "coroutine function": "AsyncAgentHost.call",
    "generator function": "AgentHost.stream",
    "asynchronous generator function": "AsyncAgentHost.stream",
}


def require_kind(agent: Callable[..., object], *kinds: str) -> None:
    """Raise TypeError, naming what runs it, unless the agent is a function of one of these kinds."""
    kind = _kind(agent)
    if kind not in kinds:
        name = getattr(agent, "__qualname__", repr(agent))
        raise TypeError(f"the agent {name} is a {kind}; run it with {_REMEDIES[kind]}")


def _kind(agent: Callable[..., object]) -> str:
    for function in (agent, getattr(agent, "__call__", agent)):  # noqa: B004 - an object's method may be asynchronous
        if inspect.iscoroutinefunction(function):
            return "coroutine function"
        if inspect.isasyncgenfunction(function):
            return "asynchronous generator function"
        if inspect.isgeneratorfunction(function):
            return "generator function"
    return "function"
