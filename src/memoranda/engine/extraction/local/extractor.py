"""The local extractor: turns in, typed items out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from memoranda.engine.extraction.items import ExtractedItem, Extraction, SourceTurn
from memoranda.engine.extraction.local.definitions import definitions, glossary
from memoranda.engine.extraction.local.lang_de import GERMAN
from memoranda.engine.extraction.local.lang_en import ENGLISH
from memoranda.engine.extraction.local.lang_es import SPANISH
from memoranda.engine.extraction.local.lang_fr import FRENCH
from memoranda.engine.extraction.local.lang_ja import JAPANESE
from memoranda.engine.extraction.local.lang_ko import KOREAN
from memoranda.engine.extraction.local.lang_zh import CHINESE
from memoranda.engine.extraction.local.language import detect
from memoranda.engine.extraction.local.procedures import procedures
from memoranda.engine.extraction.local.rules import Language, shorten, slug
from memoranda.engine.extraction.local.sentences import line_key, readable, recalled_keys, sentences, split_recalled
from memoranda.engine.extraction.local.statements import Voice, statements

_LANGUAGES: dict[str, Language] = {
    language.code: language for language in (ENGLISH, GERMAN, FRENCH, SPANISH, KOREAN, JAPANESE, CHINESE)
}
_USER_ROLES = frozenset({"user", "human"})
_PERSON_ROLES = _USER_ROLES | {"assistant"}
_MACHINE_NAMES = frozenset("assistant bot ai agent model system tool chatbot gpt claude gemini copilot chatgpt".split())
_MIN_RECALLED = 8
_MAX_SUMMARY = 300
_INFORMATIVE = 20


def extract(turns: Sequence[SourceTurn], *, kinds: frozenset[str], label: str) -> Extraction:
    """Give the items of the enabled `kinds` in the order of the turns; none means nothing to extract."""
    texts, recalled = _texts(turns)
    two_people = _two_people(turns)
    items: dict[tuple[str, str], ExtractedItem] = {}
    for turn in turns:
        for item in _read(turn, texts[turn.turn_id], recalled, two_people):
            if item.kind in kinds:
                items.setdefault((item.kind, slug_content(item.content)), item)
    return Extraction(tuple(items.values()), _summary(turns, texts), label)


def slug_content(content: str) -> str:
    """The content as compared for repeats within a snapshot: words only, case aside."""
    return " ".join("".join(char if char.isalnum() else " " for char in content.casefold()).split())


def _texts(turns: Sequence[SourceTurn]) -> tuple[dict[str, str], frozenset[str]]:
    """The readable text of every turn without recalled context, and the keys of all recalled lines."""
    texts: dict[str, str] = {}
    recalled: set[str] = set()
    for turn in turns:
        texts[turn.turn_id], lines = split_recalled(readable(turn.content))
        recalled.update(key for key in recalled_keys(lines) if len(key) >= _MIN_RECALLED)
    return texts, frozenset(recalled)


def _two_people(turns: Sequence[SourceTurn]) -> bool:
    """Whether both sides are persons known by name, so that nobody in this chat is an agent."""
    names = {turn.speaker.strip() for turn in turns if turn.speaker and turn.role == "assistant"}
    others = {turn.speaker.strip() for turn in turns if turn.speaker and turn.role in _USER_ROLES}
    return bool(names and others) and not names & others and not any(_machine(name) for name in names)


def _machine(name: str) -> bool:
    return any(word in _MACHINE_NAMES for word in slug(name).split("-"))


def _read(turn: SourceTurn, text: str, recalled: frozenset[str], two_people: bool) -> Iterator[ExtractedItem]:
    speaks = turn.role in _USER_ROLES or (two_people and turn.role == "assistant" and turn.speaker)
    if not speaks or not text.strip():
        return
    kept = "\n".join(line for line in text.split("\n") if line_key(line) not in recalled)
    base = detect(kept)
    voice = Voice(turn.turn_id, _aware(turn.event_time), _speaker(turn), agent=not two_people)
    for sentence in sentences(kept):
        if line_key(sentence.text) in recalled:
            continue
        language = _LANGUAGES.get(_language(sentence.text, base) or "")
        if language is not None:
            yield from statements(sentence, language, voice)
        if not two_people:
            yield from definitions(sentence.text, turn.turn_id)
    if not two_people:
        yield from procedures(kept, turn.turn_id)
        yield from glossary(kept.split("\n"), turn.turn_id)


def _language(sentence: str, base: str | None) -> str | None:
    """A sentence's language; Han alone in a Japanese turn is Japanese, and a wordless sentence follows its turn."""
    found = detect(sentence)
    if found is None or (found == "zh" and base in ("ja", "ko")):
        return base
    return found


def _speaker(turn: SourceTurn) -> str | None:
    name = " ".join(readable(turn.speaker).split())[:60]
    return name or None


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _summary(turns: Sequence[SourceTurn], texts: dict[str, str]) -> str:
    """The first informative sentences that people said, at most 300 characters."""
    chosen: list[str] = []
    for turn in sorted((turn for turn in turns if turn.role in _PERSON_ROLES), key=_user_first):
        for sentence in sentences(texts[turn.turn_id]):
            if len(sentence.text.encode()) < _INFORMATIVE or len(" ".join([*chosen, sentence.text])) > _MAX_SUMMARY:
                if chosen:
                    return " ".join(chosen)
                continue
            chosen.append(sentence.text)
            if len(chosen) == 2:
                return " ".join(chosen)
    if chosen:
        return " ".join(chosen)
    spoken = (" ".join(texts[turn.turn_id].split()) for turn in turns if turn.role in _PERSON_ROLES)
    return shorten(next((text for text in spoken if text), ""), _MAX_SUMMARY)


def _user_first(turn: SourceTurn) -> bool:
    return turn.role not in _USER_ROLES
