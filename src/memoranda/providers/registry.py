"""From a name, or the words of a project's configuration, to a provider: the one place that knows them all.

Names are ``"local"``, ``"openai/<model>"``, and ``"<provider>/<model>"`` through ``litellm``; a reranker of Cohere,
Voyage or Jina is asked over HTTP. What a provider needs is imported when it is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, TypedDict

from memoranda.engine.config_model import ExtractionModelConfig, VoyageConfig
from memoranda.engine.ports import ChatModel, ChatReply, Embedder, Reranker
from memoranda.providers._endpoint import DIRECT, Endpoint
from memoranda.providers._endpoint import Transport as Transport
from memoranda.providers._schema import ChatMessage
from memoranda.providers._secrets import GENERIC_KEY, KEY_VARIABLES, OPENAI_BASE_URL, model_key, own_key, variable
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.sdk.errors import MemoryConfigError

if TYPE_CHECKING:
    from memoranda.providers.litellm_provider import LiteLLMSettings

LOCAL: Final = "local"
"""Names the built-in embedder, and the built-in extractor."""
OPENAI: Final = "openai"
VOYAGE: Final = "voyage"
DEFAULT_VOYAGE_MODEL: Final = "voyage-4-large"

MODEL_URLS: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        OPENAI: None,
        "anthropic": "https://api.anthropic.com/v1",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
        "cerebras": "https://api.cerebras.ai/v1",
    }
)
"""Where the providers of ``extraction_llm`` speak OpenAI's protocol; None is the client's own default."""

RERANK_URLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cohere": "https://api.cohere.com/v2",
        VOYAGE: "https://api.voyageai.com/v1",
        "jina": "https://api.jina.ai/v1",
    }
)
_OPENAI_URL: Final = "https://api.openai.com/v1"
_VOYAGE_URL: Final = "https://api.voyageai.com/v1"
# It takes response_format and pays no attention to it.
_INSTRUCTED: Final = frozenset({"anthropic"})


def embedder_named(name: str) -> Embedder:
    """Return the embedder of a name; raises ``MemoryConfigError``; without its extra ``MemoryNotSupportedError``."""
    if name.strip() == LOCAL:
        return LocalEmbedder()
    provider, model = _parts(name, "embedder")
    if provider == OPENAI:
        from memoranda.providers.openai_compatible import OpenAIEmbedder

        return OpenAIEmbedder(model, **_openai())
    from memoranda.providers.litellm_provider import LiteLLMEmbedder

    return LiteLLMEmbedder(f"{provider}/{model}")


def chat_model_named(name: str) -> ChatModel:
    """Return the language model of a name; raises as ``embedder_named`` does."""
    provider, model = _parts(name, "llm")
    if provider == OPENAI:
        from memoranda.providers.openai_compatible import OpenAIChatModel

        return OpenAIChatModel(model, **_openai())
    from memoranda.providers.litellm_provider import LiteLLMChatModel

    return LiteLLMChatModel(f"{provider}/{model}")


def reranker_named(name: str) -> Reranker:
    """Return the reranker of a name; raises as ``embedder_named`` does."""
    provider, model = _parts(name, "reranker")
    if provider in RERANK_URLS:
        from memoranda.providers.rerank_http import HttpReranker

        key = _required(own_key(provider), name, KEY_VARIABLES[provider])
        return HttpReranker(model, base_url=RERANK_URLS[provider], api_key=key)
    from memoranda.providers.litellm_provider import LiteLLMReranker

    return LiteLLMReranker(f"{provider}/{model}")


def embedder_configured(config: VoyageConfig) -> Embedder:
    """Return the embedder of ``memory.voyage``; its key is that of ``VOYAGE_API_KEY``."""
    from memoranda.providers.openai_compatible import VoyageEmbedder

    key = _required(own_key(VOYAGE), "memory.voyage", KEY_VARIABLES[VOYAGE])
    model = config.model or DEFAULT_VOYAGE_MODEL
    return VoyageEmbedder(model, dimension=config.dimension, base_url=_VOYAGE_URL, api_key=key)


def chat_model_configured(config: ExtractionModelConfig) -> ChatModel:
    """Return the language model of ``memory.extraction_llm``.

    Its key is that of the variable that ``api_key_secret`` names, else of ``LLM_API_KEY``, else of the provider's own.
    A ``base_url`` of one's own needs no key. ``auth_header`` carries the key instead of ``Authorization: Bearer``.
    """
    from memoranda.providers.openai_compatible import OpenAIChatModel

    if config.model is None:
        raise MemoryConfigError("memory.extraction_llm.model is missing: name the model, such as 'gpt-5-mini'")
    provider = config.provider or OPENAI
    key = model_key(provider, config.api_key_secret)
    if key is None and (config.base_url is None or config.api_key_secret):
        wanted = config.api_key_secret or f"{GENERIC_KEY} or {KEY_VARIABLES[provider]}"
        raise _missing_key("memory.extraction_llm", wanted)
    in_header = {config.auth_header: key} if config.auth_header and key else {}
    return OpenAIChatModel(
        config.model,
        base_url=config.base_url or MODEL_URLS[provider],
        api_key=None if in_header else key,
        headers=in_header,
        structured=provider not in _INSTRUCTED,
    )


class Conversing(ChatModel, Protocol):
    """A chat model that takes messages as the protocol has them."""

    def converse(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, object] | None = None,
        options: Mapping[str, object] = ...,
    ) -> ChatReply: ...


@dataclass(frozen=True, slots=True)
class Access:
    """How a caller says that a model is reached; what is None is left to the provider's own variables and defaults.

    ``parameters`` go with every request. ``max_concurrency`` bounds the requests at a time.
    """

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    transport: Transport = DIRECT
    parameters: Mapping[str, object] = field(default_factory=dict, repr=False)
    max_concurrency: int = 16


class _Sizes(TypedDict):
    dimension: int | None
    max_input_tokens: int | None


_SPOKEN: Final = frozenset({OPENAI, "hosted_vllm"})
"""The providers that are asked in OpenAI's protocol by us; a name without a provider is one of them."""


