"""Typed records: saved, listed, and (natively) read, changed and deleted by id."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from memoranda.sdk.errors import MemoryNotFoundError
from memoranda.sdk.models import (
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    DeleteResult,
    MemoryUpdate,
)
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs, require_given
from memoranda.server.documents import Tag, told
from memoranda.server.examples import ENTRIES, ENTRY, created
from memoranda.server.handle_identity import HandleUser, named_or
from memoranda.server.schemas.base import Json
from memoranda.server.schemas.records import (
    DeletedQuery,
    Domains,
    DomainsQuery,
    Entries,
    EntryQuery,
    EpisodicBody,
    EpisodicQuery,
    ProceduralBody,
    ProceduralPatch,
    ProceduralQuery,
    SemanticBody,
    SemanticPatch,
    SemanticQuery,
    TaxonomicBody,
    TaxonomicQuery,
)

native = APIRouter(route_class=MemoryRoute)

_LISTED: dict[str, Any] = told(Tag.RECORDS, ENTRIES, model=Entries)
_ONE: dict[str, Any] = told(Tag.RECORDS, ENTRY, model=Json)


# --- saving


@native.post("/semantic", **told(Tag.RECORDS, created(label="home"), model=CreateSemanticResult, errors=(409,)))
@needs(Right.WRITE)
def create_semantic(call: TheCall, body: SemanticBody) -> Response:
    """Save a fact; with `upsert` it replaces the user's fact of the same label."""
    user_id = _owner(call, body.user_id)
    return answer(call.runtime.create_semantic(**{**body.arguments(), "user_id": user_id}))


@native.post("/episodic", **told(Tag.RECORDS, created(title="The move"), model=CreateEpisodicResult, errors=(409,)))
@needs(Right.WRITE)
def create_episodic(call: TheCall, body: EpisodicBody) -> Response:
    """Save an episode of a session."""
    user_id = call.writer(body.user_id)
    require_given(user_id=user_id, session_id=body.session_id)
    return answer(call.runtime.create_episodic(**{**body.arguments(), "user_id": user_id}))


@native.post(
    "/taxonomic",
    **told(Tag.RECORDS, created(domain="rail", term="EMU"), model=CreateTaxonomicResult, errors=(409,)),
)
@needs(Right.WRITE)
def create_taxonomic(call: TheCall, body: TaxonomicBody) -> Response:
    """Save a term; it replaces the user's definition of the same domain and term."""
    user_id = _owner(call, body.user_id)
    return answer(call.runtime.create_taxonomic(**{**body.arguments(), "user_id": user_id}))


@native.post(
    "/procedural",
    **told(Tag.RECORDS, created(procedure="refund"), model=CreateProceduralResult, errors=(409,)),
)
@needs(Right.WRITE)
def create_procedural(call: TheCall, body: ProceduralBody) -> Response:
    """Save a procedure; the user's second of one name is refused (409) unless `update_existing`."""
    user_id = _owner(call, body.user_id)
    return answer(call.runtime.create_procedural(**{**body.arguments(), "user_id": user_id}))


def _owner(call: Call, user_id: str | None) -> str | None:
    owner = call.writer(user_id)
    require_given(user_id=owner)
    return owner


# --- listing


@native.get("/semantic", **_LISTED)
@needs(Right.READ)
def list_semantic(call: TheCall, query: Annotated[SemanticQuery, Query()]) -> Response:
    """Return the fact of a label, or (without one) all facts of the scope, latest first."""
    asked = _scope(call, query)
    if query.label is None:
        return _entries(
            call.runtime.list_entries(kind="semantic", include_superseded=query.include_superseded, **asked)
        )
    return _entries([call.runtime.get_semantic(label=query.label, **asked)])


@native.get("/episodic", **_LISTED)
@needs(Right.READ)
def list_episodic(call: TheCall, query: Annotated[EpisodicQuery, Query()]) -> Response:
    """Return at most `limit` episodes, latest first."""
    found = call.runtime.list_episodic(
        session_id=query.session_id,
        limit=query.limit,
        include_superseded=query.include_superseded,
        **_scope(call, query),
    )
    return _entries(found)


@native.get("/taxonomic", **_LISTED)
@needs(Right.READ)
def list_taxonomic(call: TheCall, query: Annotated[TaxonomicQuery, Query()]) -> Response:
    """Return every term of a domain, or (without one) of all domains, latest first."""
    found = call.runtime.list_entries(
        kind="taxonomic",
        domain=query.domain,
        include_superseded=query.include_superseded,
        **_scope(call, query),
    )
    return _entries(found)


@native.get("/taxonomic/domains", **told(Tag.RECORDS, {"domains": ["rail"]}, model=Domains))
@needs(Right.READ)
def list_domains(call: TheCall, query: Annotated[DomainsQuery, Query()], handle: HandleUser) -> Response:
    """Return the domains in use, sorted."""
    user_id = call.reader(named_or(query.user_id, handle.user_id), query.visibility)
    return answer({"domains": call.runtime.get_distinct_domains(user_id=user_id, visibility=query.visibility)})


