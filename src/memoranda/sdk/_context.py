"""Contexts: what an agent is given for its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memoranda.sdk._handle import Handle
from memoranda.sdk._values import given
from memoranda.sdk.identity import is_blank
from memoranda.sdk.models import ContextResponse, FormatStyle, RetrievalMode, SourceSpec
from memoranda.sdk.validation import (
    read_options,
    require_positive_max_tokens,
    require_session_for_stm,
    require_valid_format_style,
    require_valid_sources,
)


class Contexts(Handle):
    """The part of `Memory` that assembles contexts."""

    def build_context(
        self,
        query: str,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        metadata_filter: dict[str, Any] | None = None,
        enabled_sources: set[str] | None = None,
        *,
        thread_id: str | None = None,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        mode: RetrievalMode | str | None = None,
        top_k: int | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> ContextResponse:
        """Assemble a context for `query` from the enabled sources (default: episodic and semantic).

        `max_tokens` is an upper bound on the whole; `include_memories` adds the chunks that were used, and `explain`
        tells on each how it was found. `mode` (default hybrid) and `top_k` (default 50, at most 200) hold for every
        source; with a `mode` the metadata tells how each source was searched. With `as_of`, memories are those that
        held at that time, and turns those said by then. `thread_id` is a deprecated name for `session_id`.
        """
        require_positive_max_tokens(max_tokens)
        require_valid_format_style(format_style)
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        who = self._reader(user_id=user_id, session_id=_session(session_id, thread_id), visibility=visibility)
        return self._connection.runtime.build_context(
            query=query,
            user_id=who.user_id,
            session_id=who.session_id,
            visibility=visibility,
            metadata_filter=metadata_filter,
            enabled_sources=enabled_sources,
            **given(max_tokens=max_tokens, format_style=format_style, include_memories=include_memories, top_k=top_k),
            **options,
        )

    def build_context_from_sources(
        self,
        query: str,
        sources: Sequence[SourceSpec],
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        rerank: bool = False,
        thread_id: str | None = None,
        max_tokens: int | None = None,
        format_style: FormatStyle | str | None = None,
        include_memories: bool = False,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> ContextResponse:
        """Assemble a context with search mode, filter and size set for each source.

        A source that failed or was degraded is told in `metadata.source_outcomes`. Turns (`stm`) need a session.
        """
        require_positive_max_tokens(max_tokens)
        require_valid_format_style(format_style)
        require_valid_sources(sources)
        options = read_options(
            query_embedding=query_embedding, include_superseded=include_superseded, as_of=as_of, explain=explain
        )
        who = self._reader(user_id=user_id, session_id=_session(session_id, thread_id), visibility=visibility)
        require_session_for_stm(sources, who.session_id)
        return self._connection.runtime.build_context_from_sources(
            query=query,
            sources=sources,
            user_id=who.user_id,
            session_id=who.session_id,
            visibility=visibility,
            rerank=rerank,
            max_tokens=max_tokens,
            **given(format_style=format_style, include_memories=include_memories),
            **options,
        )


def _session(session_id: str | None, thread_id: str | None) -> str | None:
    return thread_id if is_blank(session_id) else session_id
