"""Sentences of a turn: what may be read at all, quotes masked, split for every script, with bounded work."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

MAX_TURN = 40_000
MAX_SENTENCES = 300
MAX_SENTENCE = 500
MASK = "\ue000"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ue000]")
_FENCE = re.compile(r"(?:```|~~~)[^\n]*\n?.*?(?:```|~~~|\Z)", re.DOTALL)
_BLOCK = re.compile(r"<memory_context\b.*?(?:</memory_context\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}\s*relevant memor(?:y|ies)\b", re.IGNORECASE)
_ANY_HEADING = re.compile(r"^#{1,6}\s")
_TAG = re.compile(r"<[^<>\n]{1,300}>")
# What a renderer sets before a remembered text: bullets, dates in brackets, a role or a name.
_PREFIX = re.compile(r"^\s*(?:[-*•]\s+)?(?:\[[^\]\n]{1,60}\]\s*)*(?:\([^)\n]{1,60}\)\s*)?(?:\w{1,30}:\s+)?")
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)]|\[[^\]\n]{1,40}\])\s+")
# Quoted mail, shell and interpreter sessions, log lines, stack traces, markup and JSON: not a person speaking.
_MACHINE = re.compile(
    r"^\s*(?:[>|$]|>>>|\.\.\. |# |Traceback \(|File \"|at [\w.$]+\(|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b|[{}\[\]]|<[/\w!]|\"[\w-]+\"\s*:|(?:import|from) \w+ ?(?:import)?$)"
)
_QUOTES = re.compile(
    r"“[^“”]{1,1500}”|\"[^\"\n]{1,1500}\"|«[^«»]{1,1500}»|„[^„“”\"]{1,1500}[“”\"]|»[^«»]{1,1500}«|「[^「」]{1,1500}」"
    r"|『[^『』]{1,1500}』|(?<![\w’'])[‘'][^‘’'\n]{1,300}[’'](?!\w)|`[^`\n]{1,300}`"
)
_SPEAKING = re.compile(r"\b(?:i|ich|je|j'|yo|we|wir|nous|my|mein\w*|mi|mon|ma)\b|我|私|僕|저|나는|내가", re.IGNORECASE)
_END = re.compile(r"[.!?…]+[\"'”’)\]»]*(?=\s)|[。！？]+[”」』）]*|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:\d{1,2}|[A-Za-z]|Dr|Mr|Mrs|Ms|St|Prof|Sr|Jr|vs|etc|e\.g|i\.e|ca|ggf|bzw|z\.B|d\.h|Nr|No|Sra|Mme|Hr|Fr|bspw|approx)$"
)


# A request to work on a text: what follows in the turn is that text, not the speaker's own word.
_WORK_ON_TEXT = re.compile(
    r"\b(?:rewrite|translate|proofread|paraphrase|rephrase|polish|summari[sz]e|correct|edit|improve|review|shorten)\b.{0,40}"
    r"\b(?:this|these|following|below|email|e-mail|text|paragraph|sentences?|letter|message|it)\b"
    r"|\b(?:übersetze?|korrigiere?|verbessere?|formuliere?|kürze?|fasse?)\b.{0,40}\b(?:diese[nsrm]?|folgende[nsrm]?|das|den|text|satz|mail)\b"
    r"|\b(?:traduis|traduire|corrige[rz]?|reformule[rz]?|résume[rz]?)\b.{0,40}\b(?:ce|cette|ces|suivante?|texte|phrase|message)\b"
    r"|\b(?:traduce|traducir|corrige|corregir|resume|resumir|reescribe)\b.{0,40}\b(?:este|esta|estos|siguiente|texto|frase|mensaje)\b"
    r"|(?:번역|교정|요약|첨삭|다듬어).{0,8}(?:줘|주세요|해)|(?:翻訳|要約|添削|校正|書き直)し?て"
    r"|(?:翻译|改写|润色|总结|概括|修改)(?:一下|下)?(?:这|下面|以下)|(?:这|下面|以下).{0,8}(?:翻译|改写|润色)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: the text as written, and the same length of text with quoted speech masked."""

    text: str
    masked: str


def readable(content: str | None) -> str:
    """The content without control characters, lone surrogates and code fences, at most 40,000 characters."""
    if not content:
        return ""
    text = _CONTROL.sub(" ", content[:MAX_TURN].replace("\r\n", "\n").replace("\r", "\n"))
    return _FENCE.sub("\n", unicodedata.normalize("NFC", text)).replace("’", "'")


def split_recalled(text: str) -> tuple[str, list[str]]:
    """The text without recalled context, and the lines of that context."""
    recalled: list[str] = []
    for block in _BLOCK.findall(text):
        recalled += block.splitlines()
    kept: list[str] = []
    inside = False
    for line in _BLOCK.sub("\n", text).split("\n"):
        if _HEADING.match(line.strip()):
            inside = True
        elif inside and (_ANY_HEADING.match(line) or _leaves_list(line, recalled)):
            inside = False
        if inside:
            recalled.append(line)
        else:
            kept.append(line)
    return "\n".join(kept), recalled


def _leaves_list(line: str, before: list[str]) -> bool:
    """A paragraph after a blank line ends a recalled section; list items and the line after the heading do not."""
    blank_before = bool(before) and not before[-1].strip()
    listed = len(before) > 1 and any(_BULLET.match(earlier) for earlier in before[-6:])
    return bool(line.strip()) and blank_before and listed and not _BULLET.match(line)


def line_key(line: str) -> str:
    """A line as compared with recalled lines: without bullet, case, blanks and end marks."""
    return re.sub(r"\s+", " ", _BULLET.sub("", line)).strip(" .!。-*").casefold()


def recalled_keys(lines: list[str]) -> Iterator[str]:
    """The keys of recalled lines and of their sentences, without the tags, dates and names set before them."""
    for line in lines:
        for part in _TAG.sub("\n", unescape(line)).split("\n"):
            said = _PREFIX.sub("", part)
            yield from (line_key(part), line_key(said), *(line_key(sentence.text) for sentence in sentences(said)))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences a person speaks in `text`, at most 300; longer ones than 500 characters are passed over.

    A request to rewrite or translate a text ends them: the text that follows speaks for somebody else.
    """
    spoken = "\n".join("" if _MACHINE.match(line) else _BULLET.sub("", line) for line in text.split("\n"))
    masked = _QUOTES.sub(_mask, spoken)
    count = 0
    for start, end in _spans(masked):
        piece = spoken[start:end]
        inner = len(piece) - len(piece.lstrip())
        body = piece.strip()
        if len(body) < 2 or len(body) > MAX_SENTENCE:
            continue
        if _WORK_ON_TEXT.search(masked[start:end]):
            return
        begin = start + inner
        yield Sentence(body, masked[begin : begin + len(body)])
        count += 1
        if count >= MAX_SENTENCES:
            return


def _mask(match: re.Match[str]) -> str:
    quoted = match[0]
    inside = quoted[1:-1]
    long = len(inside.split()) > 4 or (len(inside) > 12 and not inside.isascii() and " " not in inside)
    return MASK * len(quoted) if long or _SPEAKING.search(inside) else quoted


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if match[0] == "." and _ABBREVIATION.search(text[max(start, match.start() - 8) : match.start()]):
            continue
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)
