"""Memories of the types that a project declares."""

from __future__ import annotations

from fastapi import APIRouter, Response

from memoranda.sdk.identity import is_blank
from memoranda.sdk.models import CustomMemoryRetrieveResult, CustomMemorySaveResult
from memoranda.server.answers import answer
from memoranda.server.dependencies import MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.examples import CUSTOM_FOUND, CUSTOM_SAVED
from memoranda.server.handle_identity import HandleIdentity, HandleUser, named_or
from memoranda.server.schemas.base import named_only
from memoranda.server.schemas.records import CustomBody, RetrieveBody

native = APIRouter(route_class=MemoryRoute)


@native.post("/types/{memory_type}", **told(Tag.CUSTOM, CUSTOM_SAVED, model=CustomMemorySaveResult, errors=(409,)))
@needs(Right.WRITE)
def create_custom(call: TheCall, memory_type: str, body: CustomBody, handle: HandleIdentity) -> Response:
    """Save a memory of a declared type, for the user that the token speaks for or the call names, if any."""
    call.require_custom_types()
    user_id = call.writer(named_or(body.user_id, handle.user_id))
    arguments = body.arguments() | {"agent_id": named_or(body.agent_id, handle.agent_id)}
    return answer(call.runtime.create_custom(memory_type=memory_type, user_id=user_id, **arguments))


@native.post("/types/{memory_type}/retrieve", **told(Tag.CUSTOM, CUSTOM_FOUND, model=CustomMemoryRetrieveResult))
@needs(Right.READ)
def retrieve_custom(call: TheCall, memory_type: str, body: RetrieveBody, handle: HandleUser) -> Response:
    """Return the best memories of a declared type; without a user no private memory of anybody is found."""
    call.require_custom_types()
    user_id = call.reader(named_or(body.user_id, handle.user_id), body.visibility)
    found = call.runtime.retrieve_custom(
        memory_type=memory_type,
        query=body.query,
        user_id=user_id,
        visibility=body.visibility,
        owned=not is_blank(user_id),
        **named_only(body, "tags", "top_k"),
        **body.options(),
    )
    return answer(found)
