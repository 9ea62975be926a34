"""The engine's extractor that asks the language models of threads: memories, their links, and the running summary."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import ClassVar, Final

from memoranda.engine.extraction.items import (
    ExtractedItem,
    Extraction,
    ExtractionRequest,
    ItemFailure,
    RelatedMemory,
    SourceTurn,
    Usage,
)
from memoranda.engine.jobs.failure import PostponedError
from memoranda.engine.ports import Clock
from memoranda.engine.records import SEMANTIC
from memoranda.runtime.opening import SystemClock
from memoranda.threads.apis import ILlm
from memoranda.threads.extraction_prompts import (
    MOST_RELATED,
    extraction_schema,
    extraction_system,
    extraction_user,
    shortening_system,
)
from memoranda.threads.extraction_replies import Reply, Said, read_extraction
from memoranda.threads.extraction_settings import ExtractorSettings, LinkMode
from memoranda.threads.linking import Linked, linked
from memoranda.threads.prompt_text import (
    ShownMessage,
    ask,
    characters,
    estimated_tokens,
    head_and_tail,
    in_passes,
    rendered_messages,
    trimmed_context,
)
from memoranda.threads.records import AGENT_MEMORY_KEY
from memoranda.threads.running_summary import RunningSummary, carried_on, summary_of

logger = logging.getLogger(__name__)

THREAD_EXTRACTOR: Final = "thread-llm"
"""The name that the jobs of threads ask for, whichever model answers."""

_RETRY: Final = timedelta(minutes=1)
_QUERY: Final = 2_000
_REMINDERS: Final = 4
"""How many messages of a question are context of the next, where one batch needs several."""


class ThreadExtractor:
    """Asks the model of the thread: the one it was opened with in this process, else the client's. Thread-safe.

    Where there is none, as after a restart without it, the work waits until there is.
    """

    name: ClassVar[str] = THREAD_EXTRACTOR
    version: ClassVar[str] = "1"

    def __init__(self, llm: ILlm | None = None, *, clock: Clock | None = None) -> None:
        self._llm = llm
        self._clock = clock or SystemClock()
        self._of_threads: dict[str, ILlm] = {}
        self._lock = threading.Lock()

    def provide(self, thread_id: str, llm: ILlm) -> None:
        """Have the messages of a thread read by a model of its own from now on."""
        with self._lock:
            if llm is self._llm:
                self._of_threads.pop(thread_id, None)
            else:
                self._of_threads[thread_id] = llm

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        """Give the memories of turns, without anything else being known."""
        return self.extract_request(ExtractionRequest(tuple(turns), kinds))

    def extract_request(self, request: ExtractionRequest) -> Extraction:
        """Give the memories of a request's turns; raises what the model raises when it is asked for them.

        What an answer has that cannot be used, links and a summary that could not be had, are failures of their own.
        """
        llm = self._llm_of(request.session_id)
        reading = _Reading(llm, request, ExtractorSettings.of(request.settings or {}))
        if reading.settings.extract:
            reading.extract()
        summary = reading.summary()
        return Extraction(
            items=tuple(_item(each, ids) for each, ids in zip(reading.memories, reading.sources, strict=True)),
            summary="" if summary is None else summary.text,
            extractor=f"{self.name}:{type(llm).__name__}/{self.version}",
            failures=tuple(reading.failures),
            usage=Usage(calls=reading.calls),
            running_summary=None if summary is None else summary.stored(),
        )

    def _llm_of(self, thread_id: str) -> ILlm:
        with self._lock:
            llm = self._of_threads.get(thread_id, self._llm)
        if llm is None:
            reason = "the thread's language model is not here; open the thread with its llm"
            raise PostponedError(reason, self._clock.now() + _RETRY)
        return llm


@dataclass(frozen=True, slots=True)
class _Question:
    """One request for memories."""

    system: str
    context: Sequence[ShownMessage]
    summary: str
    newest: Sequence[ShownMessage]
    related: Sequence[RelatedMemory]
    during: bool

    def user(self) -> str:
        return extraction_user(self.context, self.summary, self.newest, self.related)

    def halves(self) -> tuple[_Question, ...]:
        """Return this question in two; nothing for a single message."""
        middle = len(self.newest) // 2
        if not middle:
            return ()
        return replace(self, newest=self.newest[:middle]), replace(self, newest=self.newest[middle:])


@dataclass(slots=True)
class _Reading:
    """The reading of one request: what it asks, and what it found so far."""

    llm: ILlm
    request: ExtractionRequest
    settings: ExtractorSettings
    memories: list[Linked] = field(default_factory=list)
    sources: list[tuple[str, ...]] = field(default_factory=list)
    failures: list[ItemFailure] = field(default_factory=list)
    calls: int = 0

    def extract(self) -> None:
        """Ask for memories, in as many questions as the messages need, so that none is left out."""
        during = self.settings.links is LinkMode.DURING
        system = extraction_system(self.settings.instructions, links=during)
        room = self.settings.room(estimated_tokens(system))
        passes = in_passes([self._shortened(shown(turn)) for turn in self.request.turns], room)
        before = [shown(turn) for turn in self.request.context]
        for part in passes:
            self._ask_for(self._question(system, before, part, room, alone=len(passes) == 1))
            before = part[-_REMINDERS:]

    def _question(
        self, system: str, before: Sequence[ShownMessage], newest: Sequence[ShownMessage], room: int, *, alone: bool
    ) -> _Question:
        """Return a question, with as much of what helps to understand the newest messages as there is room for."""
        left = room - sum(message.tokens for message in newest)
        related = _fitting(self._related(newest, alone=alone), left)
        left -= sum(_cost(each) for each in related)
        context = trimmed_context(before, left)
        left -= sum(message.tokens for message in context)
        summary = summary_of(self.request.running_summary)
        text = summary.text if summary is not None and summary.valid else ""
        return _Question(
            system=system,
            context=context,
            summary=text if estimated_tokens(text) <= left else "",
            newest=newest,
            related=related,
            during=self.settings.links is LinkMode.DURING,
        )

    def _ask_for(self, question: _Question) -> None:
        self.calls += 1
        schema = extraction_schema(links=question.during)
        reply = read_extraction(ask(self.llm, question.system, question.user(), schema))
        halves = question.halves() if reply.cut_off else ()
        for half in halves:
            # What was cut off is unknown: less is asked for at a time, and nothing is taken twice.
            self._ask_for(half)
        if halves:
            return
        self.failures += reply.failures
        memories = _with_links_of(reply, question)
        if self.settings.links is LinkMode.POST and memories:
            memories = self._linked(memories)
        ids = tuple(dict.fromkeys(message.source_id for message in question.newest))
        self.memories += memories
        self.sources += [ids] * len(memories)

    def _linked(self, memories: list[Linked]) -> list[Linked]:
        try:
            outcome = linked(self.llm, [each.said for each in memories], self.request.find, self.settings)
        except Exception as error:  # noqa: BLE001 - a model raises what it likes; without links the memories still hold
            logger.warning("links.failed", extra={"error": type(error).__name__})
            self.failures.append(ItemFailure(f"the links of {len(memories)} memories could not be had: {error}", ""))
            return memories
        self.calls += outcome.calls
        self.failures += outcome.failures
        return list(outcome.memories)

    def _related(self, part: Sequence[ShownMessage], *, alone: bool) -> list[RelatedMemory]:
        found = self.request.related if alone else self.request.find(rendered_messages(part)[:_QUERY])
        return [each for each in found if each.kind == SEMANTIC][:MOST_RELATED]

    def _shortened(self, message: ShownMessage) -> ShownMessage:
        """Return a message that is too long as the model shortens it; the stored one stays as it is."""
        limit, given = self.settings.max_message_tokens, self.settings.shortening_tokens
        if limit <= 0 or estimated_tokens(message.text) <= limit:
            return message
        text = head_and_tail(message.text, given) if given > 0 else message.text
        self.calls += 1
        answer = ask(self.llm, shortening_system(characters(limit)), text).strip()
        return replace(message, text=answer or head_and_tail(message.text, limit))

    def summary(self) -> RunningSummary | None:
        """Carry the running summary on; None where that is not due, or failed, which is a failure of its own."""
        request, settings = self.request, self.settings
        if not settings.summary or not request.turns or not request.session_id:
            return None
        before = summary_of(request.running_summary)
        first = before.last_seq + 1 if before is not None and before.valid else 1
        turns = request.history(first, request.turns[-1].turn_seq)
        if not turns or len(turns) < settings.summary_frequency:
            return None
        try:
            self.calls += 1
            return carried_on(self.llm, before, [shown(turn) for turn in turns], token_limit=settings.token_limit)
        except Exception as error:  # noqa: BLE001 - a model raises what it likes; the memories are stored without it
            logger.warning("summary.failed", extra={"error": type(error).__name__})
            self.failures.append(ItemFailure(f"the running summary could not be had: {error}", ""))
            return None


def shown(turn: SourceTurn) -> ShownMessage:
    """Return a turn as a prompt shows it."""
    return ShownMessage(turn.role, turn.content, turn.event_time.isoformat(), turn.turn_id, turn.turn_seq)


def _fitting(related: Sequence[RelatedMemory], tokens: int) -> list[RelatedMemory]:
    """Return the first known memories that fit; messages come before them."""
    kept: list[RelatedMemory] = []
    for each in related:
        tokens -= _cost(each)
        if tokens < 0:
            break
        kept.append(each)
    return kept


def _cost(memory: RelatedMemory) -> int:
    return estimated_tokens(memory.content) + 20


def _with_links_of(reply: Reply, question: _Question) -> list[Linked]:
    """Return the memories with the links that the answer itself has, to known memories by their numbers."""
    numbered = dict(enumerate(question.related, 1))
    return [
        Linked(said, tuple((numbered[number].memory_id, kind) for number, kind in said.links if number in numbered))
        for said in reply.memories
    ]


def _item(memory: Linked, turn_ids: tuple[str, ...]) -> ExtractedItem:
    said: Said = memory.said
    by_type: Mapping[str, tuple[str, ...]] = {
        kind: tuple(target for target, each in memory.links if each == kind)
        for kind in ("supersedes", "refines", "duplicates", "contradicts", "supports")
    }
    return ExtractedItem(
        kind=SEMANTIC,
        content=said.text,
        record_type=said.record_type,
        event_time=said.event_time,
        turn_ids=turn_ids,
        supersedes=by_type["supersedes"],
        refines=by_type["refines"],
        repeats=by_type["duplicates"],
        contradicts=by_type["contradicts"],
        supports=by_type["supports"],
        metadata={AGENT_MEMORY_KEY: dict(said.details)} if said.details else None,
    )
