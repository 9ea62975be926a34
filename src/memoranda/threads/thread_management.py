"""Creating, opening and changing threads: the part of the client that does it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypedDict, TypeVar, Unpack
from uuid import uuid4

from memoranda.threads.apis import ILlm
from memoranda.threads.client_parts import LOCAL, ClientParts, ThreadLlm
from memoranda.threads.content import type_name
from memoranda.threads.llms import llm_of
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import ImageInputLimitConfig, MemoryExtractionConfig
from memoranda.threads.records import Metadata, check_metadata
from memoranda.threads.resolution import FLAT_EXTRACTION_ARGUMENTS, ThreadLimitOptions, extraction_config
from memoranda.threads.scope import check_id
from memoranda.threads.search_config import MemorySearchConfig
from memoranda.threads.stored import Given, NewThread, StoredThread, ThreadUpdate
from memoranda.threads.thread import Thread
from memoranda.threads.thread_options import ThreadArguments, ThreadOptions, decided

T = TypeVar("T")


class ThreadOptionArguments(TypedDict, total=False):
    """The options of a thread, as calls take them; see ``ThreadManagement``."""

    llm: ILlm | str | NotSet | None
    pruner_llm: ILlm | NotSet | None
    memory_extraction_config: MemoryExtractionConfig | NotSet | None
    image_input_limit_config: ImageInputLimitConfig | NotSet | None
    search_config: MemorySearchConfig | NotSet | None
    max_message_token_length: int | NotSet
    message_shortening_input_token_limit: int | NotSet
    context_card_token_limit: int | NotSet
    context_card_type_search_concurrency: int | NotSet
    extract_memories: bool | NotSet
    memory_extraction_window: int | NotSet
    memory_extraction_frequency: int | NotSet
    memory_extraction_token_limit: int | NotSet
    enable_context_summary: bool | NotSet
    context_summary_update_frequency: int | NotSet
    memory_extraction_custom_instructions: str | NotSet | None
    memory_extraction_inherit_message_metadata: bool | list[str] | NotSet


_LIMITS = (
    "max_message_token_length",
    "message_shortening_input_token_limit",
    "context_card_token_limit",
    "context_card_type_search_concurrency",
)


class ThreadManagement(ABC):
    """What a client does with threads.

    Options of a thread are keywords: ``llm``, ``memory_extraction_config``, ``image_input_limit_config``,
    ``search_config``, ``pruner_llm``, ``max_message_token_length`` (15 000 tokens),
    ``message_shortening_input_token_limit`` (30 000), ``context_card_token_limit`` (100 000),
    ``context_card_type_search_concurrency`` (5), and, deprecated, the settings of extraction one by one. Each that is
    omitted is as saved with the thread, else as the client has it, else its default. ``ValueError`` where memories are
    to be extracted and there is no model.
    """

    @abstractmethod
    def _thread_parts(self) -> ClientParts:
        """Return what threads are given; the place to refuse once the client is closed."""

    def create_thread(
        self,
        *,
        thread_id: str | NotSet = NOT_SET,
        user_id: str | NotSet = NOT_SET,
        agent_id: str | NotSet = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
        **options: Unpack[ThreadOptionArguments],
    ) -> Thread:
        """Create a thread and return its handle; ids that are omitted are made, and its options are saved.

        Raises ``ValueError`` for an id that is empty or taken, or metadata that is no dictionary, and ``TypeError`` for
        an unknown keyword.
        """
        parts = self._thread_parts()
        parts.check_open()
        new_id, user, agent = _id("thread_id", thread_id), _id("user_id", user_id), _id("agent_id", agent_id)
        arguments = thread_arguments("create_thread", options)
        chosen = decided(arguments, None, parts)
        chosen.check()
        if parts.backend.get_thread(new_id) is not None:
            raise ValueError(f"there is a thread {new_id!r} already; open it with get_thread")
        stored = parts.backend.create_thread(
            NewThread(
                thread_id=new_id,
                user_id=user,
                agent_id=agent,
                metadata=None if metadata is NOT_SET else check_metadata(metadata),
                runtime_config=chosen.saved(),
                extraction_policy=chosen.policy(),
            )
        )
        return _opened(parts, stored, chosen)

    def get_thread(self, thread_id: str, **options: Unpack[ThreadOptionArguments]) -> Thread:
        """Open a thread; options that are given hold for this handle alone.

        Raises ``KeyError`` where there is none of this id, and ``TypeError`` for an unknown keyword.
        """
        parts = self._thread_parts()
        parts.check_open()
        arguments = thread_arguments("get_thread", options)
        stored = _stored(parts, thread_id)
        chosen = decided(arguments, stored.runtime_config, parts)
        chosen.check()
        return _opened(parts, stored, chosen)

    def update_thread(
        self, thread_id: str, metadata: Metadata | NotSet | None = NOT_SET, **options: Unpack[ThreadOptionArguments]
    ) -> Thread:
        """Save options, and metadata where it is given, with a thread; return a new handle. Open handles stay as is.

        Raises ``KeyError`` where there is none of this id, and ``TypeError`` for an unknown keyword.
        """
        parts = self._thread_parts()
        parts.check_open()
        arguments = thread_arguments("update_thread", options)
        stored = _stored(parts, thread_id)
        chosen = decided(arguments, stored.runtime_config, parts)
        chosen.check()
        update = ThreadUpdate(
            metadata=None if metadata is NOT_SET else Given(check_metadata(metadata)),
            runtime_config=Given(chosen.saved()),
            extraction_policy=Given(chosen.policy()),
        )
        return _opened(parts, parts.backend.update_thread(thread_id, update), chosen)


def thread_arguments(call: str, options: ThreadOptionArguments) -> ThreadArguments:
    """Read the option keywords of a call; ``TypeError`` names one that is unknown."""
    given: dict[str, object] = {**options}
    for name in given:
        if name not in ThreadOptionArguments.__annotations__:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")
    flat: dict[str, object] = {name: given[name] for name in FLAT_EXTRACTION_ARGUMENTS if name in given}
    config = _of_type(given, "memory_extraction_config", MemoryExtractionConfig)
    images = _of_type(given, "image_input_limit_config", ImageInputLimitConfig)
    limits: Callable[..., ThreadLimitOptions] = ThreadLimitOptions
    return ThreadArguments(
        extraction=extraction_config(config, flat, stacklevel=4),
        images=ImageInputLimitConfig() if images is NOT_SET else images,
        limits=limits(**{name: given[name] for name in _LIMITS if name in given}),
        llm=thread_llm(given.get("llm", NOT_SET)),
        search_config=_of_type(given, "search_config", MemorySearchConfig),
        pruner_llm=options.get("pruner_llm", NOT_SET),
    )


def thread_llm(given: object) -> ThreadLlm | NotSet | None:
    """Return the model that a caller handed in: an ``ILlm``, its name, or ``"local"``; None and omitted stay."""
    if given is NOT_SET:
        return NOT_SET
    if given is None:
        return None
    return LOCAL if given == LOCAL else llm_of(given)


def _of_type(given: dict[str, object], name: str, kind: type[T]) -> T | NotSet:
    value = given.get(name, NOT_SET)
    if value is NOT_SET or value is None:
        return NOT_SET
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type_name(value)}; give a {kind.__name__}")
    return value


def _id(name: str, value: object) -> str:
    """Return an id that was given, or a new one; ``ValueError`` for one that is none."""
    return str(uuid4()) if value is NOT_SET else check_id(name, value)


def _stored(parts: ClientParts, thread_id: str) -> StoredThread:
    stored = parts.backend.get_thread(thread_id)
    if stored is None:
        raise KeyError(f"there is no thread {thread_id!r}; create it with create_thread")
    return stored


def _opened(parts: ClientParts, stored: StoredThread, options: ThreadOptions) -> Thread:
    """Return a handle; its model reads the thread's messages in this process from now on."""
    llm = options.llm
    if parts.extractor is not None and llm is not None and not isinstance(llm, str):
        parts.extractor.provide(stored.thread_id, llm)
    saved = dict(stored.extraction_policy or {})
    return Thread(parts, stored, options, own_options=options.policy() != saved)
