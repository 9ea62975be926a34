"""What callers may bring themselves: models, rerankers, and stand-ins for the client and its threads.

Each is an abstract class. A language model and an embedder have two forms of their call, both to be written. Elsewhere
only the ``…_async`` form is, and the other waits for it; a class that has all of those counts as a subclass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memoranda.threads.blocking import result_of
from memoranda.threads.content import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

LlmPrompt: TypeAlias = str | Sequence[Message | Mapping[str, object]]
"""What a language model is asked: a text, or messages."""

_PROBED_TOKENS: Final = 512
CHARACTERS_PER_TOKEN: Final = 3.5


@dataclass(frozen=True, slots=True)
class LlmResponse:
    """What a language model answered."""

    text: str


class ILlm(ABC):
    """A language model. Extraction, links, summaries, shortened messages, pruning and captions ask it.

    It is asked with two messages (system, user), and for a caption with one that has an image. An answer to a
    ``response_json_schema`` is JSON of that schema.
    """

    @abstractmethod
    def generate(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt; keywords are the provider's own."""

    @abstractmethod
    async def generate_async(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt without blocking the event loop."""


class IEmbedder(ABC):
    """An embedding model: texts to vectors, 32-bit floats in an array of (texts, dimension)."""

    _dimension: int | None = None
    _input_tokens: int | None = None

    @abstractmethod
    def embed(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text; ``is_query`` tells a search's text from a record's."""

    @abstractmethod
    async def embed_async(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text without blocking the event loop."""

    @property
    def embedding_dimension(self) -> int:
        """How many numbers a vector has. Unless overridden one short text is embedded to see, once."""
        if self._dimension is None:
            self._dimension = int(self.embed(["dimension"]).shape[1])
        return self._dimension

    @property
    def max_input_tokens(self) -> int:
        """How many tokens a text may have. Unless overridden it is 512, once a text of that length was embedded."""
        if self._input_tokens is None:
            self.embed(["a " * int(_PROBED_TOKENS * CHARACTERS_PER_TOKEN / 2)])
            self._input_tokens = _PROBED_TOKENS
        return self._input_tokens


@dataclass(frozen=True, slots=True)
class RerankResponseResult:
    """The relevance of the document at ``index``; larger is better."""

    index: int
    relevance_score: float
    document: str | None = None


@dataclass(frozen=True, slots=True)
class RerankResponse:
    """The results for all documents: each index once, the most relevant first."""

    results: list[RerankResponseResult]


class IReranker(ABC):
    """Orders documents by their relevance to a query."""

    def rerank(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Return the relevance of each document; this form waits for ``rerank_async``."""
        return result_of(self.rerank_async(query, documents, **kwargs))

    @abstractmethod
    async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Return the relevance of each document: every index once, scores finite, falling."""


class ISearchConfig:
    """What happens to the results of a search before they are handed out; see ``MemorySearchConfig``."""

    __slots__ = ()


class _Asynchronous:
    """Classes whose operations are written as ``<name>_async``; ``<name>`` waits for it, unless it is written too."""

    def __getattr__(self, name: str) -> Any:
        twin = None if name.startswith("_") or name.endswith("_async") else getattr(type(self), f"{name}_async", None)
        if twin is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def waiting(*args: Any, **kwargs: Any) -> Any:
            return result_of(twin(self, *args, **kwargs))

        waiting.__name__ = name
        return waiting


def _has_all(interface: type, candidate: type) -> bool:
    # ``__abstractmethods__`` names what the interface itself leaves open.
    names: frozenset[str] = getattr(interface, "__abstractmethods__", frozenset())
    return all(any(name in vars(each) for each in candidate.__mro__) for name in names)


class IThread(_Asynchronous, ABC):
    """One conversation; ``Thread`` is ours. The parameters are those of the methods of ``Thread``."""

    @classmethod
    def __subclasshook__(cls, candidate: type) -> bool:
        return _has_all(cls, candidate) if cls is IThread else NotImplemented

    @abstractmethod
    async def add_messages_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def get_messages_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def get_message_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def update_message_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_message_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def add_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def update_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def search_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def get_context_card_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def get_summary_async(self, *args: Any, **kwargs: Any) -> Any: ...


class IAgentMemory(_Asynchronous, ABC):
    """A client; ``AgentMemory`` is ours. The parameters are those of the methods of ``AgentMemory``."""

    @classmethod
    def __subclasshook__(cls, candidate: type) -> bool:
        return _has_all(cls, candidate) if cls is IAgentMemory else NotImplemented

    @abstractmethod
    async def add_user_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def add_agent_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_user_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_agent_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def add_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def update_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_memory_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def create_thread_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def get_thread_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def update_thread_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def delete_thread_async(self, *args: Any, **kwargs: Any) -> Any: ...
    @abstractmethod
    async def search_async(self, *args: Any, **kwargs: Any) -> Any: ...


class IMemoryStore:
    """Anything that ``AgentMemory(store=…)`` takes as a store: a ready engine or backend of ours.

    Applications name it in annotations. A store of one's own is a ``memoranda.engine.ports.Store``, held to the rules
    of ``memoranda.testing``.
    """

    __slots__ = ()
