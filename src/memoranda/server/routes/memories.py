"""Memories of any kind: in bulk, in pages, by id, through time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.models import CustomInput, DeletionReport, MemoryEntry, MemoryInput, MemoryPage
from memoranda.server.answers import answer
from memoranda.server.bodies import read_json
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs, require_places
from memoranda.server.documents import Tag, told
from memoranda.server.errors import InvalidRequestError, RefusedBodyError
from memoranda.server.examples import DELETION, ITEM_RESULT, MEMORY
from memoranda.server.schemas.base import Json
from memoranda.server.schemas.management import (
    History,
    ItemResults,
    MemoriesBody,
    MemoriesQuery,
    MemoryQuery,
    UpdateBody,
    UserQuery,
)

router = APIRouter(route_class=MemoryRoute)


@router.post("/memories/bulk", **told(Tag.MEMORIES, {"results": [ITEM_RESULT]}, model=ItemResults, errors=(409,)))
@needs(Right.WRITE)
def save_many(call: TheCall, body: MemoriesBody) -> Response:
    """Save memories of any kinds in order, all or none."""
    items = _for_their_users(call, body.items)
    return answer({"results": call.runtime.save_many(items=items)})


def _for_their_users(call: Call, items: Sequence[MemoryInput]) -> list[MemoryInput]:
    found = [item.model_copy(update={"user_id": call.writer(item.user_id)}) for item in items]
    require_places("items", [{} if isinstance(item, CustomInput) else {"user_id": item.user_id} for item in found])
    return found


@router.get("/memories", **told(Tag.MEMORIES, {"items": [MEMORY], "next_cursor": None}, model=MemoryPage))
@needs(Right.READ)
def list_memories(call: TheCall, query: Annotated[MemoriesQuery, Query()]) -> Response:
    """Return a page of memories, latest first; conditions combine with AND, `next_cursor` leads to the next page."""
    user_id = call.reader(query.user_id, query.visibility)
    narrowed = {"user_id": user_id, "metadata_filter": _filter(query.metadata_filter)}
    return answer(call.runtime.list_memories(**{**dict(query), **narrowed}))


def _filter(text: str | None) -> Json | None:
    if text is None:
        return None
    try:
        value = read_json(text.encode("utf-8", "surrogatepass"))
    except RefusedBodyError as error:
        raise InvalidRequestError({"query.metadata_filter": "is not JSON"}) from error
    if not isinstance(value, dict):
        raise InvalidRequestError({"query.metadata_filter": "must be the JSON text of an object"})
    return value


@router.get("/memories/{memory_id}", **told(Tag.MEMORIES, MEMORY, model=MemoryEntry))
@needs(Right.READ)
def get_memory(call: TheCall, memory_id: str, query: Annotated[MemoryQuery, Query()]) -> Response:
    """Return a memory of any kind and status, as it was at `as_of` when given."""
    found = call.runtime.get_memory(memory_id=memory_id, user_id=call.reader(query.user_id), as_of=query.as_of)
    if found is None:
        raise MemoryNotFoundError(f"there is no memory {memory_id!r} that this call may see", code="NOT_FOUND")
    return answer(found)


@router.patch("/memories/{memory_id}", **told(Tag.MEMORIES, MEMORY, model=MemoryEntry, errors=(409,)))
@needs(Right.WRITE)
def update_memory(call: TheCall, memory_id: str, body: UpdateBody, query: Annotated[UserQuery, Query()]) -> Response:
    """Change what the body names, null included, and return the new version; the id stays."""
    user_id = call.writer(query.user_id)
    return answer(call.runtime.update_memory(memory_id=memory_id, user_id=user_id, update=body))


@router.delete("/memories/{memory_id}", **told(Tag.DELETION, DELETION, model=DeletionReport))
@needs(Right.WRITE)
def delete_memory(call: TheCall, memory_id: str, query: Annotated[UserQuery, Query()]) -> Response:
    """Remove a memory with its history, links and index rows."""
    return answer(call.runtime.delete_memory(memory_id=memory_id, user_id=call.writer(query.user_id)))


@router.get("/memories/{memory_id}/history", **told(Tag.MEMORIES, {"entries": [MEMORY]}, model=History))
@needs(Right.READ)
def memory_history(call: TheCall, memory_id: str, query: Annotated[UserQuery, Query()]) -> Response:
    """Return every state of a memory and of what it superseded, oldest first."""
    return answer({"entries": call.runtime.history(memory_id=memory_id, user_id=call.reader(query.user_id))})
