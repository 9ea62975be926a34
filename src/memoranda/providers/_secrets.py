"""The environment variables of the providers, read here and nowhere else; values never reach a log or a message."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GENERIC_KEY: Final = "LLM_API_KEY"
OPENAI_BASE_URL: Final = "OPENAI_BASE_URL"
KEY_VARIABLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai": "OPENAI_API_KEY",
        "anthropic": "ANTHROPIC_API_KEY",
        "gemini": "GEMINI_API_KEY",
        "cerebras": "CEREBRAS_API_KEY",
        "voyage": "VOYAGE_API_KEY",
        "cohere": "COHERE_API_KEY",
        "jina": "JINA_API_KEY",
    }
)
"""The variable of each provider's own name."""

_FOR_LITELLM: Final = MappingProxyType({"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"})


def variable(name: str) -> str | None:
    """Return an environment variable as it is now; a blank one is None."""
    value = (os.environ.get(name) or "").strip()
    return value or None


def own_key(provider: str) -> str | None:
    """Return the key in the variable of the provider's own name."""
    return variable(KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY"))


def model_key(provider: str, secret_name: str | None) -> str | None:
    """Return the key of a language model: the named variable alone, else ``LLM_API_KEY``, else the provider's own."""
    if secret_name:
        return variable(secret_name)
    return variable(GENERIC_KEY) or own_key(provider)


def keep_litellm_offline() -> None:
    """Have litellm read its own list of models instead of fetching one; settings of the caller stay."""
    for name, value in _FOR_LITELLM.items():
        os.environ.setdefault(name, value)
