"""The JSON schema of a model's reply: one list a kind, and the snapshot's summary.

It keeps to what strict structured output takes: every property is required, what is optional is nullable, objects are
closed, and there are no bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from memoranda.engine.records import BUILT_IN_KINDS, EPISODIC, PROCEDURAL, RECORD_TYPES, SEMANTIC, TAXONOMIC

SUMMARY: Final = "summary"
VERDICTS: Final = ("supersedes", "refines", "repeats", "contradicts")
"""What an item may say of known memories, by number."""

_TEXT: Final = {"type": "string"}
_OPTIONAL_TEXT: Final = {"type": ["string", "null"]}
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_NUMBERS: Final = {"type": "array", "items": {"type": "integer"}}

_OWN_FIELDS: Final[Mapping[str, Mapping[str, object]]] = {
    SEMANTIC: {
        "text": _TEXT,
        "record_type": {"type": "string", "enum": list(RECORD_TYPES)},
        "label": _OPTIONAL_TEXT,
    },
    EPISODIC: {"title": _TEXT, "text": _TEXT, "participants": _TEXTS},
    TAXONOMIC: {"domain": _TEXT, "term": _TEXT, "definition": _TEXT, "related_terms": _TEXTS},
    PROCEDURAL: {
        "procedure": _TEXT,
        "description": _TEXT,
        "steps": _TEXTS,
        "trigger_conditions": _TEXTS,
    },
}
_COMMON: Final[Mapping[str, object]] = {
    "turns": _NUMBERS,
    "event_time": _OPTIONAL_TEXT,
    **dict.fromkeys(VERDICTS, _NUMBERS),
}


def wanted_kinds(kinds: Collection[str]) -> tuple[str, ...]:
    """Return those of the kinds that a model is asked for, in their canonical order."""
    return tuple(kind for kind in BUILT_IN_KINDS if kind in kinds)


def reply_schema(kinds: Collection[str]) -> dict[str, object]:
    """Return the schema of the reply for these kinds; an empty list says that there is nothing of a kind."""
    lists = {kind: {"type": "array", "items": item_schema(kind)} for kind in wanted_kinds(kinds)}
    return _closed({SUMMARY: _TEXT, **lists})


def item_schema(kind: str) -> dict[str, object]:
    """Return the schema of one item of a kind."""
    return _closed({**_OWN_FIELDS[kind], **_COMMON})


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
