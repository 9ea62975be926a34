"""The shape of a language: patterns, templates and words as data, read by the shared engine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from memoranda.engine.extraction.local.dates import TimeWords
from memoranda.engine.extraction.local.patterns import Pattern

MAX_CONTENT = 400
_MAX_SLUG = 60
# A blank that is itself repeated or ends a character class is left alone.
_BLANK = re.compile(r" (?![?*+{\]])")
_NOT_WORD = re.compile(r"[^\w]+")

# Groups that hold one noun phrase end at the first conjunction; a `thing` may itself contain "and" or "with".
STRICT_GROUPS = frozenset({"place", "org", "job", "name", "other"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern, matched where a clause starts, and what a match means.

    `label` and `content` are templates over the named groups (and `who`); a content of None rewrites the clause into
    the third person, or quotes it when that is not clean. `needs_time` asks for a time expression in the sentence.
    `tense` is -1 for what happened, 1 for what is planned, 0 for what is so.
    """

    pattern: Pattern
    label: str | None = None
    content: str | None = None
    kind: str = "semantic"
    record_type: str = "fact"
    needs_time: bool = False
    tense: int = 0


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the engine knows about one language.

    `asks` is how a closing question starts after a statement ("…, any tips?"). `addressed` finds what only makes sense to the person spoken to; `others` finds that
    somebody else is the subject, where the speaker may go unnamed. `many` are relations one has several of, so that
    a statement about one of them is no key.
    """

    code: str
    user: str
    rules: tuple[Rule, ...]
    clause: Pattern
    lead: Pattern
    unreal: Pattern
    question: Pattern
    vague: Pattern
    cut: Pattern
    cut_strict: Pattern
    first_person: Pattern
    article: Pattern
    times: TimeWords
    rewrites: tuple[tuple[Pattern, str], ...] = ()
    guideline: str = "{who}: {text}"
    asks: Pattern | None = None
    addressed: Pattern | None = None
    others: Pattern | None = None
    many: frozenset[str] = frozenset()
    joins: tuple[tuple[str, str], ...] = ()
    subject: str | None = None
    canonical: Mapping[str, str] = field(default_factory=dict)
    spaced: bool = True


def rx(pattern: str) -> Pattern:
    """Return a pattern of a language table: case-insensitive, a space standing for any run of blanks."""
    return Pattern(_BLANK.sub(r"\\s+", pattern))


def fact(pattern: str, label: str | None, content: str | None = None) -> Rule:
    """A rule for a fact."""
    return Rule(rx(pattern), label, content)


def preference(pattern: str, label: str | None, content: str | None = None) -> Rule:
    """A rule for a preference."""
    return Rule(rx(pattern), label, content, record_type="preference")


def memory(pattern: str, label: str | None = None, content: str | None = None) -> Rule:
    """A rule for a semantic memory of no special flavour, such as a habit or a decision."""
    return Rule(rx(pattern), label, content, record_type="memory")


def guideline(pattern: str, label: str | None = None) -> Rule:
    """A rule for an instruction to the agent that is meant to last."""
    return Rule(rx(pattern), label, record_type="guideline")


def event(pattern: str, *, needs_time: bool = True) -> Rule:
    """A rule for something that happened."""
    return Rule(rx(pattern), kind="episodic", needs_time=needs_time, tense=-1)


def plan(pattern: str) -> Rule:
    """A rule for something that will happen at a stated time."""
    return Rule(rx(pattern), kind="episodic", needs_time=True, tense=1)


def slug(text: str) -> str:
    """A stable key of a phrase: compatibility-normalised, lower case, words joined by hyphens, at most 60 characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub("-", plain).strip("-_")[:_MAX_SLUG].rstrip("-")


def shorten(text: str, limit: int) -> str:
    """The text in at most `limit` characters, cut at a blank where there is one, with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    blank = head.rfind(" ")
    return (head[:blank] if blank > limit // 2 else head).rstrip(" ,;:") + "…"
