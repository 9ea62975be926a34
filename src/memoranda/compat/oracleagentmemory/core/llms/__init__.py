"""Language models."""

from memoranda.threads import Llm, LlmApiType

__all__ = [
    "Llm",
    "LlmApiType",
]
