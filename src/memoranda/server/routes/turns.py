"""Recording turns."""

from __future__ import annotations

from fastapi import APIRouter, Response

from memoranda.server.answers import answer
from memoranda.server.dependencies import MemoryRoute, Right, TheCall, needs, require_given
from memoranda.server.schemas.turns import TurnBody

router = APIRouter(route_class=MemoryRoute)


@router.post("/turns")
@needs(Right.WRITE)
def record_turn(call: TheCall, body: TurnBody) -> Response:
    """Store one turn. When this answers, it is durable; the same idempotency key gives the same turn."""
    user_id = call.writer(body.user_id)
    require_given(user_id=user_id, session_id=body.session_id)
    return answer(call.runtime.record_turn(**{**dict(body), "user_id": user_id}))
