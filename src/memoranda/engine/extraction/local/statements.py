"""First-person statements: one sentence of one speaker becomes semantic and episodic items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.local.dates import TimeHit, find_time
from memoranda.engine.extraction.local.rules import MAX_CONTENT, STRICT_GROUPS, Language, Rule, shorten, slug
from memoranda.engine.extraction.local.sentences import MASK, Sentence

_MAX_CLAUSES = 12
_FIELD = re.compile(r"\{(\w+)\}")
_CANONICAL_GROUPS = frozenset({"rel", "pet", "topic"})
_VAGUE_GROUPS = frozenset({"thing", "place", "org", "job"})
_WITH_NAME = re.compile(r"\b(?:with|mit|avec|con|meet|met|and|und|et|y) ((?-i:[A-ZÀ-Þ])[\w'-]+)")
_TITLE = 80
_WORD = re.compile(r"\w[\w'-]*")
_MIN_TOLD = 3
_INSIDE_WORD = re.compile(r"\w\w")
_BEFORE_QUESTION = re.compile(r"[,;:—–、，；：(](?:\s+|(?<=[、，；：(])|(?=¿))|\s+(?=¿)")
# Facts that begin at a time one may name; with any other the time told belongs to something else.
_CHANGES = frozenset({"residence", "employer", "job", "age", "uses", "marital-status", "owns", "diet", "health"})
# A time this far from the words of a fact belongs to another clause.
_NEAR = 25


@dataclass(frozen=True, slots=True)
class Voice:
    """Who speaks, when, and which turn it is; `agent` tells whether an agent is spoken to, which guidelines need."""

    turn_id: str
    event_time: datetime
    name: str | None
    agent: bool = True


@dataclass(frozen=True, slots=True)
class _Expand:
    """The replacement of a rewrite, with the speaker's name put in after the groups: a name is never a template."""

    template: str
    who: str

    def __call__(self, match: re.Match[str]) -> str:
        return match.expand(self.template).replace("{who}", self.who)


@dataclass(frozen=True, slots=True)
class _Found:
    """A rule that matched a clause, with its cleaned groups and the clause's time."""

    rule: Rule
    clause: str
    values: dict[str, str]
    hit: TimeHit | None


def statements(sentence: Sentence, language: Language, voice: Voice) -> Iterator[ExtractedItem]:
    """The items one sentence of `voice` gives; questions, hypotheses and quoted speech give none."""
    sentence = _without_closing_question(sentence, language)
    if language.question.search(sentence.masked):
        return
    unreal = language.unreal.search(sentence.masked) is not None
    told = False
    for starts in _clause_starts(sentence.masked, language):
        found = [match for start in starts for match in _matches(sentence, start, language, voice.event_time)]
        found = [match for match in found if _allowed(match.rule, unreal=unreal, agent=voice.agent)]
        items = _facts([match for match in found if match.rule.kind == "semantic"], language, voice)
        yield from items
        episodes = [match for match in found if match.rule.kind == "episodic"]
        if episodes and not items and not told:
            told = True
            yield _episode(episodes[0], language, voice)
        if any(item.record_type == "guideline" for item in items):
            return


def _without_closing_question(sentence: Sentence, language: Language) -> Sentence:
    """What is stated before a question in the same sentence: "I fly to Rome on Friday, any tips?"."""
    if language.asks is None or not language.question.search(sentence.masked):
        return sentence
    for mark in _BEFORE_QUESTION.finditer(sentence.masked):
        if language.asks.match(sentence.masked, mark.end()):
            return Sentence(sentence.text[: mark.start()], sentence.masked[: mark.start()])
    return sentence


def _allowed(rule: Rule, *, unreal: bool, agent: bool) -> bool:
    """Instructions may carry conditions, and make sense to an agent only; all else must be real."""
    return agent if rule.record_type == "guideline" else not unreal


def _facts(found: list[_Found], language: Language, voice: Voice) -> list[ExtractedItem]:
    """One item a label, the first rule winning; an instruction is nothing else beside."""
    items: dict[str | None, ExtractedItem] = {}
    for match in found:
        item = _semantic(match, language, voice)
        if item.record_type == "guideline" and items:
            continue
        items.setdefault(item.label, item)
        if item.record_type == "guideline":
            break
    return list(items.values())


