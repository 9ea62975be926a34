"""`POST /api/v1/oauth/token`: a client's credentials for an access token (RFC 6749, client credentials)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from memoranda.server.access.desk import TokenDesk, TokenRefusedError, TokenRequest
from memoranda.server.bodies import read_json
from memoranda.server.documents import Tag, told
from memoranda.server.errors import RefusedBodyError
from memoranda.server.schemas.service_accounts import TokenAnswer

router = APIRouter()

_MAX_BODY: Final = 16_384
_MAX_FIELDS: Final = 20
_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"
_NOT_KEPT: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}


_FIELDS_TAKEN: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["grant_type"],
    "properties": {name: {"type": "string"} for name in ("grant_type", "client_id", "client_secret", "user_id")},
}
_EXAMPLE: Final = {"grant_type": "client_credentials", "client_id": "ae_sa_id_…", "client_secret": "ae_sa_sk_…"}
_REFUSED: Final[dict[str, Any]] = {
    "application/json": {
        "schema": {"type": "object", "properties": {n: {"type": "string"} for n in ("error", "error_description")}},
        "example": {"error": "invalid_client", "error_description": "the client credentials are missing: …"},
    }
}
_DOCUMENTED: Final = told(
    Tag.ACCESS, {"access_token": "eyJ…", "expires_in": 3600, "token_type": "Bearer"}, model=TokenAnswer
)
_DOCUMENTED["responses"].update(
    {
        status: {"description": why, "content": _REFUSED}
        for status, why in {
            400: "The request cannot be read",
            401: "No such client and secret",
            429: "Too many attempts",
        }.items()
    }
)


@router.post(
    "/oauth/token",
    **_DOCUMENTED,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {kind: {"schema": _FIELDS_TAKEN, "example": _EXAMPLE} for kind in (_FORM, _JSON)},
        }
    },
)
async def issue_token(request: Request) -> Response:
    """Give a service account an access token for an hour.

    The credentials come by HTTP Basic, or as `client_id` and `client_secret` in a form or a JSON object, with
    `grant_type=client_credentials`. With `user_id` the token is good for the memory of that one end user only.
    """
    desk: TokenDesk = request.app.state.gatekeeper.desk
    host = request.client.host if request.client else None
    try:
        asked = _read(request.headers, await request.body())
        minted = await run_in_threadpool(desk.issue, asked, host)
    except TokenRefusedError as error:
        return _refusal(error)
    body = {"access_token": minted.access_token, "expires_in": minted.expires_in, "token_type": "Bearer"}
    return JSONResponse(body, headers=_NOT_KEPT)


def _refusal(error: TokenRefusedError) -> Response:
    headers = dict(_NOT_KEPT)
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="memoranda", charset="UTF-8"'
    body = {"error": error.error, "error_description": error.description}
    return JSONResponse(body, status_code=error.status, headers=headers)


def _read(headers: Mapping[str, str], raw: bytes) -> TokenRequest:
    fields = _fields(headers.get("content-type", ""), raw)
    client_id, secret = fields.get("client_id"), fields.get("client_secret")
    basic = _basic(headers.get("authorization"))
    if basic is not None:
        if secret is not None or client_id not in (None, basic[0]):
            raise _malformed("the client credentials are given twice: send them by HTTP Basic or in the body")
        client_id, secret = basic
    return TokenRequest(fields.get("grant_type"), client_id, secret, fields.get("user_id"))


def _fields(content_type: str, raw: bytes) -> Mapping[str, str]:
    if len(raw) > _MAX_BODY:
        raise _malformed(f"the body is larger than {_MAX_BODY} bytes")
    kind = content_type.partition(";")[0].strip().lower()
    if kind == _JSON:
        return _json_fields(raw)
    if kind == _FORM:
        return _form_fields(raw)
    raise _malformed(f"the body must be sent as {_FORM} or {_JSON}")


def _form_fields(raw: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(raw.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise _malformed("the body is no form of at most 20 fields in UTF-8") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _malformed("a field is given twice")
    return fields


def _json_fields(raw: bytes) -> Mapping[str, str]:
    try:
        value = read_json(raw)
    except RefusedBodyError as error:
        raise _malformed(str(error.detail)) from None
    if not isinstance(value, dict):
        raise _malformed("the body must be a JSON object")
    fields: dict[str, str] = {}
    for name, each in value.items():
        if each is not None and not isinstance(each, str):
            raise _malformed(f"{name[:40]!r} must be a string")
        if each is not None:
            fields[name] = each
    return fields


def _basic(authorization: str | None) -> tuple[str, str] | None:
    """Return client id and secret of HTTP Basic, each form-encoded before (RFC 6749, 2.3.1); None without it."""
    scheme, _, encoded = (authorization or "").strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        client_id, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
        pair = unquote_plus(client_id, errors="strict"), unquote_plus(secret, errors="strict")
    except (binascii.Error, ValueError):
        colon, pair = "", ("", "")
    if not colon:
        raise TokenRefusedError(401, "invalid_client", "the HTTP Basic credentials cannot be read")
    return pair


def _malformed(description: str) -> TokenRefusedError:
    return TokenRefusedError(400, "invalid_request", description)
