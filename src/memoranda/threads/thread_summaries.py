"""The summary of a thread: the stored one where it holds, else carried on by the newer messages."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from memoranda.sdk.errors import MemoryConflictError
from memoranda.threads.cards_text import Summary
from memoranda.threads.message_forms import shown_message
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import is_integer
from memoranda.threads.prompt_text import ShownMessage, characters
from memoranda.threads.running_summary import RunningSummary, carried_on, summary_of
from memoranda.threads.stored import Given, StoredMessage, StoredThread, ThreadUpdate, Window
from memoranda.threads.thread_state import ThreadState

logger = logging.getLogger(__name__)

SUMMARY_TOKENS: Final = 1_000
"""The budget of a summary where none is given."""
TRUNCATED: Final = "[... what came before is left out ...]"

_MOST_TRANSCRIPT: Final = 4_000
_PAGE: Final = 500
_TRIES: Final = 3


class ThreadSummaries(ThreadState):
    """What a thread does about its summary."""

    def get_summary(self, except_last: int | NotSet = NOT_SET, token_budget: int | NotSet | None = NOT_SET) -> Summary:
        """Return the summary of the thread, or (``except_last``) of all but its last messages.

        The stored summary is carried on by the messages since, by the model. Without one it is a transcript of the last
        messages. It has at most ``token_budget`` tokens (1000; None, 0 and below: no bound, for a transcript 4000
        characters). A thread without messages has the summary ``""``. Raises ``ValueError`` for what is no integer, and
        what the model raises.
        """
        self._check_open()
        skipped = _count("except_last", except_last)
        budget = _budget(token_budget)
        if self._llm is None:
            return Summary(self._transcript(skipped, None, budget))
        summary = self._summary_up_to(skipped)
        return Summary("" if summary is None else shortened(summary.text, budget))

    def _summary_up_to(self, skipped: int) -> RunningSummary | None:
        """Return the summary of all messages but the last ``skipped``; None where that is nothing."""
        if skipped == 0:
            return self._current_summary()
        messages = self._backend.window(self.thread_id, Window(-skipped - 1, None))
        if len(messages) <= skipped:
            return None
        return self._summary_of_prefix(messages[0].seq_no)

    def _current_summary(self) -> RunningSummary | None:
        """Return the stored summary, carried on and stored again where enough messages came since."""
        for _ in range(_TRIES):
            thread = self._stored()
            before = summary_of(thread.summary)
            since = self._messages_since(before)
            new = [] if before is not None and not self._is_stale(before, thread) else list(since)
            if before is not None and before.valid and not new:
                return before
            if not new:
                return None
            after = self._carried_on(before, new)
            if self._keep(thread, after):
                return after
        # Somebody else writes it all the time: what was made is right, and just not stored.
        return after

    def _is_stale(self, before: RunningSummary, thread: StoredThread) -> bool:
        newer = thread.last_seq - before.last_seq
        return not before.valid or newer >= max(1, self._options.extraction.context_summary_update_frequency)

    def _summary_of_prefix(self, last_seq: int) -> RunningSummary | None:
        """Return the summary up to a message; it is kept with this handle, so that asking again costs no model call."""
        before = summary_of(self._stored().summary)
        if before is not None and before.valid and before.last_seq == last_seq:
            return before
        revision = 0 if before is None else before.revision
        if self._prefix is not None and self._prefix[:2] == (last_seq, revision):
            return self._prefix[2]
        start = before if before is not None and before.valid and before.last_seq < last_seq else None
        messages = [each for each in self._messages_since(start) if each.seq_no <= last_seq]
        made = self._carried_on(start, messages)
        self._prefix = (last_seq, revision, made)
        return made

    def _carried_on(self, before: RunningSummary | None, messages: Sequence[ShownMessage]) -> RunningSummary:
        if self._llm is None:
            raise ValueError("a summary needs a language model; give llm to the client or to the thread")
        limit = self._options.extraction.memory_extraction_token_limit
        return carried_on(self._llm, before, messages, token_limit=limit)

    def _keep(self, thread: StoredThread, summary: RunningSummary) -> bool:
        """Store a summary; False where another was stored since it was begun."""
        if not self._options.extraction.enable_context_summary:
            return True
        update = ThreadUpdate(summary=Given(summary.stored()), if_summary=Given(thread.summary))
        try:
            self._backend.update_thread(self.thread_id, update)
        except MemoryConflictError:
            logger.info("summary.made_twice")
            return False
        return True

    def _messages_since(self, before: RunningSummary | None) -> Iterator[ShownMessage]:
        last = before.last_seq if before is not None and before.valid else 0
        while page := self._backend.messages_after(self.thread_id, last, _PAGE):
            yield from map(shown_message, page)
            last = page[-1].seq_no

    def _transcript(self, skipped: int, count: int | None, budget: int | None) -> str:
        """Return the last messages before the skipped ones as text: as many as fit, ``count`` at most."""
        most = _MOST_TRANSCRIPT if budget is None else budget
        number = _PAGE if count is None else count
        if number <= 0:
            return ""
        window = Window(-skipped - number, -skipped if skipped else None)
        return shortened_to(transcript(self._backend.window(self.thread_id, window)), most)


def transcript(messages: Sequence[StoredMessage]) -> str:
    """Return messages as lines of ``role (timestamp): text``."""
    shown = (shown_message(message) for message in messages)
    return "\n- ".join(f"{each.role} ({each.timestamp}): {each.text}" for each in shown)


def shortened(text: str, most: int | None) -> str:
    """Return a text in at most so many characters (None: any number), the latest of it."""
    return text if most is None else shortened_to(text, most)


def shortened_to(text: str, most: int) -> str:
    """Return the end of a text that is too long, under a line that says so, in at most so many characters."""
    if len(text) <= most:
        return text
    kept = most - len(TRUNCATED) - 1
    return f"{TRUNCATED}\n{text[len(text) - kept :]}" if kept > 0 else text[len(text) - most :]


def _count(name: str, value: int | NotSet) -> int:
    if value is NOT_SET:
        return 0
    if not is_integer(value):
        raise ValueError(f"{name} is {value!r}; give an integer number of messages")
    return max(0, value)


def _budget(value: int | NotSet | None) -> int | None:
    """Return a budget in characters; None for no bound."""
    tokens = SUMMARY_TOKENS if value is NOT_SET else value
    if tokens is None:
        return None
    if not is_integer(tokens):
        raise ValueError(f"token_budget is {value!r}; give an integer number of tokens, or None for no bound")
    return characters(tokens) if tokens > 0 else None
