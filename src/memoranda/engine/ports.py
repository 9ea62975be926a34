"""What the engine needs from outside: a store, an embedder, a chat model, a reranker and a clock.

The store port is a transaction bound to one project, with one small group of rows per noun (``engine/rows.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias, runtime_checkable

from memoranda.engine.feed.rows import ChangeRows
from memoranda.engine.image_rows import ImageRows
from memoranda.engine.jobs.breaker import BreakerRows
from memoranda.engine.portability.rows import PortableRows
from memoranda.engine.rebuilding.rows import RebuildRows
from memoranda.engine.records import Backlog
from memoranda.engine.rows import (
    DocumentRow,
    FailureRows,
    IndexRows,
    JobRows,
    LegQuery,
    LinkRows,
    MemoryQuery,
    MemoryRows,
    Narrowing,
    NaturalKey,
    ProfileRows,
    ProjectRows,
    ScoredKey,
    SearchRows,
    SourceRows,
    TextMatches,
    TurnRows,
)
from memoranda.engine.session_rows import SessionAdvance, SessionRows, SnapshotRows
from memoranda.engine.usage import UsageRows

__all__ = [
    "ChangeRows",
    "ChatModel",
    "ChatReply",
    "Clock",
    "DocumentRow",
    "Embedder",
    "FailureRows",
    "ImageRows",
    "IndexRows",
    "JobRows",
    "LegQuery",
    "LinkRows",
    "MemoryQuery",
    "MemoryRows",
    "Narrowing",
    "NaturalKey",
    "PortableRows",
    "ProfileRows",
    "ProjectRows",
    "QueryEmbedder",
    "RebuildRows",
    "Reranker",
    "ScoredKey",
    "SearchRows",
    "SessionAdvance",
    "SessionRows",
    "SharedStore",
    "SnapshotRows",
    "SourceRows",
    "Store",
    "StoreDescription",
    "TextMatches",
    "TokenCounter",
    "Transaction",
    "TurnRows",
    "UsageRows",
]


TokenCounter: TypeAlias = Callable[[str], int]
"""Returns how many tokens a text costs, at least roughly; 0 for an empty one."""


@runtime_checkable
class Clock(Protocol):
    """The only source of the current time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. ``fingerprint`` identifies the weights, so that two models never share a project."""

    model_id: str
    fingerprint: str

    @property
    def max_input_tokens(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector of ``dimension`` numbers for each text, in order. Thread-safe."""
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder that tells the text of a search from that of a record."""

    def embed_query(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector of the embedder's ``dimension`` for each text, in order. Thread-safe."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Orders documents by their relevance to a query."""

    model_id: str

    def rerank(self, query: str, documents: Sequence[str]) -> Sequence[float]:
        """Return one score for each document, in order; larger is better."""
        ...


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's answer and what it cost, in tokens where the provider tells."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


@runtime_checkable
class ChatModel(Protocol):
    """A language model that answers one request."""

    model_id: str

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        """Answer; with ``schema`` the text is JSON of that schema where the provider can promise it."""
        ...


class Transaction(Protocol):
    """One consistent view (read) or one atomic change (write) of one project."""

    @property
    def projects(self) -> ProjectRows: ...
    @property
    def turns(self) -> TurnRows: ...
    @property
    def sessions(self) -> SessionRows: ...
    @property
    def snapshots(self) -> SnapshotRows: ...
    @property
    def memories(self) -> MemoryRows: ...
    @property
    def sources(self) -> SourceRows: ...
    @property
    def links(self) -> LinkRows: ...
    @property
    def profiles(self) -> ProfileRows: ...
    @property
    def images(self) -> ImageRows: ...
    @property
    def index(self) -> IndexRows: ...
    @property
    def search(self) -> SearchRows: ...
    @property
    def jobs(self) -> JobRows: ...
    @property
    def failures(self) -> FailureRows: ...
    @property
    def breakers(self) -> BreakerRows: ...
    @property
    def usage(self) -> UsageRows: ...
    @property
    def rebuild(self) -> RebuildRows: ...
    @property
    def portable(self) -> PortableRows: ...
    @property
    def changes(self) -> ChangeRows: ...


@dataclass(frozen=True, slots=True)
class StoreDescription:
    """What a store is, for ``status``: ``location`` is shown to people, without secrets."""

    dialect: str
    location: str
    schema_version: str


class Store(Protocol):
    """A database that holds projects. Thread-safe; survives a fork."""

    def read(self, project_id: str) -> AbstractContextManager[Transaction]:
        """Open a consistent read-only view."""
        ...

    def write(self, project_id: str, *, durable: bool = True) -> AbstractContextManager[Transaction]:
        """Open an atomic, durable change; an exception undoes all of it.

        One that is not ``durable`` may be lost, as a whole, with the machine's power, though not with the process. It
        spares a wait for the disk: for what is done again when it is lost.
        """
        ...

    def after_commit(self, wake: Callable[[str], None], *, project_id: str | None = None) -> Callable[[], None]:
        """Call ``wake`` with the project after each commit of a job or of a feed entry (from the committing thread).

        Of one project, or (None) of all. Calling what is returned ends it; again is harmless.
        """
        ...

    def describe(self) -> StoreDescription: ...

    def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...


class SharedStore(Store, Protocol):
    """A store as those see it who serve all its projects."""

    def projects(self) -> Sequence[str]:
        """Return the ids of all projects, in order."""
        ...

    def backlog(self, now: datetime) -> Backlog:
        """Return how much background work waits, whatever the project."""
        ...

    def due_projects(self, now: datetime) -> Sequence[str]:
        """Return the projects with a job that is due, or whose worker has let its lease run out."""
        ...
