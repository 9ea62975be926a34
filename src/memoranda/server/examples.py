"""The results that the OpenAPI document shows."""

from __future__ import annotations

from typing import Any, Final

_TIME: Final = "2026-03-01T08:30:00Z"
_ID: Final = "0195502c-7c1e-7a3b-8f21-6f0e3a5d9b11"

TURN_RESULT: Final = {"id": _ID, "session_id": "s1", "turn_seq": 1, "acknowledged": True, "has_embedding": False}
TURN: Final = {
    "id": _ID,
    "session_id": "s1",
    "user_id": "ada",
    "turn_seq": 1,
    "role": "user",
    "content": "I moved to Oslo in May.",
    "event_time": _TIME,
    "created_at": _TIME,
}
CHUNK: Final = {
    "id": _ID,
    "content": "Lives in Oslo.",
    "source": "semantic",
    "timestamp": _TIME,
    "embedding": None,
    "similarity_score": 0.83,
    "metadata": {"label": "home", "user_id": "ada", "visibility": "private"},
}
CHUNKS: Final = {"memories": [CHUNK]}
CONTEXT: Final = {
    "formatted_context": "## Facts\n- home: Lives in Oslo.",
    "metadata": {"token_count": 9, "memory_counts": {"semantic": 1}, "timing": {"search": 0.004}},
}
SOURCES_CONTEXT: Final = {
    **CONTEXT,
    "metadata": {
        "token_count": 9,
        "memory_counts": {"semantic": 1},
        "timing": {"search": 0.004},
        "ranking_strategy": "client_rrf",
        "source_outcomes": [
            {
                "source": "semantic",
                "requested_mode": "hybrid",
                "effective_mode": "hybrid",
                "count": 1,
                "error": None,
            }
        ],
    },
}
ENTRY: Final = {
    "id": _ID,
    "label": "home",
    "text": "Lives in Oslo.",
    "user_id": "ada",
    "visibility": "private",
    "metadata": None,
    "version": 1,
}
ENTRIES: Final = {"entries": [ENTRY], "count": 1}
MEMORY: Final = {
    "id": _ID,
    "kind": "semantic",
    "content": "Lives in Oslo.",
    "label": "home",
    "visibility": "private",
    "event_time": _TIME,
    "valid_from": _TIME,
    "created_at": _TIME,
    "updated_at": _TIME,
}
ITEM_RESULT: Final = {
    "index": 0,
    "id": _ID,
    "kind": "semantic",
    "status": "created",
    "version": 1,
    "has_embedding": True,
}
DELETION: Final = {"turns": 1, "memories": 1, "snapshots": 0, "links": 0}
FAILURE: Final = {
    "id": _ID,
    "job_kind": "extract",
    "failure_class": "content",
    "reason": "the model refused",
    "attempts": 1,
    "first_seen": _TIME,
    "last_seen": _TIME,
    "retryable": False,
}
STATUS: Final = {
    "project_id": "default",
    "turns": 12,
    "sessions": 2,
    "memories": {"semantic": 3},
    "jobs": {"pending": 0, "running": 0},
    "analyser": "default",
    "schema_version": "0001",
    "store": "sqlite:/data/memory.db",
}
PROMOTION: Final = {"snapshot_id": _ID, "session_id": "s1", "promoted_count": 4, "reason": "manual"}
CUSTOM_SAVED: Final = {"id": _ID, "type": "tickets", "tags": {"queue": "it"}, "has_embedding": True}
CUSTOM_FOUND: Final = {
    "results": [{"id": _ID, "type": "tickets", "content": "Printer 3 jams.", "tags": {"queue": "it"}}],
    "count": 1,
}

CONFIG: Final = {"config": {"memory": {"log_level": "info"}}, "pending": False, "changes": []}
RUNTIME: Final = {
    "state": "ready",
    "blocked_on": None,
    "message": "ready",
    "pending_config": False,
    "memory_image": "memoranda/0.1.0",
    "resolved_memory_image": "memoranda/0.1.0",
}


def created(**named: str) -> dict[str, Any]:
    """Return the result of a typed save; ``named`` are the fields that its kind repeats."""
    return {"id": _ID, **named, "has_embedding": True, "acknowledged": True}
