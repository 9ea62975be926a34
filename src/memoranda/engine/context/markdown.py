"""A selection as Markdown: list items that no remembered text can leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from memoranda.engine.context import labels
from memoranda.engine.context.escape import for_markdown, for_markdown_line
from memoranda.engine.context.markers import CLOSING, NOTE, OPENING
from memoranda.engine.context.selection import Selection, SessionTurns
from memoranda.engine.context.tool_calls import call_text
from memoranda.engine.context.wording import wording
from memoranda.engine.records import Image, MemoryRecord, Profile, Turn

if TYPE_CHECKING:
    from jinja2 import Template

_BODY = """\
{% for heading, lines in sections %}

## {{ heading }}
{% for line in lines %}
- {{ line }}
{% endfor %}
{% endfor %}
"""
_WHOLE = "{{ opening }}\n{{ note }}\n{{ sections }}{{ closing }}"


@cache
def _templates() -> tuple[Template, Template]:
    """The lists, and the whole around them."""
    # Jinja2 and what it compiles are a tenth of the time that opening a store takes, which needs neither.
    from jinja2 import Environment  # noqa: PLC0415

    # Remembered text goes in as values that are escaped for Markdown, never as a template; HTML's escaping would be
    # wrong.
    environment = Environment(autoescape=False, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_BODY), environment.from_string(_WHOLE)


def render_markdown(selection: Selection) -> str:
    """Render as Markdown; the empty string for an empty selection."""
    if selection.empty:
        return ""
    sections = memory_sections(selection) + turn_sections(selection.sessions)
    return in_marks(sections)


def in_marks(sections: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Render headed lists of lines between our marks, under the note that they are data."""
    lists, whole = _templates()
    return whole.render(opening=OPENING, note=NOTE, sections=lists.render(sections=sections), closing=CLOSING)


def memory_sections(selection: Selection) -> list[tuple[str, list[str]]]:
    """Return one headed list for each kind."""
    return [
        (for_markdown_line(labels.heading(kind)), [_memory_line(record) for record in records])
        for kind, records in selection.memories
    ]


def turn_sections(sessions: Sequence[SessionTurns]) -> list[tuple[str, list[str]]]:
    """Return one headed list for each session."""
    names = labels.session_names(sessions)
    return [
        (f"Conversation {for_markdown_line(name)}".rstrip(), [turn_line(turn) for turn in session.turns])
        for name, session in zip(names, sessions, strict=True)
    ]


def turn_line(turn: Turn) -> str:
    """Return a turn as one list item: time, role, and what was said or called."""
    speaker = " ".join(filter(None, (turn.role, turn.tool_name if turn.role == "tool" else None)))
    return f"[{labels.moment(turn.event_time)}] {for_markdown_line(speaker)}: {' '.join(_parts(turn))}"


def _parts(turn: Turn) -> Iterable[str]:
    if turn.content:
        yield for_markdown(turn.content)
    for call in turn.tool_calls or ():
        yield f"called {for_markdown(call_text(call))}"


def _memory_line(record: MemoryRecord | Profile | Image) -> str:
    ended = labels.ended(record)
    flavour = for_markdown_line(labels.flavour(record))
    notes = (flavour, labels.date_of(record), f"superseded on {ended}" if ended else "")
    return f"({', '.join(filter(None, notes))}) {for_markdown(wording(record))}"
