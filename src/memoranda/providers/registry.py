"""From a name, or the words of a project's configuration, to a provider: the one place that knows them all.

Names are ``"local"``, ``"openai/<model>"``, and ``"<provider>/<model>"`` through ``litellm``; a reranker of Cohere,
Voyage or Jina is asked over HTTP. What a provider needs is imported when it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypedDict

from memoranda.engine.config_model import ExtractionModelConfig, VoyageConfig
from memoranda.engine.ports import ChatModel, Embedder, Reranker
from memoranda.providers._secrets import GENERIC_KEY, KEY_VARIABLES, OPENAI_BASE_URL, model_key, own_key, variable
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.sdk.errors import MemoryConfigError

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
