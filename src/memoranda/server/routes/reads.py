"""Contexts and searches."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from memoranda.sdk.models import ContextResponse, MemoryChunk
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.errors import InvalidRequestError
from memoranda.server.examples import CHUNKS, CONTEXT, SOURCES_CONTEXT
from memoranda.server.schemas.reads import (
    ContextBody,
    Kind,
    KindSearchBody,
    SearchBody,
    SearchResult,
    SourcesBody,
    misplaced,
)

router = APIRouter(route_class=MemoryRoute)
native = APIRouter(route_class=MemoryRoute)

_CONTEXT: dict[str, Any] = told(Tag.READING, CONTEXT, model=ContextResponse)


@router.post("/context", **_CONTEXT)
@native.post("/retrieval/context", **_CONTEXT)
@needs(Right.READ)
def build_context(call: TheCall, body: ContextBody) -> Response:
    """Assemble a context from the enabled sources (default: episodic and semantic), all with one filter."""
    user_id = call.reader(body.user_id, body.visibility)
    return answer(call.runtime.build_context(user_id=user_id, **body.arguments()))


@native.post("/retrieval/context-from-sources", **told(Tag.READING, SOURCES_CONTEXT, model=ContextResponse))
@needs(Right.READ)
def build_context_from_sources(call: TheCall, body: SourcesBody) -> Response:
    """Assemble a context with mode, filter and size set per source; 503 when no source could be searched."""
    user_id = call.reader(body.user_id, body.visibility)
    return answer(call.runtime.build_context_from_sources(user_id=user_id, **body.arguments()))


@router.post("/search", **told(Tag.READING, CHUNKS, model=SearchResult))
@needs(Right.READ)
def search(call: TheCall, body: SearchBody) -> Response:
    """Return the best memories of one kind, best first; a field that the kind does not take is refused."""
    return _found(call, body.type, body)


@native.post("/retrieval/{kind}", **told(Tag.READING, CHUNKS, model=SearchResult))
@needs(Right.READ)
def search_kind(call: TheCall, kind: Kind, body: KindSearchBody) -> Response:
    """Return the best memories of the kind in the path, best first."""
    return _found(call, kind, body)


def _found(call: Call, kind: Kind, body: KindSearchBody) -> Response:
    if wrong := misplaced(kind, body):
        raise InvalidRequestError(wrong)
    user_id = call.reader(body.user_id, body.visibility)
    return answer({"memories": _search(call, kind, {"user_id": user_id, **body.arguments(kind)})})


def _search(call: Call, kind: Kind, asked: dict[str, Any]) -> list[MemoryChunk]:
    if kind == "semantic":
        return call.runtime.search_semantic(**asked)
    if kind == "episodic":
        return call.runtime.search_episodes(**asked)
    if kind == "taxonomic":
        return call.runtime.search_taxonomic(**asked)
    return call.runtime.search_procedures(**asked)
