"""What a handler is given: the call, admitted, with the runtime of its project and the rules of identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.types import Scope

from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.runtime import EngineRuntime
from memoranda.sdk.errors import MemoryAuthError, MemoryBadRequestError, MemoryIdentityError
from memoranda.sdk.identity import is_blank
from memoranda.server.access.principal import Gatekeeper, OpenGatekeeper, Principal
from memoranda.server.bodies import JsonRequest
from memoranda.server.errors import INVALID_REQUEST, CustomTypesDisabledError, InvalidRequestError
from memoranda.server.paths import decoded

_P = ParamSpec("_P")
_R = TypeVar("_R")
_CALL = "memoranda.call"
_RIGHT = "memoranda_right"


class Right(StrEnum):
    """What a route needs of its caller. Who speaks for one end user has no right to the whole project."""

    READ = "read"
    WRITE = "write"
    READ_ALL = "read the whole project"
    WRITE_ALL = "change the whole project"
    MANAGE = "manage the project"


@dataclass(slots=True)
class Call:
    """One admitted request. ``runtime`` is leased while the handler runs, and no longer."""

    host: EngineHost
    principal: Principal
    leased: EngineRuntime | None = None

    @property
    def runtime(self) -> EngineRuntime:
        if self.leased is None:
            raise AssertionError("the runtime is there while a handler runs; a stream takes a lease of its own")
        return self.leased

    def user(self, user_id: str | None) -> str | None:
        """Return the user that a call is for: the one named (blank is none), else the one the caller speaks for.

        Raises ``MemoryAuthError`` (403, ``IDENTITY_MISMATCH``) when the caller speaks for another.
        """
        named, own = None if is_blank(user_id) else user_id, self.principal.user_id
        if own is not None and named not in (None, own):
            raise MemoryAuthError(
                "this token speaks for one user, and the request names another: leave user_id out",
                status=403,
                code="IDENTITY_MISMATCH",
            )
        return own if named is None else named

    def reader(self, user_id: str | None, visibility: str | None = None) -> str | None:
        """Return the user that a read is for; where identity is enforced it names a user or a visibility."""
        user = self.user(user_id)
        if user is None and is_blank(visibility) and self.runtime.engine.config.identity.enforce:
            raise MemoryIdentityError("this project enforces identity: name a user_id, a visibility, or both")
        return user

    def writer(self, user_id: str | None) -> str | None:
        """Return the user that a change is for; where identity is enforced there is one, except for an owner."""
        user = self.user(user_id)
        enforced = self.runtime.engine.config.identity.enforce and not self.principal.can_manage
        if user is None and enforced:
            raise MemoryIdentityError("this project enforces identity: name the user_id that the change is for")
        return user

    def require_custom_types(self) -> None:
        """Raise ``CustomTypesDisabledError`` where the project declares none."""
        if not self.runtime.engine.config.custom_memory_types:
            raise CustomTypesDisabledError


async def _the_call(request: Request) -> Call:
    call: Call = request.scope[_CALL]
    return call


TheCall = Annotated[Call, Depends(_the_call)]
"""The type of a handler's parameter ``call``."""


def needs(right: Right, *, runtime: bool = True) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a handler: what its callers need, and the lease of the runtime around it, when it needs one."""

    def decorate(handler: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(handler)
        def leased(*args: _P.args, **given: _P.kwargs) -> _R:
            call: Any = given["call"]
            with call.host.runtime(call.principal.project_id) as runtime:
                call.leased = runtime
                return handler(*args, **given)

        chosen = leased if runtime else handler
        setattr(chosen, _RIGHT, right)
        return chosen

    return decorate


class MemoryRoute(APIRoute):
    """A route of the memory: the caller is admitted before anything of the request is read.

    Its handler is decorated with ``needs``.
    """

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()
        right: Right = getattr(self.endpoint, _RIGHT)
        takes_body = self.body_field is not None

        async def admitted(request: Request) -> Response:
            scope = request.scope
            _decode_parameters(scope)
            scope[_CALL] = Call(request.app.state.host, await _admit(request))
            require(scope[_CALL].principal, right)
            read = JsonRequest(scope, request.receive)
            if takes_body:
                read.require_json()
            response: Response = await handle(read)
            return response

        return admitted


async def _admit(request: Request) -> Principal:
    gatekeeper: Gatekeeper = request.app.state.gatekeeper
    authorization = request.headers.get("authorization")
    project_id = request.path_params.get("project_id")
    host = request.client.host if request.client else None
    if isinstance(gatekeeper, OpenGatekeeper):
        return gatekeeper.admit(authorization, project_id=project_id, client_host=host)
    return await run_in_threadpool(gatekeeper.admit, authorization, project_id=project_id, client_host=host)


def require(principal: Principal, right: Right) -> None:
    """Raise ``MemoryAuthError`` (403) unless a caller may do what a route does."""
    allowed = {
        Right.READ: principal.can_read,
        Right.READ_ALL: principal.can_read,
        Right.WRITE: principal.can_write,
        Right.WRITE_ALL: principal.can_write,
        Right.MANAGE: principal.can_manage,
    }[right]
    if not allowed:
        roles = ", ".join(sorted(principal.roles)) or "no role"
        raise MemoryAuthError(f"the caller has {roles}, which may not {right}", status=403, code="ROLE_REQUIRED")
    if principal.user_id is not None and right not in (Right.READ, Right.WRITE):
        raise MemoryAuthError(
            f"this token speaks for one user, who may not {right}", status=403, code="WHOLE_PROJECT_REFUSED"
        )


def _decode_parameters(scope: Scope) -> None:
    parameters = scope["path_params"]
    for name, value in parameters.items():
        try:
            parameters[name] = decoded(value)
        except ValueError as error:
            raise MemoryBadRequestError(
                f"path.{name}: is not percent-encoded UTF-8", status=400, code=INVALID_REQUEST
            ) from error


def require_given(**values: str | None) -> None:
    """Raise ``InvalidRequestError`` naming every field of the body that is null, blank or not there."""
    missing = {f"body.{name}": "is required" for name, value in values.items() if is_blank(value)}
    if missing:
        raise InvalidRequestError(missing)


def require_places(name: str, items: Sequence[Mapping[str, str | None]]) -> None:
    """Raise ``InvalidRequestError`` naming what is blank or not there in the items of a list of the body."""
    missing = {
        f"body.{name}[{position}].{field}": "is required"
        for position, item in enumerate(items)
        for field, value in item.items()
        if is_blank(value)
    }
    if missing:
        raise InvalidRequestError(missing)
