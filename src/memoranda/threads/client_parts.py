"""What a client gives to its threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

from memoranda.threads.apis import ILlm
from memoranda.threads.backend import ThreadBackend
from memoranda.threads.extraction import ThreadExtractor
from memoranda.threads.options import ImageInputLimitConfig, MemoryExtractionConfig
from memoranda.threads.search_config import MemorySearchConfig

LOCAL: Final = "local"
"""Names the extractor that is built in and asks no model."""

ThreadLlm: TypeAlias = ILlm | Literal["local"]


class ClientOperations(Protocol):
    """The operations of a client that its threads call with their own ids; the parameters are those of the client."""

    def add_memory(self, *args: Any, **kwargs: Any) -> str: ...
    def update_memory(self, *args: Any, **kwargs: Any) -> str: ...
    def delete_memory(self, *args: Any, **kwargs: Any) -> int: ...
    def link_records(self, *args: Any, **kwargs: Any) -> str: ...
    def update_record_link(self, *args: Any, **kwargs: Any) -> int: ...
    def delete_record_link(self, *args: Any, **kwargs: Any) -> int: ...


def _always_open() -> None:
    return None


@dataclass(frozen=True, slots=True)
class ClientParts:
    """A client's backend, model and settings. ``check_open`` raises ``RuntimeError`` once the client is closed.

    ``extractor`` is the one that the backend's engine runs the jobs of threads with; None where those run elsewhere, as
    on a server, and ``llm`` is then only for summaries.
    """

    backend: ThreadBackend
    llm: ThreadLlm | None = None
    extractor: ThreadExtractor | None = None
    extraction: MemoryExtractionConfig = field(default_factory=MemoryExtractionConfig)
    images: ImageInputLimitConfig = field(default_factory=ImageInputLimitConfig)
    search_config: MemorySearchConfig | None = None
    pruner_llm: ILlm | None = None
    operations: ClientOperations | None = None
    allow_cross_user: bool = False
    check_open: Callable[[], None] = _always_open
