"""What the requests have in common."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memoranda.sdk._inputs import TtlDays, UtcTime
from memoranda.sdk._values import given, parse_time, parse_vector
from memoranda.sdk.models import RetrievalMode

Json: TypeAlias = dict[str, Any]
AsOf: TypeAlias = Annotated[UtcTime, BeforeValidator(lambda value: parse_time(value, "as_of"))]
Embedding: TypeAlias = Annotated[list[float], BeforeValidator(lambda value: parse_vector(value, "embedding"))]
QueryEmbedding: TypeAlias = Annotated[
    list[float], BeforeValidator(lambda value: parse_vector(value, "query_embedding"))
]
Threshold: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]
TopK: TypeAlias = Annotated[int, Field(strict=True, ge=1)]


def named_only(values: BaseModel, *names: str) -> dict[str, Any]:
    """Return the fields of these names that were set, as arguments: neither None nor False."""
    return given(**{name: getattr(values, name) for name in names})


class SharedBody(BaseModel):
    """A body of the shared contract: what it does not know is ignored, and so are ``org_id`` and ``project_id``.

    Null is the same as not there.
    """

    model_config = ConfigDict(extra="ignore")


class OwnBody(BaseModel):
    """A body of a route of ours: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class WriteBody(SharedBody):
    """What every write may carry beyond the shared contract."""

    timestamp: UtcTime | None = Field(None, description="When it happened (ISO 8601; without zone UTC). Default: now.")
    ttl_days: TtlDays | None = Field(None, description="How many days it is kept. Default: as configured.")
    idempotency_key: str | None = Field(None, description="The same key with the same content gives the same record.")


class RecordBody(WriteBody):
    """What every typed record carries. ``null`` stands for the default of a field."""

    user_id: str | None = Field(None, description="Whose it is. Required, unless the token speaks for one user.")
    visibility: str | None = Field(None, description="`private`, `org` or `shared`.")
    metadata: Json | None = Field(None, description="The caller's own; it comes back as it was given.")
    embedding: Embedding | None = Field(None, description="The caller's vector for the text.")

    def arguments(self, *left_out: str) -> dict[str, Any]:
        """Return what was given as the arguments of the runtime."""
        return {name: value for name, value in dict(self).items() if value is not None and name not in left_out}


_OPTIONS = ("mode", "query_embedding", "include_superseded", "as_of", "explain", "similarity_threshold")


class ReadBody(SharedBody):
    """What every ranked read may carry."""

    query: str = Field(description="What is looked for, in words.")
    user_id: str | None = Field(None, description="Records of this user only; blank or null leaves it open.")
    visibility: str | None = Field(None, description="Records of this visibility only; combines with `user_id` by AND.")
    mode: RetrievalMode | None = Field(None, description="`text`, `semantic` or `hybrid`. Default: hybrid.")
    query_embedding: QueryEmbedding | None = Field(None, description="The caller's vector for the query.")
    include_superseded: bool | None = Field(None, description="Records that no longer hold, too.")
    as_of: AsOf | None = Field(None, description="What held at that time (ISO 8601).")
    explain: bool | None = Field(None, description="Tell how each result was found.")
    similarity_threshold: Threshold | None = Field(None, description="Vector hits below it are left out.")

    def options(self) -> dict[str, Any]:
        """Return the options that were set, as arguments of the runtime."""
        return named_only(self, *_OPTIONS)
