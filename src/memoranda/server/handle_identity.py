"""Who the handle of a caller is for, on the routes whose shared form has no place for it.

Custom types and domains carry no identity in their bodies, where other platforms add what they know of the running
agent. Our client tells it in two headers, percent-encoded; a body or query that names somebody wins over them.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header

from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.identity import is_blank
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.server.errors import INVALID_REQUEST
from memoranda.server.paths import decoded

USER_HEADER = "X-Memoranda-User-Id"
AGENT_HEADER = "X-Memoranda-Agent-Id"

_User = Annotated[
    str | None,
    Header(alias=USER_HEADER, description="The user that the call is for, percent-encoded, unless one is named."),
]
_Agent = Annotated[
    str | None,
    Header(alias=AGENT_HEADER, description="The agent that makes the call, percent-encoded, unless one is named."),
]


async def _user_of_handle(user: _User = None) -> MemoryRequestContext:
    return MemoryRequestContext(user_id=_text(USER_HEADER, user))


async def _handle(user: _User = None, agent: _Agent = None) -> MemoryRequestContext:
    return MemoryRequestContext(user_id=_text(USER_HEADER, user), agent_id=_text(AGENT_HEADER, agent))


HandleUser = Annotated[MemoryRequestContext, Depends(_user_of_handle)]
"""The type of a handler's parameter ``handle`` on a read: only its user matters."""
HandleIdentity = Annotated[MemoryRequestContext, Depends(_handle)]
"""The type of a handler's parameter ``handle`` on a write: user and agent."""


def named_or(named: str | None, of_handle: str | None) -> str | None:
    """Return who the request names, else who its handle is for; blank is nobody."""
    return of_handle if is_blank(named) else named


def _text(name: str, value: str | None) -> str | None:
    try:
        return None if value is None else decoded(value)
    except ValueError as error:
        raise MemoryBadRequestError(
            f"header.{name}: is not percent-encoded UTF-8", status=400, code=INVALID_REQUEST
        ) from error