@native.get("/procedural", **_LISTED)
@needs(Right.READ)
def list_procedural(call: TheCall, query: Annotated[ProceduralQuery, Query()]) -> Response:
    """Return the procedure of a name, or (without one) all procedures of the scope, latest first."""
    asked, ended = _scope(call, query), query.include_deleted or query.include_superseded
    if query.procedure is None:
        return _entries(call.runtime.list_entries(kind="procedural", include_superseded=ended, **asked))
    return _entries([call.runtime.get_procedural(procedure=query.procedure, include_deleted=ended, **asked)])


def _scope(call: Call, query: SemanticQuery | EpisodicQuery | TaxonomicQuery | ProceduralQuery) -> dict[str, Any]:
    user_id = call.reader(query.user_id, query.visibility)
    return {"user_id": user_id, "visibility": query.visibility, "as_of": query.as_of}


def _entries(found: list[Json] | list[Json | None]) -> Response:
    entries = [entry for entry in found if entry is not None]
    return answer({"entries": entries, "count": len(entries)})


# --- one record


@native.get("/semantic/{memory_id}", **_ONE)
@needs(Right.READ)
def get_semantic(call: TheCall, memory_id: str, query: Annotated[EntryQuery, Query()]) -> Response:
    """Return a fact by its id."""
    return _one(call, "semantic", memory_id, query)


@native.get("/procedural/{memory_id}", **_ONE)
@needs(Right.READ)
def get_procedural(call: TheCall, memory_id: str, query: Annotated[EntryQuery, Query()]) -> Response:
    """Return a procedure by its id."""
    return _one(call, "procedural", memory_id, query)


@native.patch("/semantic/{memory_id}", **_ONE)
@needs(Right.WRITE)
def patch_semantic(
    call: TheCall, memory_id: str, body: SemanticPatch, query: Annotated[EntryQuery, Query()]
) -> Response:
    """Change a fact; null leaves a field as it is."""
    fields = {} if body.source is None else {"source": body.source}
    update = MemoryUpdate(content=body.text, visibility=body.visibility, fields=fields)
    return _patched(call, "semantic", memory_id, body.user_id or query.user_id, update)


@native.patch("/procedural/{memory_id}", **_ONE)
@needs(Right.WRITE)
def patch_procedural(
    call: TheCall, memory_id: str, body: ProceduralPatch, query: Annotated[EntryQuery, Query()]
) -> Response:
    """Change a procedure; null leaves a field as it is."""
    names = ("description", "steps", "resources", "allowed_tools", "trigger_conditions", "tags")
    fields = {name: value for name in names if (value := getattr(body, name)) is not None}
    metadata: dict[str, Any] = {} if body.metadata is None else {"metadata": body.metadata}
    update = MemoryUpdate(content=body.content, visibility=body.visibility, fields=fields, **metadata)
    return _patched(call, "procedural", memory_id, body.user_id or query.user_id, update)


@native.delete(
    "/procedural/{memory_id}", **told(Tag.DELETION, {"deleted_count": 1, "acknowledged": True}, model=DeleteResult)
)
@needs(Right.WRITE)
def delete_procedural(call: TheCall, memory_id: str, query: Annotated[DeletedQuery, Query()]) -> Response:
    """Delete a procedure: softly it ends and is read with `include_deleted`, else it is removed with its history."""
    user_id = call.writer(query.user_id)
    entry = call.runtime.get_entry(kind="procedural", memory_id=memory_id, user_id=user_id)
    if entry is None or query.visibility not in (None, "", entry["visibility"]):
        return answer(DeleteResult(deleted_count=0))
    if query.soft:
        call.runtime.retire_memory(memory_id=memory_id, user_id=user_id)
    else:
        call.runtime.delete_memory(memory_id=memory_id, user_id=user_id)
    return answer(DeleteResult(deleted_count=1))


def _one(call: Call, kind: str, memory_id: str, query: EntryQuery) -> Response:
    user_id = call.reader(query.user_id)
    return answer(_required(call, kind, memory_id, user_id, as_of=query.as_of))


def _patched(call: Call, kind: str, memory_id: str, named: str | None, update: MemoryUpdate) -> Response:
    user_id = call.writer(named)
    _required(call, kind, memory_id, user_id)
    call.runtime.update_memory(memory_id=memory_id, user_id=user_id, update=update)
    return answer(_required(call, kind, memory_id, user_id))


def _required(call: Call, kind: str, memory_id: str, user_id: str | None, **moment: Any) -> Json:
    entry = call.runtime.get_entry(kind=kind, memory_id=memory_id, user_id=user_id, **moment)
    if entry is None:
        raise MemoryNotFoundError(f"there is no {kind} memory {memory_id!r} that this call may see", code="NOT_FOUND")
    return entry
