"""The base of all our pydantic models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model whose validator is built on first use: the import of `memoranda` must not pay for all of them."""

    model_config = ConfigDict(defer_build=True)
