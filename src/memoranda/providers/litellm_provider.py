"""Chat, embeddings and reranking of the many providers that the ``litellm`` package knows, as ``"provider/model"``.

The package (extra ``litellm``) is imported when a provider is made, with its list of models read from itself: nothing
goes to the network before the provider that is asked. It reads each provider's key from the variable it documents,
unless ``api_key`` is given. Its retries are off: when to try again is for the job queue to say.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Final, Protocol, cast

from memoranda.engine.ports import ChatReply
from memoranda.providers._chat import FORMAT_WORDS, ChatInterface, UnsupportedParameterError
from memoranda.providers._connection import Connection, sendable
from memoranda.providers._endpoint import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT, Endpoint
from memoranda.providers._extras import litellm_package
from memoranda.providers._replies import read_chat, read_scores, read_vectors
from memoranda.providers._schema import ChatMessage, response_format
from memoranda.providers.errors import Purpose, Teller, seen_in_exception
from memoranda.providers.openai_compatible import (
    DIMENSION_WORDS,
    KNOWN_EMBEDDINGS,
    input_tokens,
    names_parameter,
)
from memoranda.sdk.errors import MemoryConfigError

_HERE: Final = "litellm"


class _Answer(Protocol):
    def model_dump(self) -> dict[str, object]: ...


_Call = Callable[..., _Answer]


@dataclass(frozen=True, slots=True)
class LiteLLMSettings:
    """How a provider is reached where its own defaults are not meant; as in ``OpenAIChatModel``.

    ``arguments`` are those of the package's functions, for every call.
    """

    base_url: str | None = None
    api_key: str | None = None
    timeout: float = DEFAULT_TIMEOUT
    max_concurrency: int = DEFAULT_CONCURRENCY
    headers: Mapping[str, str] | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r}, timeout={self.timeout!r})"


_DEFAULTS: Final = LiteLLMSettings()


class _Package:
    """One model behind the package: the arguments of every call, and its errors made ours."""

    def __init__(self, model: str, purpose: Purpose, settings: LiteLLMSettings) -> None:
        self.model = model
        package = litellm_package()
        _check_provider(package, model)
        endpoint = None if settings.base_url is None else Endpoint(settings.base_url)
        sent = Endpoint("http://any", settings.api_key, settings.timeout, dict(settings.headers or {}))
        self.teller = Teller(f"{model} at {endpoint.host if endpoint else _HERE}", purpose, sent.secrets)
        given = {"api_base": settings.base_url, "api_key": settings.api_key, "extra_headers": sent.headers or None}
        self._arguments = {"model": model, "timeout": settings.timeout, "max_retries": 0, "num_retries": 0}
        self._arguments |= {name: value for name, value in given.items() if value is not None}
        self._arguments |= settings.arguments
        self._connection = Connection(_prepared, settings.max_concurrency)
        self._errors: tuple[type[Exception], ...] = (package.openai.OpenAIError, *_own_errors(package))

    def call(self, function: str, *, refusable: Sequence[str] = (), **arguments: object) -> dict[str, object]:
        """Return the answer as plain data; ``UnsupportedParameterError`` where a refusal has one of the words."""
        try:
            with self._connection.client() as package:
                return cast(_Call, getattr(package, function))(**{**self._arguments, **arguments}).model_dump()
        except self._errors as error:
            seen = seen_in_exception(error)
            if names_parameter(seen, refusable):
                raise UnsupportedParameterError(seen.message) from None
            raise self.teller.tell(seen) from (None if self.teller.reveals(error) else error)


def _prepared() -> ModuleType:
    """Return the package with its settings that are ours to make."""
    package = litellm_package()
    settings = vars(package)
    settings["suppress_debug_info"] = True  # It would print to standard output when a provider fails.
    settings["DEFAULT_MAX_RETRIES"] = 0  # It takes this number where it is told 0.
    return package


def _forget_clients() -> None:
    """Drop the clients of the parent process in a forked child: sockets cannot be shared."""
    package = sys.modules.get(_HERE)
    if package is not None:
        package.in_memory_llm_clients_cache.flush_cache()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_clients)


def _check_provider(package: ModuleType, model: str) -> None:
    try:
        package.get_llm_provider(model)
    except package.exceptions.BadRequestError as error:
        raise MemoryConfigError(
            f"no provider is known for the model {model!r}: name it as 'provider/model', such as "
            "'anthropic/claude-sonnet-4-5', or give an object of your own"
        ) from error


def _own_errors(package: ModuleType) -> tuple[type[Exception], ...]:
    """Return the package's errors that are none of the ``openai`` package, on which it builds the others."""
    found = (getattr(package.exceptions, name, None) for name in dir(package.exceptions))
    return tuple(
        each for each in found if isinstance(each, type) and issubclass(each, Exception) and each is not Exception
    )


