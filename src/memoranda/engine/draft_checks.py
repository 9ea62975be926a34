"""Drafts are checked and cleaned before anything is written; each refusal names the value and the remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.natural_keys import namespace_path
from memoranda.engine.records import (
    BUILT_IN_KINDS,
    ORG,
    PRIVATE,
    PROCEDURAL,
    RECORD_TYPES,
    SEMANTIC,
    TAXONOMIC,
    VISIBILITIES,
    JsonObject,
)
from memoranda.engine.tags import flat_tags
from memoranda.engine.text import clean_object, clean_text, require_storable_id
from memoranda.sdk.errors import MemoryBadRequestError

MAX_TTL_DAYS: Final = 1_000_000
_TEXT_NAMES: Final = {SEMANTIC: "text", TAXONOMIC: "definition"}
"""What callers call the content of a kind, where that is not its name."""


def checked_draft(draft: MemoryDraft, config: ProjectConfig) -> MemoryDraft:
    """Return the draft as it will be stored; raises ``MemoryBadRequestError`` for what cannot be.

    Identity is taken from the draft's own fields alone, whatever its metadata says. A memory without a user has
    visibility ``org``.
    """
    _check_kind(draft.kind, config)
    _check_times(draft)
    user_id = _identity("user_id", draft.user_id)
    cleaned = replace(
        draft,
        content=clean_text(draft.content),
        user_id=user_id,
        agent_id=_identity("agent_id", draft.agent_id),
        session_id=_identity("session_id", draft.session_id),
        visibility=checked_visibility(draft.visibility, user_id),
        domain=clean_text(draft.domain),
        name=clean_text(draft.name),
        body=checked_body(draft.kind, draft.body, config),
        metadata=checked_metadata(draft.metadata),
    )
    if cleaned.kind not in BUILT_IN_KINDS:
        cleaned = replace(cleaned, domain=namespace_path(cleaned.domain))
    if cleaned.id is not None:
        _check_id(cleaned.id)
    if not cleaned.may_be_blank:
        check_texts(cleaned.kind, cleaned.content, cleaned.domain, cleaned.name)
    return cleaned


def _check_kind(kind: str, config: ProjectConfig) -> None:
    if kind not in BUILT_IN_KINDS and config.custom_type(kind) is None:
        declared = ", ".join(sorted(custom.name for custom in config.custom_memory_types)) or "none"
        raise MemoryBadRequestError(
            f"unknown custom memory type {kind!r}; declared in memory.custom_memory_types: {declared}",
            code="UNKNOWN_MEMORY_TYPE",
        )


def _check_times(draft: MemoryDraft) -> None:
    if draft.record_type not in RECORD_TYPES:
        raise _refused(f"record type {draft.record_type!r} is unknown; use one of: {', '.join(RECORD_TYPES)}")
    if draft.event_time is not None and draft.event_time.tzinfo is None:
        raise _refused(f"event time {draft.event_time!r} has no zone; give it in UTC")
    check_ttl_days(draft.ttl_days)


def check_ttl_days(ttl_days: float | None) -> None:
    """Raise unless a lifetime is None or a number of days above 0."""
    if ttl_days is not None and not 0 < ttl_days <= MAX_TTL_DAYS:
        raise _refused(f"ttl_days is {ttl_days!r}; it must be above 0 and at most {MAX_TTL_DAYS}")


def _check_id(memory_id: str) -> None:
    if not require_storable_id("memory id", memory_id).strip():
        raise _refused(f"the memory id {memory_id!r} is blank; leave it out to have one made")


def _identity(name: str, value: str) -> str:
    return require_storable_id(name, value) if value.strip() else ""


def checked_visibility(visibility: str, user_id: str) -> str:
    """Return the visibility that is stored: ``org`` where no user could own a private record."""
    if visibility not in VISIBILITIES:
        raise _refused(f"visibility {visibility!r} is unknown; use one of: {', '.join(VISIBILITIES)}")
    return ORG if visibility == PRIVATE and not user_id else visibility


def checked_metadata(metadata: JsonObject | None) -> JsonObject | None:
    """Return a caller's metadata as it is stored; an empty object is none."""
    return clean_object("metadata", metadata) if metadata else None


def checked_body(kind: str, body: JsonObject, config: ProjectConfig) -> JsonObject:
    """Return a kind's own fields as they are stored; tags of a custom type are checked and flattened."""
    cleaned = clean_object("body", body)
    custom = config.custom_type(kind)
    if custom is None:
        return {name: value for name, value in cleaned.items() if value is not None}
    tags = body.get("tags")
    if tags is not None and not isinstance(tags, Mapping):
        raise _refused(f"tags must be an object of names and values, got {type(tags).__name__}")
    return {**cleaned, "tags": flat_tags(tags or {}, custom.tags)}


def check_texts(kind: str, content: str, domain: str, name: str) -> None:
    """Raise unless a record says something, and a term or procedure has its name."""
    if not content.strip():
        raise _refused(f"the {_TEXT_NAMES.get(kind, 'content')} of a {kind} memory must not be blank")
    if kind == TAXONOMIC and not (domain.strip() and name.strip()):
        raise _refused(f"a term needs its domain and its name, got domain {domain!r} and term {name!r}")
    if kind == PROCEDURAL and not name.strip():
        raise _refused("a procedure needs its name; pass procedure=")


def _refused(message: str) -> MemoryBadRequestError:
    return MemoryBadRequestError(message, code="INVALID_REQUEST")