def _clause_starts(masked: str, language: Language) -> list[list[int]]:
    """Where clauses start, each with the place behind its interjections where there are any."""
    starts = sorted({0, *(match.end() for match in language.clause.finditer(masked))})[:_MAX_CLAUSES]
    groups: list[list[int]] = []
    seen: set[int] = set()
    for start in starts:
        led = language.lead.match(masked, start)
        places = [place for place in dict.fromkeys((start, led.end() if led else start)) if place not in seen]
        seen.update(places)
        groups.append(places)
    return groups


def _matches(sentence: Sentence, start: int, language: Language, anchor: datetime) -> Iterator[_Found]:
    hits: dict[int, TimeHit | None] = {}
    for rule in language.rules:
        match = rule.pattern.match(sentence.masked, start)
        if match is None:
            continue
        if rule.tense not in hits:
            hits[rule.tense] = find_time(sentence.masked, language.times, anchor, tense=rule.tense or -1)
        hit = hits[rule.tense]
        if rule.kind == "semantic" and hit is not None and not _near(hit, start, match.end()):
            hit = None
        if _unfit(rule, match[0], language):
            continue
        if rule.needs_time and not (_fits(rule, hit) and _tells(match, hit, language)):
            continue
        values = _values(match, sentence, language, hit)
        if values is None:
            continue
        yield _Found(rule, sentence.text[start : match.end()].strip(" ,;"), values, hit)


def _fits(rule: Rule, hit: TimeHit | None) -> bool:
    """Whether a stated time agrees with the tense: no plan for yesterday, no memory of tomorrow."""
    return hit is not None and (hit.side == rule.tense or hit.side == 0)


def _tells(match: re.Match[str], hit: TimeHit | None, language: Language) -> bool:
    """Whether an episode says more than when: "I'm starting next week" does not."""
    if hit is None or not language.spaced:
        return True
    said = match.string[match.start() : max(match.start(), hit.start)] + " " + match.string[hit.end : match.end()]
    return len(_WORD.findall(said)) >= _MIN_TOLD


def _values(match: re.Match[str], sentence: Sentence, language: Language, hit: TimeHit | None) -> dict[str, str] | None:
    """The cleaned groups of a match, None when one of them says nothing or was quoted."""
    values: dict[str, str] = {}
    for group, raw in match.groupdict().items():
        if raw is None:
            continue
        begin, end = match.span(group)
        strict = group in STRICT_GROUPS
        if strict and hit is not None:
            if hit.start <= begin < hit.end:
                return None
            if begin < hit.start < end:
                end = hit.start
        if group == "thing" and language.spaced and _INSIDE_WORD.match(match.string, end - 1):
            return None  # longer than a crisp value may be
        value = _tidy(sentence.text[begin:end], language, strict=strict)
        if MASK in sentence.masked[begin : begin + len(value)]:
            return None
        if not slug(value) or (group in _VAGUE_GROUPS and language.vague.match(value)):
            return None
        values[group] = value
    return values


def _unfit(rule: Rule, clause: str, language: Language) -> bool:
    """Whether a clause told as it stands speaks to the listener or of somebody else."""
    if rule.content is not None or rule.record_type == "guideline":
        return False
    if language.addressed is not None and language.addressed.search(clause):
        return True
    told = rule.kind == "episodic" or rule.record_type == "memory"
    return told and language.others is not None and language.others.search(clause) is not None


def _near(hit: TimeHit, start: int, end: int) -> bool:
    return hit.start <= end + _NEAR and hit.end >= start - _NEAR


def _tidy(value: str, language: Language, *, strict: bool) -> str:
    cut = language.cut_strict if strict else language.cut
    value = value.removesuffix("'s")
    return cut.sub("", value.strip()).strip(" ,;:.!?。、，！？\"'“”«»„「」()-–—")


