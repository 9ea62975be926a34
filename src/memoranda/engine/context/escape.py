"""Remembered text, made safe for each format: it cannot close our marks, end a block, or pose as a speaker."""

from __future__ import annotations

import re
from typing import Final

from memoranda.engine.context.markers import defuse_markers

# Control characters, lone surrogates, direction overrides and invisible tags: nothing a reader would see.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
_LINE_BREAKS: Final = re.compile("\r\n?|\u2028|\u2029")
_CHAT_TOKENS: Final = re.compile(r"<(?=\||<SYS>>|</SYS>>|/?s>)|\[(?=/?INST\])", re.IGNORECASE)
_ENTITY: Final = re.compile(r"&(?=#?\w+;)")
_BLOCK_START: Final = re.compile(r"^(\s*)([#>\-+*=_|~`]|\d+(?=[.)]))", re.MULTILINE)
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
# One line of words and sentence punctuation that does not start as a list: most text, and nothing to escape in it.
_PLAIN: Final = re.compile(r"(?!\d+[.)])[^\W_][\w ,.;:?!'\"%/()-]*")


def clean(text: str) -> str:
    """Return the text with one kind of line break and without invisible characters."""
    return _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", text)).strip()


def for_chat(text: str) -> str:
    """Escape for the content of a chat message between our marks."""
    return _CHAT_TOKENS.sub(_entity, defuse_markers(clean(text)))


def for_xml(text: str) -> str:
    """Escape for the content of an XML element."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def for_xml_attribute(text: str) -> str:
    """Escape for an XML attribute in double quotes."""
    return for_xml(text).replace('"', "&quot;").replace("\n", " ")


def for_markdown(text: str) -> str:
    """Escape for a Markdown list item: no line of it opens a block, a tag or a fence."""
    if _PLAIN.fullmatch(text):
        return text.rstrip()
    plain = _ENTITY.sub("&amp;", clean(text)).replace("<", "&lt;")
    safe = _CHAT_TOKENS.sub(_entity, plain)
    safe = _BLOCK_START.sub(_escaped_start, safe)
    safe = _FENCE.sub(lambda fence: "\\" + "\\".join(fence[0]), safe)
    return safe.replace("\n", "\n  ")


def for_markdown_line(text: str) -> str:
    """Escape for a part of one Markdown line, such as a heading."""
    return " ".join(for_markdown(text).split())


def _entity(match: re.Match[str]) -> str:
    return "&lt;" if match[0] == "<" else "&#91;"


def _escaped_start(match: re.Match[str]) -> str:
    indent, sign = match.groups()
    return f"{indent}{sign}\\" if sign.isdigit() else f"{indent}\\{sign}"
