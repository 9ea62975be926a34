"""Vocabulary: sentences that define a term, in English and German."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.local.patterns import Pattern
from memoranda.engine.extraction.local.rules import MAX_CONTENT, rx, shorten

_TERM = r"[\"'“„‚«»`]?(?P<term>[\w][\w/&+.-]*(?: [\w/&+-]+){0,3}?)[\"'”“‘«»`]?"
_DEFINITION = r"(?P<definition>[^?\n]{4,300})"
_DOMAIN = (
    r"(?:(?:in|for|im|in der|in den|bei|beim) (?:the |our |unser\w* )?(?P<domain>[\w-]+(?: [\w-]+)?)(?: team)?,? )?"
)
_LEAD = r"^(?:(?:so|and|also|note|fyi|btw|und|also|übrigens|hinweis)[,:]? )?"


# Each pattern with whether its words alone prove a definition; otherwise the term must look like one.
_PATTERNS: tuple[tuple[Pattern, bool], ...] = (
    (rx(rf"{_LEAD}{_DOMAIN}by {_TERM},? we mean {_DEFINITION}"), True),
    (rx(rf"{_LEAD}{_DOMAIN}when we say {_TERM},? we mean {_DEFINITION}"), True),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}{_TERM} is (?:our|the|my) (?:internal |own |team )?(?:term|word|name|nickname|abbreviation|shorthand) for {_DEFINITION}"
        ),
        True,
    ),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}we (?:call|refer to) (?P<definition>[^,?\n]{{4,120}}?) (?:as )?[\"“'‘](?P<term>[^\"”'’]{{1,40}})[\"”'’]"
        ),
        True,
    ),
    (rx(rf"{_LEAD}{_DOMAIN}{_TERM} (?:stands for|is short for|is an abbreviation (?:for|of)) {_DEFINITION}"), True),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}(?:an? |the (?:term|word) )?{_TERM} (?:means|refers to|is defined as|denotes) {_DEFINITION}"
        ),
        False,
    ),
    (rx(rf"{_LEAD}{_DOMAIN}(?:mit|unter) {_TERM} (?:meinen|verstehen) wir {_DEFINITION}"), True),
    (rx(rf"{_LEAD}{_DOMAIN}{_TERM} (?:steht für|ist die abkürzung für|ist kurz für) {_DEFINITION}"), True),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}{_TERM} ist (?:unser|der|die|unsere) (?:interner |interne )?(?:begriff|wort|name|bezeichnung|kürzel) für {_DEFINITION}"
        ),
        True,
    ),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}(?:wir nennen|nennen wir) (?P<definition>[^,?\n]{{4,120}}?) [\"„“'‚](?P<term>[^\"“”'‘]{{1,40}})[\"”“'‘]"
        ),
        True,
    ),
    (
        rx(
            rf"{_LEAD}{_DOMAIN}(?:ein |eine |der begriff |das wort )?{_TERM} (?:bedeutet|bezeichnet|heißt bei uns) {_DEFINITION}"
        ),
        False,
    ),
)
_GLOSSARY = re.compile(
    r"^\W{0,6}(?:glossary|terminology|glossar|begriffe|vocabulary|terms)\b[^\n]{0,40}$", re.IGNORECASE
)
_GLOSSARY_LINE = re.compile(
    r"^\s*(?:[-*•]\s*)?\**(?P<term>[\w][\w /&+.-]{0,40}?)\**\s*(?::|=|–|—| - )\s*(?P<definition>\S[^\n]{3,300})$"
)
_NOT_A_TERM = re.compile(
    r"^(?:it|this|that|which|what|he|she|they|you|i|we|these|those|there|everything|nothing|life|love|family|das|es|dies|was|er|sie"
    r"|ich|wir|alles|nichts|money|time|friendship|all|who|one|success|art|music|work|home|and|but|if|so)\b",
    re.IGNORECASE,
)
_NOT_A_DEFINITION = re.compile(
    r"^(?:a lot|so much|much|everything|the world|nothing|more|less|we|you|i|he|she|they|that|it|a great deal|something|well|no|not"
    r"|mir|uns|viel|alles|nichts|dass|mehr)\b|\b(?:to|für) (?:me|us|mich|uns)$",
    re.IGNORECASE,
)
_STARTS_AS_DEFINITION = re.compile(
    r"^(?:an?|the|any|one|all|when|how|ein|eine|einen|einem|der|die|das|den|wenn|jede\w*|alle)\b", re.IGNORECASE
)
_LOOKS_LIKE_TERM = re.compile(r"^(?:[A-ZÄÖÜ]{2,}\w*|\w*[a-z][A-Z]\w*|\w+[-/]\w+)")


def definitions(sentence: str, turn_id: str) -> Iterator[ExtractedItem]:
    """The term a sentence defines, if it defines one."""
    if sentence.endswith("?"):
        return
    for pattern, certain in _PATTERNS:
        match = pattern.match(sentence)
        if match is None:
            continue
        term, meaning = match["term"].strip(" ,"), match["definition"].strip(" .,;!\"'“”„")
        quoted = sentence[max(0, match.start("term") - 1)] in "\"'“„‚«»`" and match.start("term") > 0
        if _NOT_A_TERM.match(term) or _NOT_A_DEFINITION.search(meaning) or len(meaning) < 4:
            continue
        domain = match.groupdict().get("domain")
        evident = quoted or domain is not None or _LOOKS_LIKE_TERM.match(term) is not None
        if certain or (evident and (quoted or _STARTS_AS_DEFINITION.match(meaning))):
            yield _item(term, meaning, domain, turn_id, sentence)
            return


def glossary(lines: list[str], turn_id: str) -> Iterator[ExtractedItem]:
    """The entries of a list under a heading such as "Glossary"."""
    inside = False
    for line in lines[:2000]:
        if _GLOSSARY.match(line[:100]):
            inside = True
        elif inside and line.strip():
            match = _GLOSSARY_LINE.match(line[:400])
            if match is None:
                inside = False
                continue
            yield _item(match["term"].strip(), match["definition"].strip(), None, turn_id, None)


def _item(term: str, meaning: str, domain: str | None, turn_id: str, sentence: str | None) -> ExtractedItem:
    content = sentence if sentence is not None else f"{term}: {meaning}"
    return ExtractedItem(
        kind="taxonomic",
        content=shorten(content, MAX_CONTENT),
        body={"domain": (domain or "general").casefold(), "term": term, "definition": meaning, "related_terms": []},
        turn_ids=(turn_id,),
    )
