"""Every way in which a request can end without success, and what the caller is told: one table.

A body has ``detail`` and ``error`` (the same text), ``code`` (stable, upper snake case) and ``type`` (the
``error_code`` of the class of ``memoranda.sdk.errors`` that the SDK raises for it).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from memoranda._version import __version__
from memoranda.sdk.errors import (
    MemoryAPIError,
    MemoryAuthError,
    MemoryBadRequestError,
    MemoryClientError,
    MemoryConflictError,
    MemoryConnectionError,
    MemoryIdentityError,
    MemoryNotFoundError,
    MemoryNotProvisionedError,
    MemoryNotSupportedError,
    MemoryRouteNotFoundError,
    MemoryServerError,
    MemoryStoreError,
)
from memoranda.server.paths import VERSION_HEADER
from memoranda.server.problems import problems_of, told

logger = logging.getLogger(__name__)

INVALID_REQUEST: Final = "INVALID_REQUEST"
BAD_REQUEST: Final = MemoryBadRequestError.error_code

STATUS_OF_CLASS: Final[Mapping[type[Exception], int]] = {
    MemoryIdentityError: 400,
    MemoryClientError: 400,
    MemoryAuthError: 403,
    MemoryNotProvisionedError: 503,
    MemoryRouteNotFoundError: 404,
    MemoryNotFoundError: 404,
    MemoryConflictError: 409,
    MemoryBadRequestError: 400,
    MemoryStoreError: 503,
    MemoryConnectionError: 503,
    MemoryServerError: 500,
    MemoryAPIError: 500,
}
"""The status of each class; a subclass that is not named has that of the nearest class above it."""

STATUS_OF_CODE: Final[Mapping[str, int]] = {
    "UNKNOWN_MEMORY_TYPE": 404,
    "ALL_SOURCES_FAILED": 503,
    INVALID_REQUEST: 422,
}
"""Codes whose status is not that of their class."""

STATUSES_OF_AUTH: Final = (401, 403, 429)
"""The statuses that an error of access may carry itself."""


class InvalidRequestError(MemoryBadRequestError):
    """Fields of a request that cannot be: ``problems`` are the fields (``body.top_k``) and what is wrong with each."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__(told(problems), status=422, code=INVALID_REQUEST)


class CustomTypesDisabledError(MemoryNotSupportedError):
    """The project declares no custom type. Clients know this by its words."""

    code: Final = "CUSTOM_TYPES_DISABLED"

    def __init__(self) -> None:
        super().__init__(
            "custom_memory_types is not enabled for this project: declare a type in its configuration "
            "(memory.custom_memory_types)"
        )


class RefusedBodyError(HTTPException):
    """A body that is not read or cannot be."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(status_code=status, detail=detail)
        self.code = code


def status_of(error: Exception) -> int:
    """Return the status of an error of ours."""
    given = getattr(error, "status", None)
    if given is not None and (not isinstance(error, MemoryAuthError) or given in STATUSES_OF_AUTH):
        return int(given)
    by_code = STATUS_OF_CODE.get(getattr(error, "code", None) or "")
    if by_code is not None:
        return by_code
    return next((STATUS_OF_CLASS[each] for each in type(error).__mro__ if each in STATUS_OF_CLASS), 500)


def answer_error(
    status: int, message: str, *, code: str, error_type: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the body of an error."""
    body = {"detail": message, "error": message, "code": code, "type": error_type}
    return JSONResponse(body, status_code=status, headers=None if headers is None else dict(headers))


def add_error_handlers(app: FastAPI) -> None:
    """Have the app answer every error by this table."""
    for error_class in (MemoryAPIError, MemoryClientError, MemoryIdentityError):
        app.add_exception_handler(error_class, _of_memory)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(StarletteHTTPException, _of_http)
    app.add_exception_handler(Exception, _unexpected)


async def _of_memory(request: Request, error: Exception) -> JSONResponse:
    status, error_type = status_of(error), str(getattr(error, "error_code", BAD_REQUEST))
    message = str(getattr(error, "message", error))
    if isinstance(error, MemoryStoreError) and error.status is None:
        # Its words name files of the server: they are for the operator.
        logger.error("server.store_failed", extra={"reason": message})
        message = "the store cannot be used at the moment; try again, and see the server's log if it lasts"
    code = getattr(error, "code", None) or error_type
    return answer_error(status, message, code=code, error_type=error_type, headers=_headers(status, error))


def _headers(status: int, error: Exception) -> Mapping[str, str] | None:
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        return {"Retry-After": str(retry_after)}
    if status != 401:
        return None
    # RFC 6750: no error is named where no token was shown.
    shown = "" if getattr(error, "code", None) == "TOKEN_MISSING" else ', error="invalid_token"'
    return {"WWW-Authenticate": f'Bearer realm="memoranda"{shown}'}


async def _of_validation(request: Request, error: Exception) -> JSONResponse:
    found = problems_of(error.errors()) if isinstance(error, RequestValidationError) else {}
    return answer_error(422, told(found), code=INVALID_REQUEST, error_type=BAD_REQUEST)


async def _of_http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, StarletteHTTPException):
        raise error
    status, detail, code, error_type = error.status_code, str(error.detail), INVALID_REQUEST, BAD_REQUEST
    if isinstance(error, RefusedBodyError):
        code = error.code
    elif status == 404:
        code = error_type = MemoryRouteNotFoundError.error_code
        detail = f"there is no route {request.method} {request.url.path[:200]} here: check the path and the project id"
    elif status == 405:
        code = "METHOD_NOT_ALLOWED"
        detail = f"{request.url.path[:200]} does not take {request.method}"
    return answer_error(status, detail, code=code, error_type=error_type, headers=error.headers)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    logger.error("server.unexpected_error", extra={"error": type(error).__name__})
    message = "the server failed at this request; its log says more"
    # This answer does not pass the layer that stamps the others.
    stamp = {VERSION_HEADER: __version__}
    return answer_error(500, message, code="INTERNAL", error_type=MemoryServerError.error_code, headers=stamp)
