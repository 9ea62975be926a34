"""The export of a project as lines."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from memoranda.runtime.portability import write_export
from memoranda.server.dependencies import MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag
from memoranda.server.schemas.management import ExportQuery

router = APIRouter(route_class=MemoryRoute)

MEDIA_TYPE = "application/x-ndjson"
_IN_MEMORY_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
_EXAMPLE = '{"type":"header","format":"memoranda","project_id":"default"}\n'


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE: {"example": _EXAMPLE}}, "description": "Success"}},
    tags=[Tag.EXPORT],
)
@needs(Right.READ_ALL)
def export(call: TheCall, query: Annotated[ExportQuery, Query()]) -> Response:
    """Return the project as one JSON object a line: what `memoranda import` reads."""
    # Written to the end before the first byte is sent: a slow reader must not hold the view of the store open, and
    # what fails half-way is told as an error.
    file = SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - closed when it has been sent
    try:
        write_export(call.host.store, call.principal.project_id, file.write, vectors=query.vectors)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return StreamingResponse(_chunks(file), media_type=MEDIA_TYPE, background=BackgroundTask(file.close))


def _chunks(file: SpooledTemporaryFile[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK_BYTES):
        yield chunk
