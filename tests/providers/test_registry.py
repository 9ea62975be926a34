"""Names and configurations become providers; what is missing is named with its remedy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memoranda.engine.config_model import ExtractionModelConfig, VoyageConfig
from memoranda.providers import registry
from memoranda.providers.local_embedder import LocalEmbedder
from memoranda.providers.openai_compatible import OpenAIChatModel, OpenAIEmbedder, VoyageEmbedder
from memoranda.providers.rerank_http import HttpReranker
from memoranda.sdk.errors import MemoryConfigError
from memoranda.testing.scripted_answers import CHAT
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.providers.conftest import KEY, its_own_warnings, needs_litellm


def asked_header(server: ScriptedProvider, config: ExtractionModelConfig, header: str = "authorization") -> str | None:
    registry.chat_model_configured(config).complete("", "x")
    return server.requests[-1].headers.get(header)


def test_local_names_the_built_in_embedder() -> None:
    assert isinstance(registry.embedder_named("local"), LocalEmbedder)


def test_openai_names_need_their_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for make in (registry.embedder_named, registry.chat_model_named):
        with pytest.raises(MemoryConfigError, match="OPENAI_API_KEY"):
            make("openai/text-embedding-3-small")

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    embedder = registry.embedder_named("openai/text-embedding-3-small")
    assert isinstance(embedder, OpenAIEmbedder)
    assert (embedder.model_id, embedder.dimension) == ("text-embedding-3-small", 1536)
    assert isinstance(registry.chat_model_named("openai/gpt-5-mini"), OpenAIChatModel)


def test_openai_names_go_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, server: ScriptedProvider) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)

    registry.chat_model_named("openai/meta/llama-3").complete("", "x")

    assert server.requests[0].body["model"] == "meta/llama-3"
    assert "authorization" not in server.requests[0].headers


@needs_litellm
@its_own_warnings
def test_other_names_go_through_litellm() -> None:
    from memoranda.providers.litellm_provider import LiteLLMChatModel, LiteLLMEmbedder, LiteLLMReranker

    assert isinstance(registry.chat_model_named("anthropic/claude-sonnet-4-5"), LiteLLMChatModel)
    assert isinstance(registry.embedder_named("mistral/mistral-embed"), LiteLLMEmbedder)
    assert isinstance(registry.reranker_named("together_ai/rerank"), LiteLLMReranker)
    with pytest.raises(MemoryConfigError, match="nobody/model"):
        registry.chat_model_named("nobody/model")


@pytest.mark.parametrize("name", ["gpt-5", "", "openai/", "/model", "default"])
def test_a_name_without_a_provider_is_refused(name: str) -> None:
    for make in (registry.embedder_named, registry.chat_model_named, registry.reranker_named):
        with pytest.raises(MemoryConfigError, match="openai/<model>"):
            make(name)


@pytest.mark.parametrize(
    ("provider", "variable"), [("cohere", "COHERE_API_KEY"), ("voyage", "VOYAGE_API_KEY"), ("jina", "JINA_API_KEY")]
)
def test_rerankers_over_http_need_their_key(monkeypatch: pytest.MonkeyPatch, provider: str, variable: str) -> None:
    with pytest.raises(MemoryConfigError, match=variable):
        registry.reranker_named(f"{provider}/rerank")

    monkeypatch.setenv(variable, KEY)
    assert isinstance(registry.reranker_named(f"{provider}/rerank"), HttpReranker)


def test_voyage_is_configured_by_model_and_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryConfigError, match="VOYAGE_API_KEY"):
        registry.embedder_configured(VoyageConfig())

    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    embedder = registry.embedder_configured(VoyageConfig("voyage-4-lite", 512))
    assert isinstance(embedder, VoyageEmbedder)
    assert (embedder.model_id, embedder.dimension) == ("voyage-4-lite", 512)
    assert registry.embedder_configured(VoyageConfig()).model_id == "voyage-4-large"


def test_the_key_of_the_extraction_model_is_looked_up_in_order(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedProvider
) -> None:
    config = ExtractionModelConfig("gemini", "m", server.url)
    named = ExtractionModelConfig("gemini", "m", server.url, api_key_secret="OUR_SECRET")

    assert asked_header(server, config) is None
    monkeypatch.setenv("GEMINI_API_KEY", "own-key")
    assert asked_header(server, config) == "Bearer own-key"
    monkeypatch.setenv("LLM_API_KEY", "generic-key")
    assert asked_header(server, config) == "Bearer generic-key"
    with pytest.raises(MemoryConfigError, match="OUR_SECRET"):
        registry.chat_model_configured(named)
    monkeypatch.setenv("OUR_SECRET", "named-key")
    assert asked_header(server, named) == "Bearer named-key"


def test_the_key_can_go_in_a_header_of_its_own(monkeypatch: pytest.MonkeyPatch, server: ScriptedProvider) -> None:
    monkeypatch.setenv("LLM_API_KEY", KEY)
    config = ExtractionModelConfig("openai", "m", server.url, auth_header="api-key")

    assert asked_header(server, config, "api-key") == KEY
    assert "authorization" not in server.requests[-1].headers


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "cerebras"])
def test_a_provider_without_a_key_names_its_variables(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    config = ExtractionModelConfig(provider, "m")
    with pytest.raises(MemoryConfigError, match=f"LLM_API_KEY or {provider.upper()}_API_KEY"):
        registry.chat_model_configured(config)

    monkeypatch.setenv("LLM_API_KEY", KEY)
    assert isinstance(registry.chat_model_configured(config), OpenAIChatModel)


def test_a_model_that_ignores_schemas_is_asked_by_instruction(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedProvider
) -> None:
    monkeypatch.setenv("LLM_API_KEY", KEY)
    config = ExtractionModelConfig("anthropic", "m", server.url)

    registry.chat_model_configured(config).complete("", "x", schema={"type": "object"})

    assert server.requests[0].schema is None
    assert server.calls(CHAT) == 1


def test_an_extraction_model_has_a_name() -> None:
    with pytest.raises(MemoryConfigError, match=r"extraction_llm\.model"):
        registry.chat_model_configured(ExtractionModelConfig("openai"))


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("openai", "chat_model_named('openai/gpt-5')"),
        ("openai", "embedder_named('openai/m')"),
        ("litellm", "chat_model_named('anthropic/claude')"),
        ("litellm", "reranker_named('together_ai/m')"),
    ],
)
def test_a_missing_extra_is_named_with_its_remedy(package: str, call: str) -> None:
    script = (
        f"import sys, os; sys.modules[{package!r}] = None; os.environ['OPENAI_API_KEY'] = 'x'\n"
        "from memoranda.providers import registry\n"
        "from memoranda.sdk.errors import MemoryNotSupportedError\n"
        f"try:\n    registry.{call}\nexcept MemoryNotSupportedError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert f"pip install 'memoranda[{package}]'" in done.stdout


def test_the_registry_loads_no_providers_package() -> None:
    script = (
        "import sys; from memoranda.providers import registry; registry.embedder_named('local'); "
        "print(sorted({'openai', 'litellm', 'httpx', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@needs_litellm
def test_importing_litellm_connects_to_nobody() -> None:
    script = (
        "import socket, sys\n"
        "def refused(*_): raise SystemExit('it connected')\n"
        "socket.socket.connect = socket.getaddrinfo = refused\n"
        "from memoranda.providers import registry\n"
        "print(registry.chat_model_named('anthropic/claude-sonnet-4-5'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "LiteLLMChatModel" in done.stdout
