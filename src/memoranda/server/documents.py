"""What the OpenAPI document says of the routes beyond their types: examples, errors, the project in the path."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from memoranda.sdk.errors import MemoryBadRequestError

_ERROR: Final = "Error"
_METHODS: Final = frozenset({"get", "put", "post", "patch", "delete"})
_PROJECT: Final = "{project_id}"
_MEMORY: Final = "/api/v1/"
_TOKEN: Final = "/api/v1/oauth/"

DESCRIPTION: Final = (
    "A memory for AI agents. The same routes are served for a named project "
    "(`/api/v1/projects/{project_id}/memory/…`) and for the token's or the default project (`/api/v1/memory/…`). "
    "Every error has `detail` and `error` (one text), `code` (stable) and `type`."
)


class Tag(StrEnum):
    """The groups of routes."""

    TURNS = "turns"
    READING = "reading"
    RECORDS = "records"
    CUSTOM = "custom types"
    MEMORIES = "memories"
    DELETION = "deletion"
    BACKGROUND = "background work"
    EXPORT = "export"
    ACCESS = "access"
    CONFIGURATION = "configuration"
    OPERATIONS = "operations"


def told(tag: Tag, example: object, *, model: Any = None, errors: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return what a route's decorator is given so that its success is documented: its shape and an example.

    ``errors`` are the statuses beside 400, 401, 403, 404, 422 and 503, which every route of a project has.
    """
    success = {"content": {"application/json": {"example": example}}, "description": "Success"}
    documented: dict[int | str, Any] = {200: success}
    documented.update({status: {"description": _MEANING[status]} for status in errors})
    return {"response_model": model, "responses": documented, "tags": [tag]}


_MEANING: Final = {
    400: "The request cannot be carried out as it stands",
    401: "No token, or none that is good",
    403: "A good token that may not do this",
    404: "No such route, project, type or record",
    409: "The present state refuses it",
    413: "The body is too large",
    415: "The body is not JSON",
    422: "Fields are missing or wrong; `detail` names each",
    429: "Too many attempts; see `Retry-After`",
    500: "The server failed",
    503: "It cannot be answered at the moment; ask again",
}
_OF_EVERY_ROUTE: Final = (400, 401, 403, 404, 422, 503)
_OF_EVERY_BODY: Final = (413, 415)
_ERROR_SCHEMA: Final = {
    "type": "object",
    "required": ["detail", "error", "code", "type"],
    "properties": {name: {"type": "string"} for name in ("detail", "error", "code", "type")},
}


def document(app: FastAPI) -> None:
    """Have the app give an OpenAPI document that tells the errors and parameters that are the same everywhere."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(
                get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend the document


def _complete(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema.setdefault("components", {})
    components.setdefault("schemas", {})[_ERROR] = _ERROR_SCHEMA
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schema["security"] = [{}, {"token": []}]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if method in _METHODS:
                _complete_operation(path, operation)
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    return schema


def _complete_operation(path: str, operation: dict[str, Any]) -> None:
    if _PROJECT in path:
        parameters = operation.setdefault("parameters", [])
        if not any(each["name"] == "project_id" for each in parameters):
            parameters.insert(0, _project_parameter())
    responses = operation["responses"]
    if path.startswith(_MEMORY) and not path.startswith(_TOKEN):
        for status in (*_OF_EVERY_ROUTE, *(_OF_EVERY_BODY if "requestBody" in operation else ())):
            responses.setdefault(str(status), {"description": _MEANING[status]})
    for status, response in responses.items():
        if int(status) >= 400 and (status == "422" or "content" not in response):
            response.update(description=_MEANING[int(status)], content=_error_content(int(status)))


def _project_parameter() -> dict[str, Any]:
    return {
        "name": "project_id",
        "in": "path",
        "required": True,
        "description": "The project, percent-encoded.",
        "schema": {"type": "string", "minLength": 1},
        "example": "default",
    }


def _error_content(status: int) -> dict[str, Any]:
    text = "body.top_k: must be at most 200 (got 201)" if status == 422 else _MEANING[status]
    code = "INVALID_REQUEST" if status == 422 else "…"
    example = {"detail": text, "error": text, "code": code, "type": MemoryBadRequestError.error_code}
    schema = {"$ref": f"#/components/schemas/{_ERROR}"}
    return {"application/json": {"schema": schema, "example": example}}
