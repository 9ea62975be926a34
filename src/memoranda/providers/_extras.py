"""The packages of the extras, imported when a provider that needs one is named; a missing one names the remedy."""

from __future__ import annotations

import importlib
from types import ModuleType

from memoranda.providers._secrets import keep_litellm_offline
from memoranda.sdk.errors import MemoryNotSupportedError


def openai_package() -> ModuleType:
    """Return the ``openai`` package; raises ``MemoryNotSupportedError`` where it is not installed."""
    return _package("openai")


def litellm_package() -> ModuleType:
    """Return the ``litellm`` package, which then talks to nobody but the provider that is asked."""
    keep_litellm_offline()
    return _package("litellm")


def _package(extra: str) -> ModuleType:
    try:
        return importlib.import_module(extra)
    except ModuleNotFoundError as error:
        if error.name != extra:
            raise
        raise MemoryNotSupportedError(
            f"this provider needs the package {extra!r}, which is not installed: pip install 'memoranda[{extra}]'"
        ) from error
