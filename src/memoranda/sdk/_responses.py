"""What a response means: its body, or the error that it stands for. Pure; one reading for both colours of the SDK."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

import httpx
from pydantic import BaseModel

from memoranda.sdk import errors
from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryNotProvisionedError,
    MemoryNotSupportedError,
    MemoryRouteNotFoundError,
    MemoryServerError,
)

M = TypeVar("M", bound=BaseModel)
Json: TypeAlias = dict[str, Any]

NOT_PROVISIONED_CODES: Final = frozenset({"AGENT_NOT_DEPLOYED", "NO_WORKSPACE_ENDPOINT", "PROJECT_RUNTIME_FAILED"})
UNKNOWN_TYPE: Final = "unknown custom memory type"
TYPES_OFF: Final = "custom_memory_types is not enabled"

_CLASSES: Final[dict[str, type[Exception]]] = {
    cls.error_code: cls for name in errors.__all__ for cls in [getattr(errors, name)]
}
_HINT: Final = (
    "memory route not found (404). This often means the route shape does not match the backend: {shape}. "
    "It can also mean base_url points at the wrong host."
)
_SCOPED: Final = (
    "project_id is set, so the SDK used a project-scoped memory route; if you are targeting a local or direct OE "
    "backend, unset project_id (or AGENTIC_MEMORY_PROJECT_ID)"
)
_FLAT: Final = (
    "project_id is empty, so the SDK used a flat memory route; if you are targeting the hosted Gateway, set project_id "
    "(or AGENTIC_MEMORY_PROJECT_ID)"
)


class Route(Enum):
    """Whose route it is, which decides what "not there" means."""

    CORE = "every backend has it: a bare 404 means that the routes have another shape"
    PLAIN = "typed records: a 404 is a bad request like any other"
    CUSTOM = "custom types: a backend may not have them, or have them turned off"
    OWN = "only a Memoranda server has it"


# --- bodies


def object_in(response: httpx.Response) -> Json:
    """Return the JSON object of a successful response; MemoryServerError when it holds anything else."""
    try:
        body = response.json()
    except ValueError as error:
        raise _unreadable(response, "is not JSON") from error
    if not isinstance(body, dict):
        raise _unreadable(response, f"is JSON but not an object ({type(body).__name__})")
    return body


def _unreadable(response: httpx.Response, how: str) -> MemoryServerError:
    return MemoryServerError(
        f"the server answered {response.status_code} to {response.request.method} {response.request.url.path} with a "
        f"body that {how}; is base_url that of a memory service?",
        status=response.status_code,
        response_text=response.text,
    )


def core_model(model: type[M], response: httpx.Response) -> M:
    """Return what a core call answers with; a malformed body is the raw error of json or pydantic (ValueErrors)."""
    return model.model_validate(response.json())


def model_in(model: type[M], response: httpx.Response) -> M:
    """Return what any other call answers with."""
    return model.model_validate(object_in(response))


def models_in(model: type[M], response: httpx.Response, name: str) -> list[M]:
    """Return the list of models under `name`, which only a Memoranda server answers with."""
    found = object_in(response).get(name)
    if not isinstance(found, list):
        raise _unreadable(response, f"has no list {name!r}")
    return [model.model_validate(item) for item in found]


def chunks_in(response: httpx.Response) -> list[Any]:
    """Return the raw chunks of a search; none when the key is missing or null."""
    found = object_in(response).get("memories")
    if found is None:
        return []
    if not isinstance(found, list):
        raise _unreadable(response, f"has no list of memories but a {type(found).__name__}")
    return found


def first_entry(response: httpx.Response) -> Any | None:
    """Return the first entry, or None."""
    entries = object_in(response).get("entries")
    return entries[0] if entries else None


def entry_named(response: httpx.Response, name: str, value: str) -> Any | None:
    """Return the first entry whose field is exactly `value`: a server may list more than was asked for."""
    entries = object_in(response).get("entries", [])
    return next((entry for entry in entries if entry.get(name) == value), None)


# --- errors


def error_in(response: httpx.Response, route: Route, *, scoped: bool) -> Exception:
    """Return the error that a response which is no success stands for; `scoped`: the path named a project.

    The status decides first, then the code of a missing service, then what our own server says by the `type` of the
    body, so that a call fails alike in process and over HTTP.
    """
    body = _error_object(response)
    error = _by_status(response, body)
    if isinstance(error, MemoryAuthError | MemoryNotProvisionedError):
        return error
    told = _CLASSES.get(str(body.get("type"))) if body is not None else None
    if told is None or told is MemoryRouteNotFoundError:
        absent = _absent(response, route, error, unknown=told is None, scoped=scoped)
        if absent is not None:
            return absent
    if route is Route.CUSTOM and response.status_code == 400 and TYPES_OFF in error.message:
        return _caused(MemoryNotSupportedError(f"custom memory types are turned off: {error.message}"), error)
    return error if told is None else _rebuilt(told, error)


def _absent(
    response: httpx.Response, route: Route, error: MemoryAPIError, *, unknown: bool, scoped: bool
) -> Exception | None:
    """Return the error for a route that is not there, None when that is not what the response says."""
    status = response.status_code
    if status == 404 and (route is Route.CORE or (route is Route.OWN and not unknown)):
        hint = _HINT.format(shape=_SCOPED if scoped else _FLAT)
        code, text = error.code, error.response_text
        return _caused(MemoryRouteNotFoundError(hint, status=status, code=code, response_text=text), error)
    if status not in (404, 405):
        return None
    if route is Route.CUSTOM and UNKNOWN_TYPE not in error.message:
        return _caused(MemoryNotSupportedError(f"this service has no custom memory types: {error.message}"), error)
    if route is Route.OWN:
        call = f"{response.request.method} {response.request.url.path}"
        return _caused(MemoryNotSupportedError(f"this service has no {call}: only a Memoranda server does"), error)
    return None


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def _rebuilt(told: type[Exception], error: MemoryAPIError) -> Exception:
    if not issubclass(told, MemoryAPIError):
        return told(error.message)
    return told(error.message, status=error.status, code=error.code)


def _by_status(response: httpx.Response, body: Json | None) -> MemoryAPIError:
    if body is None:
        message, code, text = response.text, None, response.text
    else:
        message, code, text = _message(body) or response.text, str(body.get("code") or "") or None, None
    return _class_of(response.status_code, code)(message, status=response.status_code, code=code, response_text=text)


def _class_of(status: int, code: str | None) -> type[MemoryAPIError]:
    if status in (401, 403):
        return MemoryAuthError
    if code in NOT_PROVISIONED_CODES:
        return MemoryNotProvisionedError
    return MemoryBadRequestError if 400 <= status < 500 else MemoryServerError


def _error_object(response: httpx.Response) -> Json | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _message(body: Json) -> str | None:
    detail = body.get("detail")
    found = body.get("error") or body.get("message") or (detail if isinstance(detail, str) else None)
    # Some gateways put a number or an object there; a message is text whatever it was.
    return found if found is None or isinstance(found, str) else json.dumps(found, ensure_ascii=False)
