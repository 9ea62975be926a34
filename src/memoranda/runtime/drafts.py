"""The SDK's inputs as the engine's drafts."""

from __future__ import annotations

from typing import Any, assert_never

from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.records import EPISODIC, ORG, PRIVATE, PROCEDURAL, SEMANTIC, TAXONOMIC
from memoranda.sdk.errors import MemoryBadRequestError
from memoranda.sdk.models import (
    CustomInput,
    EpisodicInput,
    MemoryInput,
    ProceduralInput,
    SemanticInput,
    TaxonomicInput,
)

_PROCEDURE_FIELDS = (
    "description",
    "steps",
    "resources",
    "allowed_tools",
    "compatibility",
    "license",
    "trigger_conditions",
    "tags",
    "extraction_source",
    "source_format",
    "source_path",
)


def draft_of(item: MemoryInput) -> MemoryDraft:
    """Return what an input asks the engine to save."""
    match item:
        case SemanticInput():
            return _semantic(item)
        case EpisodicInput():
            return _episodic(item)
        case TaxonomicInput():
            return _taxonomic(item)
        case ProceduralInput():
            return _procedural(item)
        case CustomInput():
            return _custom(item)
        case _ as never:
            assert_never(never)


def _shared(item: MemoryInput) -> dict[str, Any]:
    return {
        "user_id": _blank_is_absent(item.user_id),
        "agent_id": _blank_is_absent(item.agent_id),
        "event_time": item.timestamp,
        "ttl_days": item.ttl_days,
    }


def _blank_is_absent(value: str | None) -> str:
    return value if value is not None and value.strip() else ""


def _semantic(item: SemanticInput) -> MemoryDraft:
    return MemoryDraft(
        kind=SEMANTIC,
        content=item.text,
        name=item.label,
        visibility=item.visibility,
        body={"source": item.source},
        metadata=item.metadata,
        upsert=item.upsert,
        **_shared(item),
    )


def _episodic(item: EpisodicInput) -> MemoryDraft:
    body = {
        "title": item.title,
        "summary": item.summary,
        "participants": item.participants,
        "tags": item.tags,
    }
    return MemoryDraft(
        kind=EPISODIC,
        content=item.content,
        session_id=_blank_is_absent(item.session_id),
        visibility=item.visibility,
        body=_given(body),
        metadata=item.metadata,
        **_shared(item),
    )


def _taxonomic(item: TaxonomicInput) -> MemoryDraft:
    return MemoryDraft(
        kind=TAXONOMIC,
        content=item.definition,
        domain=item.domain,
        name=item.term,
        visibility=item.visibility,
        body=_given({"related_terms": item.related_terms}),
        metadata=item.metadata,
        upsert=True,
        **_shared(item),
    )


def _procedural(item: ProceduralInput) -> MemoryDraft:
    return MemoryDraft(
        kind=PROCEDURAL,
        content=item.content,
        name=item.procedure,
        visibility=item.visibility,
        body=_given({name: getattr(item, name) for name in _PROCEDURE_FIELDS}),
        metadata=item.metadata,
        upsert=item.update_existing,
        **_shared(item),
    )


def _custom(item: CustomInput) -> MemoryDraft:
    if (item.namespace is None) != (item.key is None):
        raise MemoryBadRequestError("namespace and key name a record together: give both or neither")
    shared = _shared(item)
    return MemoryDraft(
        kind=item.memory_type,
        content=item.content,
        domain=item.namespace or "",
        name=item.key or "",
        visibility=item.visibility or (PRIVATE if shared["user_id"] else ORG),
        body=_given({"tags": item.tags}),
        metadata=item.contextual_metadata,
        upsert=item.key is not None,
        **shared,
    )


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
