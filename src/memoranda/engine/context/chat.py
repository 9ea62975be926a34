"""A selection as chat messages: one system message for the memories, then the turns in their own roles.

A remembered turn is never a system message: only users, assistants and complete tool exchanges keep their role,
everything else is told as text inside the first message. Each message stands between our marks by itself, because
clients move system messages about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from memoranda.engine.context import labels
from memoranda.engine.context.escape import for_chat
from memoranda.engine.context.markdown import in_marks, memory_sections, turn_sections
from memoranda.engine.context.markers import CLOSING, OPENING
from memoranda.engine.context.selection import Selection, SessionTurns
from memoranda.engine.context.tool_calls import chat_calls, complete_exchange
from memoranda.engine.records import Turn

Message: TypeAlias = dict[str, object]

_SPEAKERS = frozenset({"user", "assistant"})


def render_chat(selection: Selection) -> list[Message]:
    """Render as chat messages; none for an empty selection."""
    if selection.empty:
        return []
    told: list[SessionTurns] = []
    spoken: list[Message] = []
    for session in selection.sessions:
        messages, rest = _messages(session.turns)
        spoken += messages
        if rest:
            told.append(replace(session, turns=tuple(rest)))
    sections = memory_sections(selection) + turn_sections(told)
    return [{"role": "system", "content": in_marks(sections)}, *spoken]


def _messages(turns: Sequence[Turn]) -> tuple[list[Message], list[Turn]]:
    """The turns that can be messages of their own, and those that cannot."""
    messages: list[Message] = []
    rest: list[Turn] = []
    answered: set[str] = set()
    for turn in turns:
        if turn.id in answered:
            continue
        results = complete_exchange(turn, turns) if turn.tool_calls else None
        if results is not None:
            answered.update(result.id for result in results)
            messages += _exchange(turn, results)
        elif turn.role in _SPEAKERS and not turn.tool_calls and turn.tool_call_id is None:
            messages.append({"role": turn.role, "content": _content(turn)})
        else:
            rest.append(turn)
    return messages, rest


def _exchange(call: Turn, results: Sequence[Turn]) -> Iterable[Message]:
    yield {"role": "assistant", "content": _content(call) if call.content else None, "tool_calls": chat_calls(call)}
    for result in results:
        yield {"role": "tool", "tool_call_id": result.tool_call_id, "content": _content(result)}


def _content(turn: Turn) -> str:
    return f"{OPENING}\n[{labels.moment(turn.event_time)}] {for_chat(turn.content or '')}\n{CLOSING}"
