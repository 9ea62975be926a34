"""Results as responses, encoded once."""

from __future__ import annotations

from fastapi import Response
from pydantic_core import to_json


def answer(result: object, status: int = 200) -> Response:
    """Return a model, or a plain value that may hold models and times, as a JSON response."""
    return Response(to_json(result), status, media_type="application/json")
