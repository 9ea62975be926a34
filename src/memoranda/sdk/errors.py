"""Every error a caller of Memoranda can see.

::

    ValueError
    ├─ MemoryIdentityError              who the call is for could not be resolved
    └─ MemoryClientError                the call itself is wrong; nothing was attempted
       ├─ MemoryNotSupportedError       this connection cannot do that
       └─ MemoryConfigError             the project configuration is wrong, or changes what may not change
    Exception
    ├─ MemoryReplyNotRecordedError      an agent replied, and its turn could not be recorded
    └─ MemoryAPIError                   the engine or the service refused or failed
       ├─ MemoryAuthError
       ├─ MemoryNotProvisionedError
       ├─ MemoryBadRequestError         asked for something that cannot be done as asked
       │  ├─ MemoryRouteNotFoundError
       │  ├─ MemoryNotFoundError        no such record, turn, session, failure (or not visible to this caller)
       │  └─ MemoryConflictError        the present state refuses it
       │     └─ MemoryEmbedderMismatchError   the store was filled with another embedding model
       ├─ MemoryServerError             nothing wrong with the request
       │  └─ MemoryStoreError           the database could not be opened, read or written
       └─ MemoryConnectionError         no answer at all

`error_code` names each class for machines and never changes; an instance may carry a finer `code`
(`IDEMPOTENCY_CONFLICT` on a `MemoryConflictError`). Embedded use raises the same classes as a remote
service, with `status=None`.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "MemoryAPIError",
    "MemoryAuthError",
    "MemoryBadRequestError",
    "MemoryClientError",
    "MemoryConfigError",
    "MemoryConflictError",
    "MemoryConnectionError",
    "MemoryEmbedderMismatchError",
    "MemoryIdentityError",
    "MemoryNotFoundError",
    "MemoryNotProvisionedError",
    "MemoryNotSupportedError",
    "MemoryReplyNotRecordedError",
    "MemoryRouteNotFoundError",
    "MemoryServerError",
    "MemoryStoreError",
]


class MemoryIdentityError(ValueError):
    """A required identity field (user, agent or session) could not be resolved. Not a `MemoryClientError`."""

    error_code: ClassVar[str] = "IDENTITY_REQUIRED"


class MemoryClientError(ValueError):
    """The call is wrong and was refused before anything was attempted."""

    error_code: ClassVar[str] = "CLIENT_ERROR"


class MemoryNotSupportedError(MemoryClientError):
    """The connection in use cannot perform the operation."""

    error_code: ClassVar[str] = "NOT_SUPPORTED"


class MemoryConfigError(MemoryClientError):
    """The project configuration is invalid, or would change what may never change.

    `path` and `line` (counted from 1) say where, when the configuration came from a file.
    """

    error_code: ClassVar[str] = "CONFIG_INVALID"

    def __init__(self, message: str, *, path: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.path, f"line {self.line}" if self.line else None) if part)
        return f"{place}: {self.message}" if place else self.message


class MemoryReplyNotRecordedError(Exception):
    """An agent that its host ran has replied, and the turn could not be recorded; `__cause__` says why.

    `reply` is what the agent returned (of a stream: the text that was said), so that it can still be delivered, and
    `run_id` the run that may be retried.
    """

    error_code: ClassVar[str] = "REPLY_NOT_RECORDED"

    def __init__(self, cause: BaseException, *, reply: object, run_id: str) -> None:
        super().__init__(f"the reply of run {run_id} could not be recorded ({type(cause).__name__}: {cause})")
        self.reply = reply
        self.run_id = run_id


class MemoryAPIError(Exception):
    """The engine or the service refused the request or failed at it.

    `status` is the HTTP status (None when embedded), `code` a stable machine-readable reason, and
    `response_text` the raw body when it was not a JSON object.
    """

    error_code: ClassVar[str] = "API_ERROR"

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, response_text: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.response_text = response_text

    def __str__(self) -> str:
        return f"{self.message} (code={self.code})" if self.code else self.message


class MemoryAuthError(MemoryAPIError):
    """The credentials are missing, wrong, or not allowed to do this (401, 403)."""

    error_code: ClassVar[str] = "AUTH_REFUSED"


class MemoryNotProvisionedError(MemoryAPIError):
    """The project has no running memory service."""

    error_code: ClassVar[str] = "NOT_PROVISIONED"


class MemoryBadRequestError(MemoryAPIError):
    """The request cannot be carried out as it stands (other 4xx)."""

    error_code: ClassVar[str] = "BAD_REQUEST"


class MemoryRouteNotFoundError(MemoryBadRequestError):
    """The host does not serve this route; usually the project id is set where it should not be, or the reverse."""

    error_code: ClassVar[str] = "ROUTE_NOT_FOUND"


class MemoryNotFoundError(MemoryBadRequestError):
    """No such record, turn, session or failure, or none that this caller may see."""

    error_code: ClassVar[str] = "NOT_FOUND"


class MemoryConflictError(MemoryBadRequestError):
    """The present state refuses the request.

    `code` says how: `IDEMPOTENCY_CONFLICT` (the key was used for other content), `PROCEDURE_EXISTS`, ….
    """

    error_code: ClassVar[str] = "CONFLICT"


class MemoryEmbedderMismatchError(MemoryConflictError):
    """The store's vectors were made by another embedding model than the one it was opened with."""

    error_code: ClassVar[str] = "EMBEDDER_MISMATCH"


class MemoryServerError(MemoryAPIError):
    """The request was fine and could not be answered (5xx and unexpected statuses; all sources failed)."""

    error_code: ClassVar[str] = "SERVER_ERROR"


class MemoryStoreError(MemoryServerError):
    """The database could not be opened, read or written."""

    error_code: ClassVar[str] = "STORE_ERROR"


class MemoryConnectionError(MemoryAPIError):
    """No answer was received; `__cause__` is the transport's error."""

    error_code: ClassVar[str] = "NO_CONNECTION"
