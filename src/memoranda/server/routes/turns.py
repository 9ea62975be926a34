"""Recording turns, and reading and deleting them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.models import DeletionReport, TurnEntry, TurnInput, TurnPage, WriteTurnResult
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs, require_places
from memoranda.server.documents import Tag, told
from memoranda.server.examples import DELETION, TURN, TURN_RESULT
from memoranda.server.schemas.management import TurnResults, UserQuery
from memoranda.server.schemas.turns import TurnBody, TurnsBody, TurnsQuery
from memoranda.server.turn_writer import TurnWriter


async def _turn_writer(request: Request) -> TurnWriter:
    writer: TurnWriter = request.app.state.turn_writer
    return writer


TheTurnWriter = Annotated[TurnWriter, Depends(_turn_writer)]

router = APIRouter(route_class=MemoryRoute)
native = APIRouter(route_class=MemoryRoute)

_RECORDED: dict[str, Any] = told(Tag.TURNS, TURN_RESULT, model=WriteTurnResult, errors=(409,))


@router.post("/turns", **_RECORDED)
@native.post("/stm/turns", **_RECORDED)
@needs(Right.WRITE, runtime=False)
async def record_turn(call: TheCall, writer: TheTurnWriter, body: TurnBody) -> Response:
    """Store one turn. When this answers it is durable; the same idempotency key in the session gives the same turn."""
    return answer(await writer.record(call, body))


@router.post("/turns/bulk", **told(Tag.TURNS, {"results": [TURN_RESULT]}, model=TurnResults, errors=(409,)))
@needs(Right.WRITE)
def record_turns(call: TheCall, body: TurnsBody) -> Response:
    """Store turns in order, all or none."""
    turns = _for_their_users(call, body.turns)
    return answer({"results": call.runtime.record_turns(turns=turns)})


def _for_their_users(call: Call, turns: Sequence[TurnInput]) -> list[TurnInput]:
    found = [turn.model_copy(update={"user_id": call.writer(turn.user_id)}) for turn in turns]
    require_places("turns", [{"session_id": turn.session_id, "user_id": turn.user_id} for turn in found])
    return found


@router.get("/turns", **told(Tag.TURNS, {"items": [TURN], "next_cursor": None}, model=TurnPage))
@needs(Right.READ)
def list_turns(call: TheCall, query: Annotated[TurnsQuery, Query()]) -> Response:
    """Return a page of turns in session order; `next_cursor` leads to the next."""
    user_id = call.reader(query.user_id)
    return answer(call.runtime.list_turns(**{**dict(query), "user_id": user_id}))


@router.get("/turns/{turn_id}", **told(Tag.TURNS, TURN, model=TurnEntry))
@needs(Right.READ)
def get_turn(call: TheCall, turn_id: str, query: Annotated[UserQuery, Query()]) -> Response:
    """Return a turn."""
    found = call.runtime.get_turn(turn_id=turn_id, user_id=call.reader(query.user_id))
    if found is None:
        raise MemoryNotFoundError(f"there is no turn {turn_id!r} that this call may see", code="NOT_FOUND")
    return answer(found)


@router.delete("/turns/{turn_id}", **told(Tag.DELETION, DELETION, model=DeletionReport))
@needs(Right.WRITE)
def delete_turn(call: TheCall, turn_id: str, query: Annotated[UserQuery, Query()]) -> Response:
    """Remove a turn and what was derived from it alone."""
    return answer(call.runtime.delete_turn(turn_id=turn_id, user_id=call.writer(query.user_id)))


@router.delete("/sessions/{session_id}", **told(Tag.DELETION, DELETION, model=DeletionReport))
@needs(Right.WRITE)
def delete_session(call: TheCall, session_id: str, query: Annotated[UserQuery, Query()]) -> Response:
    """Remove a session and what was derived from it alone; without `user_id`, of every user who has that id."""
    return answer(call.runtime.delete_session(session_id=session_id, user_id=call.writer(query.user_id)))


@router.delete("/users/{user_id}", **told(Tag.DELETION, DELETION, model=DeletionReport))
@needs(Right.WRITE)
def delete_user(call: TheCall, user_id: str) -> Response:
    """Remove everything of a user, at any visibility."""
    return answer(call.runtime.delete_user(user_id=call.user(user_id) or ""))
