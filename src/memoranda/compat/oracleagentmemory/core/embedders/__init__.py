"""Embedding models."""

from memoranda.compat.oracleagentmemory.absent import absent
from memoranda.threads import Embedder

OracleDBEmbedder = absent("OracleDBEmbedder")

__all__ = [
    "Embedder",
    "OracleDBEmbedder",
]
