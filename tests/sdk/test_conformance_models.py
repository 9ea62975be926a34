"""Models and enums of the shared contract: every field, its type and its default, every value."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel

from memoranda.sdk import models

REQUIRED = object()
FIELDS: dict[str, dict[str, Any]] = {
    "SourceSpec": {"source": REQUIRED, "mode": "semantic", "metadata_filter": None, "top_k": 20},
    "MemoryChunk": {
        **dict.fromkeys(["id", "content", "source", "timestamp"], REQUIRED),
        **dict.fromkeys(["embedding", "similarity_score", "metadata"]),
    },
    "ContextMetadata": {
        "token_count": 0,
        "memory_counts": {},
        "timing": {},
        "ranking_strategy": None,
        "source_outcomes": None,
    },
    "ContextResponse": {"formatted_context": REQUIRED, "metadata": REQUIRED, "selected_memories": None},
    "WriteTurnResult": {
        **dict.fromkeys(["id", "session_id", "turn_seq"], REQUIRED),
        "acknowledged": True,
        "has_embedding": False,
    },
    "CreateSemanticResult": {**dict.fromkeys(["id", "label", "has_embedding"], REQUIRED), "acknowledged": True},
    "CreateEpisodicResult": {**dict.fromkeys(["id", "title", "has_embedding"], REQUIRED), "acknowledged": True},
    "CreateTaxonomicResult": {
        **dict.fromkeys(["id", "domain", "term", "has_embedding"], REQUIRED),
        "acknowledged": True,
    },
    "CreateProceduralResult": {**dict.fromkeys(["id", "procedure", "has_embedding"], REQUIRED), "acknowledged": True},
    "CustomMemorySaveResult": dict.fromkeys(["id", "type", "tags", "has_embedding"], REQUIRED),
    "RetrievedCustomMemory": {
        **dict.fromkeys(["id", "type", "content", "tags"], REQUIRED),
        **dict.fromkeys(["contextual_metadata", "user_id", "agent_id"]),
    },
    "CustomMemoryRetrieveResult": dict.fromkeys(["results", "count"], REQUIRED),
    "BulkCreateSemanticResult": {
        **dict.fromkeys(["created_count", "skipped_count", "created_ids", "skipped_labels"], REQUIRED),
        "has_embeddings": REQUIRED,
        "acknowledged": True,
    },
    "CreateUserContextResult": {**dict.fromkeys(["id", "context_key"], REQUIRED), "acknowledged": True},
    "CreateSnapshotResult": {
        **dict.fromkeys(["id", "session_id", "message_count", "has_embedding"], REQUIRED),
        "embedding_strategy": None,
        "snapshot_reason": "manual",
        "acknowledged": True,
    },
    "PromoteSnapshotResult": {
        "snapshot_id": None,
        **dict.fromkeys(["session_id", "promoted_count", "reason"], REQUIRED),
        "has_embedding": False,
        "acknowledged": True,
    },
    "DeleteResult": {"deleted_count": REQUIRED, "acknowledged": True},
    "InternalStateResult": {
        **dict.fromkeys(["session_id", "version", "token_count", "content_hash"], REQUIRED),
        "previous_version": None,
        "was_noop": False,
        "acknowledged": True,
    },
    "ISGenerationResult": {
        **dict.fromkeys(["updated", "version", "token_count", "content_hash", "previous_version"]),
        "was_noop": False,
        "coalesced": False,
        **dict.fromkeys(["skipped_reason", "next_update_at", "model_id", "events_hash"]),
    },
}
SOURCES = {"EPISODIC": "episodic", "SEMANTIC": "semantic", "TAXONOMIC": "taxonomic", "PROCEDURAL": "procedural"}
VALUES: dict[str, dict[str, str]] = {
    "MemorySource": {"STM": "stm", **SOURCES},
    "SearchSource": SOURCES,
    "RetrievalMode": {"TEXT": "text", "SEMANTIC": "semantic", "HYBRID": "hybrid"},
    "FormatStyle": {"OPENAI": "openai", "CLAUDE": "claude", "JINJA2": "jinja2"},
}


@pytest.mark.parametrize("name", FIELDS)
def test_models_have_the_fields_and_defaults_of_the_contract(name: str) -> None:
    model: type[BaseModel] = getattr(models, name)
    for field, default in FIELDS[name].items():
        info = model.model_fields[field]
        assert info.is_required() == (default is REQUIRED), field
        if default is not REQUIRED:
            assert _plain(info.get_default(call_default_factory=True)) == default, field


@pytest.mark.parametrize("name", FIELDS)
def test_what_we_add_to_a_model_is_optional(name: str) -> None:
    model: type[BaseModel] = getattr(models, name)
    ours = model.model_fields.keys() - FIELDS[name].keys()
    assert [field for field in ours if model.model_fields[field].is_required()] == []


@pytest.mark.parametrize("name", VALUES)
def test_enums_have_the_values_of_the_wire(name: str) -> None:
    enum: type[Enum] = getattr(models, name)
    assert {member.name: member.value for member in enum} == VALUES[name]
    assert issubclass(enum, str)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value