def _semantic(found: _Found, language: Language, voice: Voice) -> ExtractedItem:
    rule = found.rule
    if rule.record_type == "guideline":
        content = _fill(language.guideline, {"who": _who(language, voice), "text": _sentence_end(found.clause)})
    else:
        content = _content(found, language, voice)
    label = _label(found, language)
    changes = label is not None and label.split(":")[0] in _CHANGES
    dated = changes and found.hit is not None and found.hit.side < 0
    return ExtractedItem(
        kind="semantic",
        content=shorten(content, MAX_CONTENT),
        record_type=rule.record_type,
        label=label,
        event_time=found.hit.latest(voice.event_time) if dated and found.hit is not None else voice.event_time,
        turn_ids=(voice.turn_id,),
    )


def _label(found: _Found, language: Language) -> str | None:
    template = found.rule.label
    if template is None or found.values.get("rel") in language.many:
        return None
    keys: dict[str, str] = {}
    for group, value in found.values.items():
        plain = language.article.sub("", value)
        key = slug(plain) or slug(value)
        keys[group] = language.canonical.get(value.casefold(), key) if group in _CANONICAL_GROUPS else key
    return _fill(template, keys).strip(":")


def _episode(found: _Found, language: Language, voice: Voice) -> ExtractedItem:
    content = shorten(_content(found, language, voice), MAX_CONTENT)
    when = found.hit.moment if found.hit is not None else voice.event_time
    who = voice.name or "user"
    others = [name for name in _WITH_NAME.findall(found.clause) if name.casefold() not in {"i", "ich", "je", "yo"}]
    return ExtractedItem(
        kind="episodic",
        content=content,
        body={
            "title": shorten(content, _TITLE),
            "participants": list(dict.fromkeys([who, *others])),
            "tags": ["plan" if found.rule.tense > 0 else "event"],
        },
        event_time=when,
        turn_ids=(voice.turn_id,),
    )


def _content(found: _Found, language: Language, voice: Voice) -> str:
    who = _who(language, voice)
    template = found.rule.content
    if template is not None:
        text = _fill(template, {**found.values, "who": who, "topic_mark": _korean_mark(who)})
        own = _fill(template, {**found.values, "who": "", "topic_mark": ""})
        if language.first_person.search(own):
            text = _third_person(text, who, language)
        if language.first_person.search(text):
            text = _quoted(found.clause, who)
    else:
        text = _third_person(found.clause, who, language)
        if who.casefold() not in text.casefold():
            text = _subject(text, found.clause, who, language)
        if language.first_person.search(text.replace(who, "")):
            text = _quoted(found.clause, who)
    for apart, joined in language.joins:
        text = text.replace(apart, joined)
    return _dated(_sentence_end(text), found)


def _third_person(text: str, who: str, language: Language) -> str:
    for pattern, replacement in language.rewrites:
        text = pattern.sub(_Expand(replacement, who), text)
    if who == language.user and language.spaced:
        inner = who[0].lower() + who[1:]
        text = text[:1] + text[1:].replace(who, inner)
    return text[:1].upper() + text[1:]


def _subject(text: str, clause: str, who: str, language: Language) -> str:
    """The text with the speaker put before it where the language can, otherwise what was said in quotes."""
    if language.subject is None:
        return _quoted(clause, who)
    return _fill(language.subject, {"who": who, "topic_mark": _korean_mark(who)}) + text


def _quoted(clause: str, who: str) -> str:
    return f"{who}: “{clause.strip(' ,;')}”"


def _sentence_end(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    ended = text[-1:] in ".!?。！？”…"
    return text if ended else text + ("。" if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]$", text) else ".")


def _dated(text: str, found: _Found) -> str:
    """A relative time means nothing later: the resolved date is written behind it."""
    if found.hit is None or not found.hit.relative or found.rule.kind == "semantic":
        return text
    mark = text[-1]
    body, end = (text[:-1], mark) if mark in ".!。！" else (text, "")
    return f"{body} ({found.hit.written}){end}"


def _who(language: Language, voice: Voice) -> str:
    return voice.name or language.user


def _korean_mark(who: str) -> str:
    """The topic particle that follows a name: 은 after a final consonant, 는 otherwise."""
    last = ord(who[-1]) if who else 0
    return "은" if 0xAC00 <= last <= 0xD7A3 and (last - 0xAC00) % 28 else "는"


def _fill(template: str, values: dict[str, str]) -> str:
    return _FIELD.sub(lambda match: values.get(match[1], ""), template)
