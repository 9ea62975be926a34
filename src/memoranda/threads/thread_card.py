"""The context card of a thread: summary, topics, what is known that bears on them, and recent messages."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from memoranda.engine.scope import Scope
from memoranda.engine.text import normal_statement
from memoranda.threads.card_arguments import MESSAGE, CardArguments, CardRequest
from memoranda.threads.cards_text import ContextCard
from memoranda.threads.content import Message
from memoranda.threads.message_forms import read_message
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.prompt_text import characters, estimated_tokens
from memoranda.threads.record_forms import search_result
from memoranda.threads.relations import MEMORY_TYPES
from memoranda.threads.results import SearchResult
from memoranda.threads.running_summary import summary_of
from memoranda.threads.stored import (
    FoundRecord,
    Given,
    JsonObject,
    Listing,
    StoredMemory,
    StoredMessage,
    ThreadSearch,
    Window,
)
from memoranda.threads.thread_summaries import SUMMARY_TOKENS, ThreadSummaries, shortened_to

logger = logging.getLogger(__name__)

_QUERY: Final = 500
"""How much of topics and summary is searched for, in characters: a long query costs much and tells little more."""
_UNKNOWN_DISTANCE: Final = 1.0
_SECTION: Final = 8
"""What a section costs more once it is not empty, in characters."""


class ThreadCard(ThreadSummaries):
    """What a thread does to make its context card."""

    def get_context_card(
        self,
        fallback_message_count: int | NotSet = NOT_SET,
        max_relevant_results: int | NotSet = NOT_SET,
        max_recent_messages: int | NotSet = NOT_SET,
        except_last_messages: int | NotSet = NOT_SET,
        min_relevant_results_by_type: dict[str, int] | NotSet | None = NOT_SET,
        metadata_filter: JsonObject | NotSet | None = NOT_SET,
        include_invalid_results: bool | NotSet = NOT_SET,
        *,
        token_budget: int | NotSet | None = NOT_SET,
        soft_token_budget: int | NotSet | None = NOT_SET,
    ) -> ContextCard:
        """Return what a model should know of this conversation, as text for its prompt.

        Relevant (5 at most) are memories of the thread's user and agent, those without an agent among them, then
        messages of the thread. A thread without messages has the user's latest memories. Without a model the last 5
        messages (``fallback_message_count``) stand for the summary. ``except_last_messages`` leaves the last messages
        to the caller; with ``max_recent_messages`` of the same number they are in the card. The card never has more
        than ``token_budget`` tokens (default: the thread's ``context_card_token_limit``). Raises ``ValueError`` for
        arguments that cannot be.
        """
        self._check_open()
        request = CardArguments(
            fallback_message_count,
            max_relevant_results,
            max_recent_messages,
            except_last_messages,
            min_relevant_results_by_type,
            metadata_filter,
            include_invalid_results,
            token_budget,
            soft_token_budget,
        ).request(default_budget=self._options.limits.context_card_token_limit)
        last = self._last_messages(request.left_out)
        if last is None:
            return _fitted(request, "", (), self._latest(request), [])
        text, topics = self._told(request)
        query = "\n".join(part for part in ("; ".join(topics), text) if part).strip()
        found = self._relevant(request, query, last) if query else self._latest(request)
        recent = [read_message(each) for each in last[-request.recent :]] if request.recent else []
        return _fitted(request, text, topics, found, recent)

    # --- summary

    def _told(self, request: CardRequest) -> tuple[str, Sequence[str]]:
        """Return summary and topics; where no model gives them, the last messages, which is no error of the card."""
        most = characters(SUMMARY_TOKENS)
        if self._llm is not None:
            try:
                summary = self._summary_up_to(request.except_last)
            except Exception as error:  # noqa: BLE001 - a model raises what it likes; a card without it is of use
                logger.warning("card.summary_failed", extra={"error": type(error).__name__})
                summary = None if request.except_last else summary_of(self._stored().summary)
            if summary is not None and summary.text:
                return shortened_to(summary.text, most), summary.topics
        return self._transcript(request.except_last, request.fallback_messages, most), ()

    # --- what bears on it

    def _last_messages(self, number: int) -> Sequence[StoredMessage] | None:
        """Return the last messages, as many as are left out of the search; None for a thread that has none."""
        last = self._backend.window(self.thread_id, Window(-max(number, 1), None))
        return last[len(last) - min(number, len(last)) :] if last else None

    def _relevant(self, request: CardRequest, query: str, last: Sequence[StoredMessage]) -> list[SearchResult]:
        chosen = _Chosen(request.relevant, {each.id for each in last})
        for record_type, least in request.minimums.items():
            chosen.take(self._search(request, query, (record_type,), least + len(last)), least)
        if chosen.room:
            number = request.relevant + len(chosen.results)
            chosen.take(self._search(request, query, MEMORY_TYPES, number))
            chosen.take(self._search(request, query, (MESSAGE,), number + len(last)))
        return chosen.in_order()

    def _search(
        self, request: CardRequest, query: str, record_types: tuple[str, ...], number: int
    ) -> list[FoundRecord]:
        """Return the best records of some types, best first, in one order whatever the store's."""
        found: dict[str, FoundRecord] = {}
        for scope in [self._of_thread()] if record_types == (MESSAGE,) else self._of_user():
            search = ThreadSearch(
                query=query[:_QUERY],
                k=number,
                scope=scope,
                record_types=record_types,
                filter=request.filter,
                include_invalid=request.include_invalid,
            )
            found.update((each.record.id, each) for each in self._backend.search(search))
        return sorted(found.values(), key=lambda each: (each.distance, each.record.id))[:number]

    def _latest(self, request: CardRequest) -> list[SearchResult]:
        """Return the latest memories of the thread's user: what is known before anything was said."""
        chosen = _Chosen(request.relevant, set())
        wanted = [*((name,) for name in request.minimums if name != MESSAGE), ()]
        for record_types in wanted:
            found: list[StoredMemory] = []
            for scope in self._of_user():
                listing = Listing(
                    scope=scope,
                    filter=None if request.filter is None else Given(request.filter),
                    limit=2 * request.relevant,
                    record_types=record_types,
                )
                found += [each for each in self._backend.list_memories(listing) if each.valid]
            latest = sorted(found, key=lambda each: (each.created_at, each.id), reverse=True)
            least = request.minimums[record_types[0]] if record_types else None
            chosen.take([FoundRecord(each, _UNKNOWN_DISTANCE) for each in latest], least)
        return chosen.in_order()

    def _of_user(self) -> list[Scope]:
        """Return the scopes of the thread's user: with the thread's agent, and without any."""
        user = self.user_id or ""
        agents = [self.agent_id, ""] if self.agent_id else [""]
        return [Scope(user_id=user, agent_id=agent) for agent in agents]

    def _of_thread(self) -> Scope:
        return Scope(user_id=self.user_id or "", session_id=self.thread_id)


class _Chosen:
    """The records of a card: each once, no statement twice, none of the messages that are left out."""

    def __init__(self, most: int, left_out: set[str]) -> None:
        self._most = most
        self._ids = set(left_out)
        self._statements: set[str] = set()
        self.results: list[FoundRecord] = []

    @property
    def room(self) -> int:
        return self._most - len(self.results)

    def take(self, found: Iterable[FoundRecord], number: int | None = None) -> None:
        """Take the best of some records: ``number`` of them, or as many as there is room for."""
        left = self.room if number is None else min(number, self.room)
        for each in found:
            if left <= 0:
                return
            statement = normal_statement(each.record.content) if isinstance(each.record, StoredMemory) else ""
            if each.record.id in self._ids or (statement and statement in self._statements):
                continue
            self._ids.add(each.record.id)
            self._statements.add(statement)
            self.results.append(each)
            left -= 1

    def in_order(self) -> list[SearchResult]:
        """Return memories before messages, as they were taken."""
        return [search_result(each) for each in sorted(self.results, key=lambda each: each.record.type == MESSAGE)]


# --- budgets


def _fitted(
    request: CardRequest,
    summary: str,
    topics: Sequence[str],
    found: Sequence[SearchResult],
    recent: Sequence[Message],
) -> ContextCard:
    """Return the card with as much of it as its budgets allow: the summary first, recent messages, then what was found.

    A budget in which not even an empty card fits gives the empty text.
    """
    budget = request.token_budget
    if budget is None:
        return ContextCard(summary, topics, _soft(found, request.soft_token_budget), recent)
    text, kept = summary, list(recent)
    while kept and not _fits(ContextCard(text, topics, (), kept), budget):
        kept = kept[1:]
    base = ContextCard(text, topics, (), kept)
    if not _fits(base, budget):
        base = _without_topics(text, budget)
    results = _within(base, _soft(found, request.soft_token_budget), budget)
    return ContextCard(base.summary, base.topics, results, base.recent_messages)


def _without_topics(summary: str, budget: int) -> ContextCard:
    """Return a card of the end of a summary; escaping makes text longer, so that it is cut until it fits."""
    text = summary
    while text:
        card = ContextCard(text)
        over = len(card.content) - characters(budget)
        if over <= 0:
            return card
        text = shortened_to(text, len(text) - over) if len(text) > over else ""
    return ContextCard("")


def _within(base: ContextCard, found: Sequence[SearchResult], budget: int) -> list[SearchResult]:
    """Return the first results with which a card fits."""
    empty = ContextCard(base.summary or "-", base.topics, (), base.recent_messages).content
    left = characters(budget) - len(empty) - _SECTION
    kept: list[SearchResult] = []
    for each in found:
        left -= sum(len(line) + 1 for line in each.lines(level=2))
        if left < 0:
            break
        kept.append(each)
    return kept


def _soft(found: Sequence[SearchResult], budget: int | None) -> list[SearchResult]:
    """Return the first results up to the one that reaches a budget, that one included."""
    kept: list[SearchResult] = []
    spent = 0
    for each in found:
        if budget is not None and spent >= budget:
            break
        kept.append(each)
        spent += estimated_tokens(each.formatted_content)
    return kept


def _fits(card: ContextCard, budget: int) -> bool:
    return estimated_tokens(card.content) <= budget
