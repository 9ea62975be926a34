"""A scripted server on loopback, and the providers that can speak to it."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from memoranda.engine.ports import ChatModel, Embedder
from memoranda.providers._secrets import KEY_VARIABLES
from memoranda.testing.scripted_provider import ScriptedProvider

KEY = "sk-scripted-0123456789abcdef"
# In a run of their own: the package leaves event loops behind, which would fail whichever test comes next.
NO_LITELLM = "what providers do through litellm is NOT TESTED in this run: make litellm"
needs_litellm = pytest.mark.skipif(
    "MEMORANDA_TEST_LITELLM" not in os.environ or importlib.util.find_spec("litellm") is None, reason=NO_LITELLM
)
# What the package warns of in its own code is not ours to fail for.
its_own_warnings = pytest.mark.filterwarnings("ignore")


@dataclass(frozen=True, slots=True)
class Backend:
    """One way to the scripted server; each makes a provider with a key and a timeout in seconds."""

    name: str
    chat: Callable[[str, float], ChatModel]
    embedder: Callable[[str, float], Embedder]


def _by_openai() -> Backend:
    from memoranda.providers.openai_compatible import OpenAIChatModel, OpenAIEmbedder

    return Backend(
        "openai",
        lambda url, timeout: OpenAIChatModel("scripted", base_url=url, api_key=KEY, timeout=timeout),
        lambda url, timeout: OpenAIEmbedder("scripted", base_url=url, api_key=KEY, timeout=timeout),
    )


def _by_litellm() -> Backend:
    from memoranda.providers.litellm_provider import LiteLLMChatModel, LiteLLMEmbedder, LiteLLMSettings

    def settings(url: str, timeout: float) -> LiteLLMSettings:
        return LiteLLMSettings(base_url=url, api_key=KEY, timeout=timeout)

    return Backend(
        "litellm",
        lambda url, timeout: LiteLLMChatModel("openai/scripted", settings(url, timeout)),
        lambda url, timeout: LiteLLMEmbedder("openai/scripted", settings(url, timeout)),
    )


_BACKENDS = {"openai": _by_openai, "litellm": _by_litellm}


@pytest.fixture(params=["openai", pytest.param("litellm", marks=[needs_litellm, its_own_warnings])])
def backend(request: pytest.FixtureRequest) -> Backend:
    return _BACKENDS[request.param]()


@pytest.fixture(autouse=True)
def clients_of_litellm_are_closed() -> Iterator[None]:
    """Close what the package keeps open for the next call, which here goes to another server."""
    yield
    package = sys.modules.get("litellm")
    if package is not None:
        kept = package.in_memory_llm_clients_cache
        for client in kept.cache_dict.values():
            getattr(client, "close", lambda: None)()
        kept.flush_cache()


@pytest.fixture
def server() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def no_keys_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the caller's keys, so that a test sees its own alone."""
    names = {*KEY_VARIABLES.values(), "LLM_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"}
    for name in names & os.environ.keys():
        monkeypatch.delenv(name)
