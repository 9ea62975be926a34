"""``AgentMemory``: users, agents, threads and their memories in one project of a store."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Literal, Self

from memoranda.threads.apis import IEmbedder, ILlm
from memoranda.threads.asynchrony import twin
from memoranda.threads.client_links import ClientLinks
from memoranda.threads.client_memories import ClientMemories
from memoranda.threads.client_parts import ClientParts
from memoranda.threads.client_records import ClientRecords
from memoranda.threads.client_search import ClientSearch
from memoranda.threads.connecting import OpenedStore, StoreArguments, StoreSettings, open_connection, over_store
from memoranda.threads.extraction import THREAD_EXTRACTOR, ThreadExtractor
from memoranda.threads.faults import translated
from memoranda.threads.images import ClientImages, ImageDesk
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.observability import AGENT_MEMORY
from memoranda.threads.observed import observable
from memoranda.threads.options import (
    ImageInputLimitConfig,
    MemoryExtractionConfig,
    MemoryRetentionConfig,
    SchemaPolicy,
    SearchIndexSyncMode,
    SearchStrategy,
)
from memoranda.threads.resolution import extraction_config, resolve_extraction, resolve_image_limits
from memoranda.threads.search_config import MemorySearchConfig, search_config_of
from memoranda.threads.stored import ExtractionFailure
from memoranda.threads.thread_management import ThreadManagement, thread_llm


@observable(AGENT_MEMORY)
class AgentMemory(ClientMemories, ClientLinks, ClientRecords, ClientSearch, ClientImages, ThreadManagement):
    """The memory of agents: users, agents, threads and what is remembered of them.

    A handle may be used from many threads. Every method has an asynchronous twin ``…_async``. Errors are builtin
    exceptions: ``ValueError`` and ``TypeError`` for what cannot be asked, ``KeyError`` for what is not there,
    ``TimeoutError``, and ``RuntimeError`` where the store failed.
    """

    def __init__(
        self,
        *,
        store: object = NOT_SET,
        connection: object = NOT_SET,
        token: str | NotSet = NOT_SET,
        embedder: IEmbedder | str | NotSet | None = NOT_SET,
        llm: ILlm | str | NotSet | None = NOT_SET,
        memory_extraction_config: MemoryExtractionConfig | NotSet = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSet = NOT_SET,
        schema_policy: SchemaPolicy | str | NotSet = NOT_SET,
        memory_store_id: str | NotSet = NOT_SET,
        table_name_prefix: str | NotSet = NOT_SET,
        schema_owner: str | NotSet = NOT_SET,
        search_strategy: SearchStrategy | NotSet = NOT_SET,
        search_index_sync: SearchIndexSyncMode | NotSet = NOT_SET,
        extract_memories: bool | NotSet = NOT_SET,
        memory_extraction_custom_instructions: str | NotSet | None = NOT_SET,
        memory_retention_config: MemoryRetentionConfig | NotSet = NOT_SET,
        search_config: MemorySearchConfig | NotSet | None = NOT_SET,
        pruner_llm: ILlm | NotSet | None = NOT_SET,
        allow_cross_user: bool = False,
    ) -> None:
        """Open a project of a store: by ``connection``, or with a ready ``store``.

        ``connection`` is a path, a URL (``sqlite:///…``, ``postgresql://…``), or a SQLAlchemy engine, psycopg pool or
        connection; ``store`` a store or a ``MemoryEngine``. What does not exist is created under ``schema_policy``
        ``create_if_necessary`` alone; the default is ``require_existing``. ``memory_store_id`` names the project.

        ``embedder`` is the local one unless given, and None means search by words. ``llm`` is what threads extract and
        summarise with: an ``ILlm``, a model's name, or ``"local"`` for the built-in extractor. ``allow_cross_user``
        lets a thread's handle read and write other users' records.

        Raises ``ValueError`` and ``TypeError`` for arguments that cannot be, before anything is opened, and
        ``RuntimeError`` where the policy forbids what is there.
        """
        arguments = StoreArguments(
            schema_policy=schema_policy,
            memory_store_id=memory_store_id,
            table_name_prefix=table_name_prefix,
            schema_owner=schema_owner,
            search_strategy=search_strategy,
            search_index_sync=search_index_sync,
            memory_retention_config=memory_retention_config,
        )
        _check_place(store, connection, token, arguments)
        flat = {
            "extract_memories": extract_memories,
            "memory_extraction_custom_instructions": memory_extraction_custom_instructions,
        }
        extraction = extraction_config(memory_extraction_config, flat)
        resolve_extraction(extraction)
        images = _images_config(image_input_limit_config)
        refining = search_config_of(search_config, pruner_llm)
        model = thread_llm(llm)
        chosen = None if model is NOT_SET else model
        opened = _open(store, connection, arguments, embedder, chosen)
        self._opened = opened
        self._closed = False
        self._parts = ClientParts(
            backend=translated(opened.backend),
            llm=chosen,
            extractor=_provided_extractor(opened, None if isinstance(chosen, str) else chosen),
            extraction=extraction,
            images=images,
            search_config=refining,
            pruner_llm=None if pruner_llm is NOT_SET else pruner_llm,
            operations=self,
            allow_cross_user=allow_cross_user,
            check_open=self._check_open,
        )
        # What was opened is let go of with the client: after ``close`` its memories can still be read and written.
        self._finalizer = weakref.finalize(self, _let_go, opened.end, opened.release, os.getpid())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *ending: object) -> None:
        await self.close_async()

    def __repr__(self) -> str:
        return f"AgentMemory({self._opened.backend.engine.store.describe().location!r})"

    def wait_for_memory_extraction(self, timeout: float | None = 300.0) -> None:
        """Wait until the extraction accepted so far has ended, well or not; ``timeout`` in seconds.

        Raises ``TimeoutError`` when it has not by then (None waits without end; the work goes on) and ``ValueError``
        for a timeout that is not positive.
        """
        if timeout is not None and timeout <= 0:
            raise ValueError(f"timeout is {timeout!r}; give a positive number of seconds, or None to wait without end")
        if not self._parts.backend.wait(None, timeout):
            raise TimeoutError(f"extraction goes on after {timeout} seconds")

    def extraction_failures(self) -> list[ExtractionFailure]:
        """Return the work that ended without success and is kept with its reason, oldest first."""
        return list(self._parts.backend.failures())

    def close(self, timeout: float | None = 300.0) -> None:
        """Finish accepted work, for at most ``timeout`` seconds (None: to the end), then stop; again is harmless.

        What is left then is durable, and goes on when the store is opened again. Threads are closed with their client;
        records can be read and written until it is collected.
        """
        if self._closed:
            return
        self._closed = True
        if timeout is None or timeout > 0:
            self._parts.backend.wait(None, timeout)
        self._opened.end()

    # --- parts

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("this client is closed; open another")

    def _client_parts(self) -> ClientParts:
        return self._parts

    def _thread_parts(self) -> ClientParts:
        return self._parts

    def _images(self) -> ImageDesk:
        llm = self._parts.llm
        limits = resolve_image_limits(self._parts.images)
        return ImageDesk(self._parts.backend, None if isinstance(llm, str) else llm, limits)

    add_user_async = twin(ClientRecords.add_user)
    add_agent_async = twin(ClientRecords.add_agent)
    get_user_async = twin(ClientRecords.get_user)
    get_agent_async = twin(ClientRecords.get_agent)
    get_memory_async = twin(ClientRecords.get_memory)
    list_users_async = twin(ClientRecords.list_users)
    list_agents_async = twin(ClientRecords.list_agents)
    list_threads_async = twin(ClientRecords.list_threads)
    list_messages_async = twin(ClientRecords.list_messages)
    list_memories_async = twin(ClientRecords.list_memories)
    delete_thread_async = twin(ClientRecords.delete_thread)
    delete_user_async = twin(ClientRecords.delete_user)
    delete_agent_async = twin(ClientRecords.delete_agent)
    add_memory_async = twin(ClientMemories.add_memory)
    update_memory_async = twin(ClientMemories.update_memory)
    delete_memory_async = twin(ClientMemories.delete_memory)
    link_records_async = twin(ClientLinks.link_records)
    update_record_link_async = twin(ClientLinks.update_record_link)
    delete_record_link_async = twin(ClientLinks.delete_record_link)
    get_record_link_async = twin(ClientLinks.get_record_link)
    list_record_links_async = twin(ClientLinks.list_record_links)
    search_async = twin(ClientSearch.search)
    add_image_async = twin(ClientImages.add_image)
    update_image_async = twin(ClientImages.update_image)
    delete_image_async = twin(ClientImages.delete_image)
    list_images_async = twin(ClientImages.list_images)
    create_thread_async = twin(ThreadManagement.create_thread)
    get_thread_async = twin(ThreadManagement.get_thread)
    update_thread_async = twin(ThreadManagement.update_thread)
    wait_for_memory_extraction_async = twin(wait_for_memory_extraction, waits=True)
    extraction_failures_async = twin(extraction_failures)
    close_async = twin(close, waits=True)


def _check_place(store: object, connection: object, token: object, arguments: StoreArguments) -> None:
    """Raise unless a client has one place to stand on, and no option that is not for it."""
    if store is NOT_SET and connection is NOT_SET:
        raise ValueError("there is no store: give connection=, such as 'memory.db', or store=")
    if store is not NOT_SET and connection is not NOT_SET:
        raise ValueError("store and connection are both given; give one of them")
    given = arguments.given() + (["token"] if token is not NOT_SET else [])
    if store is not NOT_SET and given:
        raise ValueError(f"{', '.join(given)} cannot be given with store=: a ready store has its own")
    http = isinstance(connection, str) and connection.lower().startswith(("http://", "https://"))
    if token is not NOT_SET and not http:
        raise ValueError("token is for the connection to a server (http://…); leave it out")
    if connection is None:
        raise TypeError("connection is None; give a path, a URL, or a connection of a PostgreSQL database")


def _open(
    store: object,
    connection: object,
    arguments: StoreArguments,
    embedder: IEmbedder | str | NotSet | None,
    llm: ILlm | Literal["local"] | None,
) -> OpenedStore:
    if store is not NOT_SET:
        return over_store(store, embedder=embedder, llm=llm)
    settings = StoreSettings.of(arguments, without_embedder=embedder is None)
    return open_connection(connection, settings, embedder=embedder, llm=llm)


def _images_config(given: ImageInputLimitConfig | NotSet) -> ImageInputLimitConfig:
    if given is NOT_SET:
        return ImageInputLimitConfig()
    if not isinstance(given, ImageInputLimitConfig):
        raise TypeError(f"image_input_limit_config is {given!r:.80}; give an ImageInputLimitConfig")
    return given


def _provided_extractor(opened: OpenedStore, llm: ILlm | None) -> ThreadExtractor:
    """Have the engine's jobs of threads read by the client's model."""
    engine = opened.backend.engine
    extractor = ThreadExtractor(llm, clock=engine.clock)
    engine.background.provide_extractor(THREAD_EXTRACTOR, extractor)
    return extractor


def _let_go(end: Callable[[], None], release: Callable[[], None], owner: int) -> None:
    # A forked child runs its parent's finalisers when it ends, and has started nothing of it.
    if os.getpid() == owner:
        end()
        release()
