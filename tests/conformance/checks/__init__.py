"""What the original SDK must get from the server, method by method; importing this package registers every check."""

from __future__ import annotations

from tests.conformance.checks import (
    contexts,
    custom_types,
    edges,
    episodes,
    filters,
    procedures,
    scopes,
    searching,
    semantic,
    taxonomy,
    turns,
)

__all__ = [
    "contexts",
    "custom_types",
    "edges",
    "episodes",
    "filters",
    "procedures",
    "scopes",
    "searching",
    "semantic",
    "taxonomy",
    "turns",
]
