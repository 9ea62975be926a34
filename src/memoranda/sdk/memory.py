"""`Memory`: one facade over an engine in this process or a service behind HTTP."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from memoranda.sdk._connecting import connect
from memoranda.sdk._connection import Connection
from memoranda.sdk._context import Contexts
from memoranda.sdk._custom import CustomTypes
from memoranda.sdk._environment import read_environment
from memoranda.sdk._management import Memories, Operations
from memoranda.sdk._opening import open_engine
from memoranda.sdk._records import Records
from memoranda.sdk._search import Searches
from memoranda.sdk._settings import resolve_settings
from memoranda.sdk._turns import Turns
from memoranda.sdk.protocol import DEFAULT_EMBEDDER, MemoryCrudClient, MemoryRequestContext, MemoryRuntime


class Memory(Turns, Contexts, Searches, Records, CustomTypes, Memories, Operations):
    """The memory of an agent: record turns, save and search memories, build contexts.

    Make one with `Memory.open("memory.db")` for a local file, with connection settings for a service, or with a
    `runtime` of your own. A handle may be used from many threads.
    """

    def __init__(
        self,
        *,
        service_account_token: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        project_id: str | None = None,
        runtime: MemoryRuntime | None = None,
        client: MemoryCrudClient | None = None,
    ) -> None:
        """Connect to a service, or wrap a `runtime` (then everything else but `client` is ignored).

        A setting that is not given is read from `AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN`, `AGENTIC_MEMORY_API_KEY`,
        `AGENTIC_MEMORY_BASE_URL` or `AGENTIC_MEMORY_PROJECT_ID`; a blank variable is not set. Nothing is sent here.
        Raises ValueError for a blank token or URL, both kinds of token, or no URL and no token.
        """
        self._context = None
        if runtime is not None:
            self._connection = Connection(runtime, client)
            return
        settings = resolve_settings(
            service_account_token=service_account_token,
            api_key=api_key,
            base_url=base_url,
            project_id=project_id,
            environment=read_environment(),
        )
        service = connect(settings)
        self._connection = Connection(service, service, owned=service)

    @classmethod
    def open(
        cls,
        path_or_url: object = "memory.db",
        *,
        project_id: str = "default",
        config: object | None = None,
        embedder: object | None = DEFAULT_EMBEDDER,
        llm: object | None = None,
        reranker: object | None = None,
        worker: bool = True,
        clock: object | None = None,
    ) -> Self:
        """Open (or create) a memory in a database, with the engine in this process.

        `path_or_url` is a file, `:memory:`, or a URL (`sqlite:///…`, `postgresql://user@host/database`); or a
        SQLAlchemy engine, a psycopg pool or a psycopg connection of a PostgreSQL database, which stay yours to close.
        `config` is a project configuration or a path to one. `embedder` is the local one unless given; None means
        search by words only. Without an `llm` the built-in extractor distils turns. `worker=False` leaves background
        work to other processes. Closing the handle closes the engine; accepted work is durable.
        Raises ImportError naming the extra to install when the engine's packages are missing.
        """
        runtime = open_engine(
            path_or_url,
            project_id=project_id,
            config=config,
            embedder=embedder,
            llm=llm,
            reranker=reranker,
            worker=worker,
            clock=clock,
        )
        return cls._over(Connection(runtime, runtime, owned=runtime), None)

    @classmethod
    def _over(cls, connection: Connection, context: MemoryRequestContext | None) -> Self:
        handle = cls.__new__(cls)
        handle._connection = connection
        handle._context = context
        return handle

    def bind(self, ctx: MemoryRequestContext) -> Self:
        """Return a new handle with this identity, in place of any bound before; this one stays as it is.

        Both share the connection: closing either closes it for both.
        """
        return self._over(self._connection, ctx)

    def close(self) -> None:
        """Close what this object opened; an injected runtime is left alone. Again is harmless."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
