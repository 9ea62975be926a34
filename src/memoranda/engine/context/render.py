"""A selection as a prompt: chat messages (``openai``), XML (``claude``) or Markdown (``jinja2``).

Every form says that it is data and stands between our marks; an empty selection gives nothing at all. The same
selection gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeAlias

from memoranda.engine.context import labels
from memoranda.engine.context.chat import render_chat
from memoranda.engine.context.escape import for_xml, for_xml_attribute
from memoranda.engine.context.markdown import render_markdown
from memoranda.engine.context.markers import CLOSING, NOTE, OPENING
from memoranda.engine.context.selection import Selection, SessionTurns
from memoranda.engine.context.tool_calls import call_text
from memoranda.engine.context.wording import wording
from memoranda.engine.records import Image, MemoryRecord, Profile, Turn
from memoranda.sdk.errors import MemoryClientError

Formatted: TypeAlias = str | list[dict[str, object]]


class Style(StrEnum):
    """The form of a rendered context."""

    OPENAI = "openai"
    CLAUDE = "claude"
    JINJA2 = "jinja2"


def style_named(name: str) -> Style:
    """Return the style of a name, whatever its case; raises ``MemoryClientError`` for any other."""
    try:
        return Style(name.lower())
    except ValueError:
        raise MemoryClientError(f"unknown format style {name!r}: use one of {', '.join(Style)}") from None


def render(selection: Selection, style: Style) -> Formatted:
    """Render a selection; ``""`` or ``[]`` when it is empty."""
    return _RENDERERS[style](selection)


def text_of(formatted: Formatted) -> str:
    """Return what a rendering costs as text: messages count as their JSON."""
    if isinstance(formatted, str):
        return formatted
    return json.dumps(formatted, ensure_ascii=False, separators=(",", ":")) if formatted else ""


def render_xml(selection: Selection) -> str:
    """Render as XML."""
    if selection.empty:
        return ""
    names = labels.session_names(selection.sessions)
    lines = [OPENING, f"<note>{NOTE}</note>"]
    for kind, records in selection.memories:
        lines += [f'<memories kind="{for_xml_attribute(kind)}">', *map(_xml_memory, records), "</memories>"]
    for name, session in zip(names, selection.sessions, strict=True):
        lines += [f'<conversation session="{for_xml_attribute(name)}">', *_xml_turns(session), "</conversation>"]
    return "\n".join([*lines, CLOSING])


def _xml_memory(record: MemoryRecord | Profile | Image) -> str:
    attributes = {"type": labels.flavour(record), "date": labels.date_of(record), "superseded": labels.ended(record)}
    return f"<memory{_attributes(attributes)}>{for_xml(wording(record))}</memory>"


def _xml_turns(session: SessionTurns) -> Iterable[str]:
    for turn in session.turns:
        attributes = {"role": turn.role, "time": labels.moment(turn.event_time), "tool": turn.tool_name or ""}
        yield f"<turn{_attributes(attributes)}>{_xml_content(turn)}</turn>"


def _xml_content(turn: Turn) -> str:
    calls = "".join(f"<tool_call>{for_xml(call_text(call))}</tool_call>" for call in turn.tool_calls or ())
    return for_xml(turn.content or "") + calls


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {name}="{for_xml_attribute(value)}"' for name, value in values.items() if value)


_RENDERERS: Mapping[Style, Callable[[Selection], Formatted]] = {
    Style.OPENAI: render_chat,
    Style.CLAUDE: render_xml,
    Style.JINJA2: render_markdown,
}
