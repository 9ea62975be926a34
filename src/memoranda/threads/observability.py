"""Events of what the thread API does, for listeners that are registered for a block of code.

Nothing is built while nobody listens. A listener hears the calls of its own context: those made within the block, also
in tasks and threads that carry its context variables; work that a background worker does for them is heard by nobody.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

logger = logging.getLogger(__name__)

REDACTED: Final = "[REDACTED]"
"""What stands in the place of content and identifiers where an event is written down."""

AGENT_MEMORY: Final = "agent_memory"
THREAD: Final = "thread"
MEMORY_STORE: Final = "memory_store"
EMBEDDER: Final = "embedder"
LLM: Final = "llm"


class OperationKind(StrEnum):
    """What a call does to what is stored."""

    CREATE = "create"
    READ = "read"
    UPDATE = "update"
    DELETE = "delete"
    UNKNOWN = "unknown"


_KINDS: Final = {
    OperationKind.CREATE: ("add", "create", "link"),
    OperationKind.READ: ("get", "list", "search"),
    OperationKind.UPDATE: ("update",),
    OperationKind.DELETE: ("delete",),
}


def operation_kind_of(method: str) -> OperationKind:
    """Return the kind of a method, by the verb of its name."""
    verb = method.partition("_")[0]
    return next((kind for kind, verbs in _KINDS.items() if verb in verbs), OperationKind.UNKNOWN)


class Event(BaseModel):
    """Something that happened. ``repr`` shows all of it; what is written down is redacted unless asked otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    sensitive: ClassVar[frozenset[str]] = frozenset({"metadata"})
    """The fields that hold content or identifiers; those of the classes above count too."""

    event_id: str = Field(default_factory=lambda: str(uuid4()))
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC))
    component: str
    event_name: str
    metadata: dict[str, object] | None = None

    def model_dump(self, *, mask_sensitive_information: bool = True, **options: Any) -> dict[str, Any]:
        """Return the fields as plain values, redacted by default; ``options`` are pydantic's."""
        return self._shown(mask_sensitive_information)._plain(**options)

    def model_dump_json(self, *, mask_sensitive_information: bool = True, **options: Any) -> str:
        """Return the fields as JSON, redacted by default; what JSON does not know is shown by its ``repr``."""
        return BaseModel.model_dump_json(
            self._shown(mask_sensitive_information), **{"fallback": repr, "warnings": False, **options}
        )

    def to_observability_dict(self, *, mask_sensitive_information: bool = True) -> dict[str, Any]:
        """Return the fields as values that JSON has, redacted by default."""
        return self._shown(mask_sensitive_information)._plain(mode="json", fallback=repr)

    def _plain(self, **options: Any) -> dict[str, Any]:
        # A redacted field is not of its type.
        return BaseModel.model_dump(self, **{"warnings": False, **options})

    def _shown(self, masked: bool) -> Event:
        if not masked:
            return self
        names = frozenset().union(*(vars(cls).get("sensitive", ()) for cls in type(self).__mro__))
        hidden = {name: REDACTED for name in names if getattr(self, name, None) is not None}
        return self.model_construct(self.model_fields_set, **{**dict(self), **hidden})


class _Completed(BaseModel):
    """What every event of an end says."""

    started_event_id: str
    success: bool
    error_type: str | None = None


class ApiOperationStartedEvent(Event):
    """A method of the API was called. ``argument_summary`` has types and sizes, no content."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"arguments"})

    api_class: str
    concrete_class: str
    method: str
    operation_kind: OperationKind
    arguments: Any = None
    argument_summary: dict[str, str] | None = None


class ApiOperationCompletedEvent(ApiOperationStartedEvent, _Completed):
    """A method of the API ended: with ``result``, or with an error of ``error_type``."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"result"})

    result: Any = None
    result_summary: str | None = None


class AgentMemoryOperationStartedEvent(ApiOperationStartedEvent):
    """A method of the client was called."""


class AgentMemoryOperationCompletedEvent(ApiOperationCompletedEvent):
    """A method of the client ended."""


class _OfThread(BaseModel):
    thread_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


_OWNERS: Final = frozenset({"thread_id", "user_id", "agent_id"})


