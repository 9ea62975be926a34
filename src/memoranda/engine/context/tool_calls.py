"""Tool calls as stored, in whatever shape the caller uses, read as the chat format's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from memoranda.engine.context.escape import for_chat
from memoranda.engine.records import JsonObject, Turn
from memoranda.engine.retrieval.companions import called_ids, exchange_of

ChatCall: TypeAlias = dict[str, object]

_ARGUMENT_NAMES = ("arguments", "args", "input", "parameters")


def chat_calls(turn: Turn) -> list[ChatCall] | None:
    """Return a turn's calls in the chat format, or None when one of them has no id or name."""
    calls = [_chat_call(call) for call in turn.tool_calls or ()]
    return None if not calls or None in calls else [call for call in calls if call is not None]


def call_text(call: JsonObject) -> str:
    """Return a call as one line of text: name and arguments."""
    name, arguments = _name_and_arguments(call)
    return f"{name or 'tool'}({arguments})"


def complete_exchange(call: Turn, turns: Sequence[Turn]) -> tuple[Turn, ...] | None:
    """Return the results of a call in call order, or None unless each of its calls has exactly one among ``turns``."""
    calls = chat_calls(call)
    if calls is None or call.role != "assistant":
        return None
    results = [turn for turn in exchange_of(call, turns)[1:] if turn.role == "tool"]
    by_call = {turn.tool_call_id: turn for turn in results}
    ids = called_ids(call)
    if len(by_call) != len(results) or sorted(ids) != sorted(filter(None, by_call)):
        return None
    return tuple(by_call[call_id] for call_id in ids)


def _chat_call(call: JsonObject) -> ChatCall | None:
    name, arguments = _name_and_arguments(call)
    call_id = call.get("id")
    if not isinstance(call_id, str) or not name:
        return None
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": for_chat(name), "arguments": for_chat(arguments)},
    }


def _name_and_arguments(call: JsonObject) -> tuple[str, str]:
    function = call.get("function")
    inner: JsonObject = function if isinstance(function, Mapping) else call
    name = inner.get("name")
    arguments = next((inner[key] for key in _ARGUMENT_NAMES if key in inner), {})
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str)
    return (name if isinstance(name, str) else ""), arguments