def chat_model_at(name: str, access: Access, *, responses: bool = False) -> Conversing:
    """Return a chat model; ``MemoryConfigError`` for a missing key, ``MemoryNotSupportedError`` for a missing extra.

    ``responses`` asks by OpenAI's Responses interface, which models that ``litellm`` reaches do not have here.
    """
    model = _spoken(name)
    if responses:
        return _responses(name, model, access)
    if model is not None:
        from memoranda.providers.openai_compatible import OpenAIChatModel

        return OpenAIChatModel(model, base_url=_endpoint(access), max_concurrency=access.max_concurrency)
    from memoranda.providers.litellm_provider import LiteLLMChatModel

    return LiteLLMChatModel(name, _litellm(name, access))


def _responses(name: str, model: str | None, access: Access) -> Conversing:
    if model is None:
        raise MemoryConfigError(f"{name!r} is not asked in OpenAI's protocol, and has no Responses interface here")
    from memoranda.providers.openai_responses import OpenAIResponsesModel

    return OpenAIResponsesModel(model, endpoint=_endpoint(access), max_concurrency=access.max_concurrency)


def embedder_at(
    name: str, access: Access, *, dimension: int | None = None, max_input_tokens: int | None = None
) -> Embedder:
    """Return an embedder; raises as ``chat_model_at`` does."""
    if name.strip() == LOCAL:
        return LocalEmbedder()
    model = _spoken(name)
    sizes = _Sizes(dimension=dimension, max_input_tokens=max_input_tokens)
    if model is not None:
        from memoranda.providers.openai_compatible import OpenAIEmbedder

        return OpenAIEmbedder(model, base_url=_endpoint(access), max_concurrency=access.max_concurrency, **sizes)
    from memoranda.providers.litellm_provider import LiteLLMEmbedder

    return LiteLLMEmbedder(name, _litellm(name, access), **sizes)


def reranker_at(name: str, access: Access) -> Reranker:
    """Return a reranker: of Cohere, Voyage or Jina, or of any server that reranks as they do, asked over HTTP."""
    provider, _, model = name.strip().partition("/")
    if access.base_url is not None and not access.parameters:
        from memoranda.providers.rerank_http import HttpReranker

        return HttpReranker(model or provider, base_url=access.base_url, api_key=access.api_key)
    if provider in RERANK_URLS and model and not access.parameters:
        from memoranda.providers.rerank_http import HttpReranker

        key = access.api_key or _required(own_key(provider), name, KEY_VARIABLES[provider])
        return HttpReranker(model, base_url=RERANK_URLS[provider], api_key=key)
    from memoranda.providers.litellm_provider import LiteLLMReranker

    return LiteLLMReranker(name, _litellm(name, access))


def _spoken(name: str) -> str | None:
    """Return the model of a name whose provider is asked in OpenAI's protocol."""
    provider, slash, model = name.strip().partition("/")
    if not slash:
        return provider
    return model if provider in _SPOKEN else None


def _endpoint(access: Access) -> Endpoint:
    given = _OpenAIArguments(base_url=access.base_url, api_key=access.api_key)
    if access.base_url is None and access.api_key is None:
        given = _openai()
    return Endpoint(
        given["base_url"] or _OPENAI_URL,
        given["api_key"],
        body=access.parameters,
        transport=access.transport,
    )


def _litellm(name: str, access: Access) -> LiteLLMSettings:
    from memoranda.providers.litellm_provider import LiteLLMSettings

    if access.transport != DIRECT:
        raise MemoryConfigError(
            f"{name!r} is not asked in OpenAI's protocol, so that no TLS files, proxy or trust_env can be set for it: "
            "give the address of a server that speaks it, as api_base with 'openai/<model>'"
        )
    return LiteLLMSettings(
        base_url=access.base_url,
        api_key=access.api_key,
        max_concurrency=access.max_concurrency,
        arguments=access.parameters,
    )


class _OpenAIArguments(TypedDict):
    base_url: str | None
    api_key: str | None


def _openai() -> _OpenAIArguments:
    """Return where and with which key ``openai/…`` is asked, as the variables of that name say."""
    base_url = variable(OPENAI_BASE_URL)
    key = own_key(OPENAI)
    if base_url is None:
        key = _required(key, "openai/…", f"{KEY_VARIABLES[OPENAI]} (or {OPENAI_BASE_URL} of a server without keys)")
    return {"base_url": base_url, "api_key": key}


def _parts(name: str, what: str) -> tuple[str, str]:
    provider, slash, model = name.strip().partition("/")
    if not slash or not provider.strip() or not model.strip():
        raise MemoryConfigError(
            f"{what} {name!r} names no provider: write 'openai/<model>' or '<provider>/<model>', or pass an object"
        )
    return provider.strip().lower(), model.strip()


def _required(key: str | None, what: str, variable_name: str) -> str:
    if key is None:
        raise _missing_key(what, variable_name)
    return key


def _missing_key(what: str, variable_name: str) -> MemoryConfigError:
    return MemoryConfigError(f"{what} needs a key: set the environment variable {variable_name}")
