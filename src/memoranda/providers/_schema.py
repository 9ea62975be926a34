"""How a chat model is asked for JSON: by a schema in the request, or by an instruction in the prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

ChatMessage: TypeAlias = Mapping[str, object]
"""A message as OpenAI's protocol has it: ``role``, and ``content`` as a text or as parts."""

_NAME: Final = "answer"
_INSTRUCTION: Final = (
    "Answer with one JSON value that is valid against the JSON schema below, and with nothing else: "
    "no introduction, no code fence, no comment."
)
# An object below these keywords is a schema again; below `properties` and `$defs` it is named schemas.
_NESTED: Final = ("items", "additionalProperties", "not")
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED: Final = ("properties", "$defs", "definitions")


def response_format(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the ``response_format`` of a schema: strict where the schema keeps the rules of strict ones."""
    named = {"name": _NAME, "schema": dict(schema), "strict": is_closed(schema)}
    return {"type": "json_schema", "json_schema": named}


def instructed(system: str, schema: Mapping[str, object]) -> str:
    """Return the system text with the schema as an instruction."""
    return f"{system}\n\n{_INSTRUCTION}\n{json.dumps(schema, ensure_ascii=False)}".lstrip()


def instructed_messages(messages: Sequence[ChatMessage], schema: Mapping[str, object]) -> list[ChatMessage]:
    """Return the messages with the schema as an instruction in the system text, which is the first message."""
    first = messages[0] if messages else {}
    system = first.get("content")
    if first.get("role") == "system" and isinstance(system, str):
        return [{**first, "content": instructed(system, schema)}, *messages[1:]]
    return [{"role": "system", "content": instructed("", schema)}, *messages]


def is_closed(schema: object) -> bool:
    """Whether every object of a schema requires all its properties and allows no others."""
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or properties is not None:
        names = set(properties) if isinstance(properties, Mapping) else set()
        required = schema.get("required")
        if schema.get("additionalProperties") is not False or set(_list(required)) != names:
            return False
    below = [schema.get(key) for key in _NESTED]
    below += [part for key in _ALTERNATIVES for part in _list(schema.get(key))]
    below += [part for key in _NAMED for part in _values(schema.get(key))]
    return all(is_closed(part) for part in below)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _values(value: object) -> list[object]:
    return list(value.values()) if isinstance(value, Mapping) else []
