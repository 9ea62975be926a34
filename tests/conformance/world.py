"""What a check may use: a package, one way to a server, names of its own, and a few ways to compare.

Standard library alone: checks run in the environment of the package that they drive, which has nothing of ours.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

TYPE = "tickets"
"""The custom type that the server of the checks declares; its tags are those of ``TAGS``."""
TAGS = {"queue": "billing", "profile": {"loc": "Lisbon"}, "a.b": 1, "ok": True, "f": 1.5}
FLAT_TAGS = {"queue": "billing", "profile.loc": "Lisbon", "a.b": 1, "ok": True, "f": 1.5}


@dataclass(frozen=True, slots=True)
class Way:
    """How a check reaches the server: the arguments of ``Memory`` and where its edges are.

    ``plain_*`` lead to a project that declares no custom types (on this server unless there is a URL);
    ``other_project_id`` is another one of this server, which the token is not for.
    ``None`` is an argument that is not given.
    """

    name: str
    base_url: str
    token: str | None = None
    project_id: str | None = None
    plain_base_url: str | None = None
    plain_token: str | None = None
    plain_project_id: str | None = None
    other_project_id: str | None = None

    def called(self, name: str) -> Way:
        """Return the same way under another name."""
        return replace(self, name=name)

    @property
    def guarded(self) -> bool:
        """Whether the server asks who calls."""
        return self.token is not None


@dataclass(frozen=True, slots=True)
class World:
    """What one check works with. ``package`` names the SDK, ``name`` the check, for ids that nobody else has."""

    package: str
    way: Way
    name: str

    @property
    def sdk(self) -> Any:
        return importlib.import_module(self.package)

    @property
    def errors(self) -> Any:
        return importlib.import_module(f"{self.package}.errors")

    def id(self, what: str) -> str:
        """Return an id that no other check uses."""
        return f"{what}-{self.way.name}-{self.name}"

    def connect(self, **changes: Any) -> Any:
        """Return a handle without identity; ``changes`` replace arguments of ``Memory``."""
        given = {
            "base_url": self.way.base_url,
            "service_account_token": self.way.token,
            "project_id": self.way.project_id,
        } | changes
        return self.sdk.Memory(**{name: value for name, value in given.items() if value is not None})

    def plain(self) -> Any:
        """Return a handle on the project without custom types."""
        way = self.way
        url = way.plain_base_url or way.base_url
        return self.connect(base_url=url, service_account_token=way.plain_token, project_id=way.plain_project_id)

    def elsewhere(self) -> Any:
        """Return a handle on another project of this server."""
        return self.plain() if self.way.guarded else self.connect(project_id=self.way.other_project_id)

    def bound(self, user: str | None = "ada", session: str | None = "monday", agent: str | None = None) -> Any:
        """Return a handle for a user, session and agent of this check."""
        return self.bind(self.connect(), user, session, agent)

    def bind(self, memory: Any, user: str | None, session: str | None = None, agent: str | None = None) -> Any:
        """Return the handle bound to ids of this check."""
        names = {"user_id": user, "session_id": session, "agent_id": agent}
        return memory.bind(
            self.sdk.MemoryRequestContext(**{field: self.id(name) for field, name in names.items() if name})
        )

    def spec(self, source: str, mode: str = "hybrid", **fields: Any) -> Any:
        """Return a ``SourceSpec``."""
        return self.sdk.SourceSpec(source=self.sdk.MemorySource(source), mode=self.sdk.RetrievalMode(mode), **fields)

    def turns(self, memory: Any, query: str, **fields: Any) -> list[Any]:
        """Return the chunks of turns that a context gives for a query."""
        context = memory.build_context_from_sources(query, [self.spec("stm", **fields)], include_memories=True)
        return list(context.selected_memories or [])


Check: TypeAlias = Callable[[World], None]
CHECKS: dict[str, Check] = {}
"""Every check by ``method-variant``."""


def check(method: str, variant: str) -> Callable[[Check], Check]:
    """Register a check of one public method in one variant."""

    def register(function: Check) -> Check:
        name = f"{method}-{variant}"
        if name in CHECKS:
            raise ValueError(f"two checks are called {name}")
        CHECKS[name] = function
        return function

    return register


def equal(actual: object, expected: object, what: str = "") -> None:
    """Fail unless both are equal, and show both."""
    if actual != expected:
        raise AssertionError(f"{what or 'value'}: got {actual!r}, expected {expected!r}")


def holds(condition: object, message: str) -> None:
    """Fail with the message unless the condition is true."""
    if not condition:
        raise AssertionError(message)


def has(mapping: Any, **expected: object) -> None:
    """Fail unless a mapping has these values."""
    for name, value in expected.items():
        equal(mapping.get(name), value, name)


def fails(error: type[BaseException], call: Callable[[], object], *parts: str, status: int | None = None) -> Any:
    """Return what the call raises; fail unless it is of that class, with these parts and this status.

    The class is exactly that one, or one of ours below it.
    """
    try:
        result = call()
    except error as raised:
        holds(type(raised) is error or type(raised).__module__.startswith("memoranda."), f"error class: {raised!r}")
        for part in parts:
            holds(part.lower() in str(raised).lower(), f"{part!r} is not in {raised!s}")
        if status is not None:
            equal(getattr(raised, "status", None), status, "status")
        return raised
    raise AssertionError(f"nothing was raised, {error.__name__} was expected; the call returned {result!r}")


def ids(results: Any) -> list[str]:
    """Return the ids of chunks, entries or results."""
    return [item["id"] if isinstance(item, dict) else item.id for item in results]
