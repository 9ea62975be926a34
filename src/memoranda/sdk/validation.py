"""Checks of arguments that need no engine: they run in the facade, before anything is attempted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoranda.sdk._values import given, parse_time, parse_ttl_days, parse_vector
from memoranda.sdk.errors import MemoryIdentityError
from memoranda.sdk.identity import is_blank
from memoranda.sdk.models import FormatStyle, MemorySource, RetrievalMode, SourceSpec

__all__ = [
    "require_positive_max_tokens",
    "require_session_for_stm",
    "require_text",
    "require_valid_format_style",
    "require_valid_sources",
]

_FORMAT_STYLES = sorted(style.value for style in FormatStyle)


def require_positive_max_tokens(max_tokens: int | None) -> None:
    """Raise ValueError unless `max_tokens` is None or exactly an int above 0 (a bool is not)."""
    if max_tokens is not None and (type(max_tokens) is not int or max_tokens <= 0):
        raise ValueError(f"max_tokens must be a positive integer, got {max_tokens!r}")


def require_valid_format_style(format_style: FormatStyle | str | None) -> None:
    """Raise ValueError unless the style is None or one of `FormatStyle`, in any case of letters."""
    if format_style is not None and format_style.lower() not in _FORMAT_STYLES:
        raise ValueError(f"format_style must be one of: {', '.join(_FORMAT_STYLES)}; got {format_style!r}")


def require_valid_sources(sources: Sequence[SourceSpec]) -> None:
    """Raise ValueError when there is no source, or one is listed twice."""
    if not sources:
        raise ValueError("sources must contain at least one SourceSpec")
    names = [spec.source for spec in sources]
    if len(set(names)) != len(names):
        raise ValueError("each source may be listed at most once in 'sources'")


def require_session_for_stm(sources: Sequence[SourceSpec], session_id: str | None) -> None:
    """Raise MemoryIdentityError when turns are asked for and no session is known."""
    if is_blank(session_id) and any(spec.source == MemorySource.STM.value for spec in sources):
        raise MemoryIdentityError("the 'stm' source requires a session_id; pass session_id= or bind one")


def require_text(**values: object) -> None:
    """Raise ValueError naming the first value that is not a string with something in it."""
    for name, value in values.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name} must be a non-empty string, got {value!r}")


def write_options(
    *,
    timestamp: object = None,
    ttl_days: object = None,
    idempotency_key: str | None = None,
    embedding: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return the options of a write that were given, in the runtime's form; ValueError for a bad one."""
    return given(
        timestamp=None if timestamp is None else parse_time(timestamp),
        ttl_days=None if ttl_days is None else parse_ttl_days(ttl_days),
        idempotency_key=idempotency_key,
        embedding=None if embedding is None else parse_vector(embedding, "embedding"),
    )


def read_options(
    *,
    mode: RetrievalMode | str | None = None,
    query_embedding: Sequence[float] | None = None,
    include_superseded: bool = False,
    as_of: object = None,
    explain: bool = False,
) -> dict[str, Any]:
    """Return the options of a read that were given, in the runtime's form; ValueError for a bad one."""
    return given(
        mode=None if mode is None else _mode(mode),
        query_embedding=None if query_embedding is None else parse_vector(query_embedding, "query_embedding"),
        include_superseded=include_superseded,
        explain=explain,
        **as_of_option(as_of),
    )


def as_of_option(as_of: object) -> dict[str, Any]:
    """Return the moment of a past read, when one was given."""
    return given(as_of=None if as_of is None else parse_time(as_of, "as_of"))


def _mode(mode: RetrievalMode | str) -> RetrievalMode:
    try:
        return RetrievalMode(mode)
    except ValueError as error:
        known = ", ".join(each.value for each in RetrievalMode)
        raise ValueError(f"mode must be one of: {known}; got {mode!r}") from error