class LiteLLMChatModel(ChatInterface):
    """A ``ChatModel`` named ``"provider/model"``. Thread-safe. Raises as ``OpenAIChatModel`` does."""

    def __init__(self, model: str, settings: LiteLLMSettings = _DEFAULTS, *, structured: bool = True) -> None:
        self.model_id = model
        self._package = _Package(model, Purpose.CHAT, settings)
        super().__init__(structured=structured)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r})"

    def _ask(
        self, messages: Sequence[ChatMessage], options: Mapping[str, object], schema: Mapping[str, object] | None
    ) -> ChatReply:
        form = {} if schema is None else {"response_format": response_format(schema)}
        refusable = FORMAT_WORDS if form else ()
        data = self._package.call("completion", refusable=refusable, messages=messages, **{**options, **form})
        return read_chat(data, self._package.teller)


class LiteLLMEmbedder:
    """An ``Embedder`` named ``"provider/model"``. Thread-safe. ``dimension`` and errors as in ``OpenAIEmbedder``."""

    def __init__(
        self,
        model: str,
        settings: LiteLLMSettings = _DEFAULTS,
        *,
        dimension: int | None = None,
        max_input_tokens: int | None = None,
    ) -> None:
        self._package = _Package(model, Purpose.EMBEDDING, settings)
        bare = model.partition("/")[2]
        known = KNOWN_EMBEDDINGS.get(bare)
        self.model_id = model
        self.fingerprint = f"{_HERE}/{model}"
        self.max_input_tokens = max_input_tokens or input_tokens(bare)
        self._dimension = dimension or (known.dimension if known else None)
        self._resized = dimension is not None and not (known and known.dimension == dimension)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r})"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; asks the provider once where nobody said."""
        if self._dimension is None:
            vectors = self.embed(["dimension"])
            if not vectors or not vectors[0]:
                raise self._package.teller.unusable("it has no vector", str(vectors))
            self._dimension = len(vectors[0])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, in order, each as long as the provider made it."""
        if not texts:
            return ()
        if self._resized:
            try:
                return self._ask(texts, dimensions=self._dimension)
            except UnsupportedParameterError:
                self._resized = False
        return self._ask(texts)

    def _ask(self, texts: Sequence[str], **size: object) -> Sequence[Sequence[float]]:
        refusable = DIMENSION_WORDS if size else ()
        data = self._package.call("embedding", refusable=refusable, input=[sendable(text) for text in texts], **size)
        return read_vectors(data, self._package.teller)


class LiteLLMReranker:
    """A ``Reranker`` named ``"provider/model"``. Thread-safe. Raises ``ProviderError``."""

    def __init__(self, model: str, settings: LiteLLMSettings = _DEFAULTS) -> None:
        self.model_id = model
        self._package = _Package(model, Purpose.RERANKING, settings)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r})"

    def rerank(self, query: str, documents: Sequence[str]) -> Sequence[float]:
        """Return one score for each document, in order; larger is better."""
        if not documents:
            return ()
        texts = [sendable(text) for text in documents]
        data = self._package.call("rerank", query=sendable(query), documents=texts, top_n=len(texts))
        return read_scores(data, len(texts), self._package.teller)
