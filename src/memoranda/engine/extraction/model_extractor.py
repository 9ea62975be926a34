"""The extractor that asks a language model: one call a snapshot, one repair, and halves where it is too much."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from memoranda.engine.extraction.errors import (
    ExtractionError,
    ExtractionRefusedError,
    ExtractionTooLongError,
    ExtractionUnusableError,
)
from memoranda.engine.extraction.items import Extraction, ExtractionRequest, ItemFailure, SourceTurn, Usage
from memoranda.engine.extraction.parsing import ParsedReply, UnusableReply, parse_reply
from memoranda.engine.extraction.prompts import Prompt, build_prompt, repair_text
from memoranda.engine.ports import ChatModel

logger = logging.getLogger(__name__)

MODEL_EXTRACTOR: Final = "model"
"""The name that jobs ask for, whichever model answers."""

_TOO_LONG_STATUSES: Final = (400, 413, 422)
_TOO_LONG: Final = re.compile(
    r"context[ _-]?(?:length|window|size)|too (?:long|large|many tokens)|maximum.{0,40}tokens|reduce the length"
    r"|exceeds?.{0,40}(?:tokens|limit|length)",
    re.IGNORECASE | re.DOTALL,
)
_SHORTEST_SPLIT: Final = 1_000


@dataclass(frozen=True, slots=True)
class ModelExtractorSettings:
    """``max_halvings`` bounds the parts of a snapshot that is too long (2 to its power)."""

    max_halvings: int = 4


class _TooMuch(Exception):
    """The request, or the reply to it, does not fit; ``error`` is what to raise where it cannot be halved."""

    def __init__(self, error: ExtractionError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class _Meter:
    """What one extraction has cost so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def usage(self) -> Usage:
        return Usage(self.calls, self.input_tokens, self.output_tokens)


@dataclass(slots=True)
class _Parts:
    """What the parts of a snapshot gave; ``errors`` are those of parts that will never succeed."""

    replies: list[ParsedReply] = field(default_factory=list)
    errors: list[tuple[Sequence[SourceTurn], ExtractionError]] = field(default_factory=list)


class ModelExtractor:
    """Extracts with a chat model. As thread-safe as the model is."""

    name: ClassVar[str] = MODEL_EXTRACTOR
    version: ClassVar[str] = "1"

    def __init__(self, model: ChatModel, *, settings: ModelExtractorSettings | None = None) -> None:
        self._model = model
        self._settings = settings or ModelExtractorSettings()

    @property
    def provenance(self) -> str:
        """What memories say about who extracted them: ``model:<model id>/<version of prompt and schema>``."""
        return f"{self.name}:{self._model.model_id}/{self.version}"

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        """Give the items of turns, without known memories and instructions."""
        return self.extract_request(ExtractionRequest(tuple(turns), kinds))

    def extract_request(self, request: ExtractionRequest) -> Extraction:
        """Give the items of a request; what no turn says by itself costs no call.

        Raises ``ExtractionUnusableError`` when the reply cannot be read after one repair, ``ExtractionRefusedError``
        when even halves are too long, and whatever the model raises.
        """
        meter, parts = _Meter(), _Parts()
        self._extract(request, meter, parts, self._settings.max_halvings)
        if parts.errors and not parts.replies:
            raise parts.errors[0][1]
        return Extraction(
            items=tuple(item for reply in parts.replies for item in reply.items),
            summary=" ".join(reply.summary for reply in parts.replies if reply.summary),
            extractor=self.provenance,
            failures=(*(failure for reply in parts.replies for failure in reply.failures), *_failures(parts)),
            usage=meter.usage,
        )

    def _extract(self, request: ExtractionRequest, meter: _Meter, parts: _Parts, halvings: int) -> None:
        prompt = build_prompt(request)
        if prompt is None:
            return
        try:
            parts.replies.append(self._answer(prompt, meter))
        except _TooMuch as too_much:
            halves = _halves(prompt.turns) if halvings else ()
            if not halves:
                parts.errors.append((prompt.turns, too_much.error))
                return
            logger.info("extraction.halved", extra={"turns": len(prompt.turns), "halvings_left": halvings})
            for half in halves:
                self._extract(replace(request, turns=half), meter, parts, halvings - 1)
        except (ExtractionRefusedError, ExtractionUnusableError) as error:
            # Where a snapshot is read in parts, a part costs itself only.
            parts.errors.append((prompt.turns, error))

    def _answer(self, prompt: Prompt, meter: _Meter) -> ParsedReply:
        text = self._ask(prompt, prompt.user, meter)
        try:
            return parse_reply(text, prompt)
        except UnusableReply as unusable:
            logger.info("extraction.repair", extra={"reason": _class_of(unusable), "model": self._model.model_id})
            again = self._ask(prompt, repair_text(prompt, text, unusable.reason), meter)
        try:
            return parse_reply(again, prompt)
        except UnusableReply as unusable:
            error = ExtractionUnusableError(f"the model's reply cannot be used: {unusable.reason}", raw_reply=again)
            if unusable.truncated:
                raise _TooMuch(error) from unusable
            raise error from unusable

    def _ask(self, prompt: Prompt, user: str, meter: _Meter) -> str:
        meter.calls += 1
        try:
            reply = self._model.complete(prompt.system, user, schema=prompt.schema)
        except Exception as error:
            if is_too_long(error):
                raise _TooMuch(ExtractionRefusedError(f"too long even after splitting: {error}")) from error
            raise
        meter.input_tokens += reply.input_tokens
        meter.output_tokens += reply.output_tokens
        # A provider may have no text where the model gave none, whatever its type says.
        return reply.text or ""


def is_too_long(error: Exception) -> bool:
    """Return whether an error of a chat model says that the request is longer than the model takes."""
    if isinstance(error, ExtractionTooLongError):
        return True
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return status == 413 or (status in _TOO_LONG_STATUSES and _TOO_LONG.search(str(error)) is not None)


def _halves(turns: Sequence[SourceTurn]) -> tuple[tuple[SourceTurn, ...], ...]:
    """Return turns in two halves; of a single turn, the halves of its text; nothing where that is short."""
    if len(turns) > 1:
        middle = len(turns) // 2
        return tuple(turns[:middle]), tuple(turns[middle:])
    [turn] = turns
    if len(turn.content) < _SHORTEST_SPLIT:
        return ()
    middle = _gap(turn.content)
    return (replace(turn, content=turn.content[:middle]),), (replace(turn, content=turn.content[middle:]),)


def _gap(text: str) -> int:
    """Return a place near the middle of a text: at the end of a paragraph, else of a line, a word, or anywhere."""
    middle, reach = len(text) // 2, len(text) // 4
    for mark in ("\n\n", "\n", " "):
        found = text.rfind(mark, middle - reach, middle + reach)
        if found > 0:
            return found
    return middle


def _failures(parts: _Parts) -> list[ItemFailure]:
    """Return the parts that failed beside parts that succeeded, each as a failure of its own."""
    return [
        ItemFailure(f"turns {turns[0].turn_seq} to {turns[-1].turn_seq}: {error}", error.raw_reply or "")
        for turns, error in parts.errors
    ]


def _class_of(unusable: UnusableReply) -> str:
    return "truncated" if unusable.truncated else "unusable"