class ThreadOperationStartedEvent(ApiOperationStartedEvent, _OfThread):
    """A method of a thread was called."""

    sensitive: ClassVar[frozenset[str]] = _OWNERS


class ThreadOperationCompletedEvent(ApiOperationCompletedEvent, _OfThread):
    """A method of a thread ended."""

    sensitive: ClassVar[frozenset[str]] = _OWNERS


class MemoryStoreOperationStartedEvent(ApiOperationStartedEvent):
    """An operation of the store began."""


class MemoryStoreOperationCompletedEvent(ApiOperationCompletedEvent):
    """An operation of the store ended."""


class EmbedderStartedEvent(Event):
    """Texts go to an embedder."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"input"})

    model: str
    input: Any = None
    input_count: int
    text_lengths: list[int]
    is_query: bool = False


class EmbedderCompletedEvent(Event, _Completed):
    """An embedder answered, or failed."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"embedding_vector"})

    model: str
    vector_count: int | None = None
    embedding_dimension: int | None = None
    embedding_vector: Any = None


class LlmGenerationStartedEvent(Event):
    """A prompt goes to a language model."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"prompt", "tools", "llm_config", "llm_generation_config"})

    model: str
    api_type: str
    prompt: Any = None
    response_json_schema: Any = None
    tools: Any = None
    llm_config: Any = None
    llm_generation_config: Any = None


class LlmGenerationCompletedEvent(Event, _Completed):
    """A language model answered, or failed; tokens as far as the provider tells."""

    sensitive: ClassVar[frozenset[str]] = frozenset({"content", "tool_calls"})

    model: str
    content: Any = None
    completion_id: str | None = None
    tool_calls: Any = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    total_tokens: int | None = None


E = TypeVar("E", bound=Event)


class EventListener(ABC):
    """Hears events. One that raises is logged and harms nobody."""

    @property
    def subscribed_event_types(self) -> Sequence[type[Event]] | None:
        """The types (with their subclasses) that it hears; None for all."""
        return None

    @abstractmethod
    def on_event(self, event: Event) -> None:
        """Take an event, in the thread that it happened in."""


class GenericEventListener(EventListener, Generic[E]):
    """Calls a function with the events of one type."""

    def __init__(self, event_type: type[E], callback: Callable[[E], object]) -> None:
        self._event_type = event_type
        self._callback = callback

    @property
    def subscribed_event_types(self) -> Sequence[type[Event]]:
        return (self._event_type,)

    def on_event(self, event: Event) -> None:
        if isinstance(event, self._event_type):
            self._callback(event)


_ACTIVE: ContextVar[tuple[EventListener, ...]] = ContextVar("memoranda_event_listeners", default=())


@contextmanager
def register_event_listeners(listeners: Sequence[EventListener]) -> Iterator[list[EventListener]]:
    """Have listeners hear what happens in the block, beside those of the blocks around it; yields all of them."""
    token = _ACTIVE.set((*_ACTIVE.get(), *listeners))
    try:
        yield list(_ACTIVE.get())
    finally:
        _ACTIVE.reset(token)


def listened_to(event_type: type[Event]) -> bool:
    """Whether somebody hears events of a type; what nobody hears need not be made."""
    return any(_hears(listener, event_type) for listener in _ACTIVE.get())


def emit_event(event: Event) -> None:
    """Give an event to the listeners that hear its type."""
    for listener in _ACTIVE.get():
        if not _hears(listener, type(event)):
            continue
        try:
            listener.on_event(event)
        except Exception as error:  # noqa: BLE001 - a listener is foreign code, and watching must not change what happens
            logger.warning(
                "event_listener_failed", extra={"listener": type(listener).__name__, "error": type(error).__name__}
            )


def _hears(listener: EventListener, event_type: type[Event]) -> bool:
    types = listener.subscribed_event_types
    return types is None or issubclass(event_type, tuple(types))


def described(value: object) -> str:
    """Return the type and size of a value, and nothing of its content."""
    if isinstance(value, str | bytes | Mapping | list | tuple | set | frozenset):
        return f"{type(value).__name__}({len(value)})"
    return type(value).__name__
