"""What the parts of a thread share: its identity, its options, and what it reads of the store for all of them."""

from __future__ import annotations

from collections.abc import Mapping

from memoranda.threads.apis import ILlm
from memoranda.threads.backend import ThreadBackend
from memoranda.threads.client_parts import ClientParts
from memoranda.threads.content import Message
from memoranda.threads.running_summary import RunningSummary
from memoranda.threads.stored import JsonObject, StoredThread
from memoranda.threads.thread_options import ThreadOptions


class ThreadState:
    """One thread's handle. Thread-safe as far as one handle adds messages from one thread of execution at a time."""

    def __init__(
        self, parts: ClientParts, stored: StoredThread, options: ThreadOptions, *, own_options: bool = False
    ) -> None:
        """``own_options`` says that the options are not those saved with the thread."""
        self._parts = parts
        self._thread_id = stored.thread_id
        self._user_id = stored.user_id
        self._agent_id = stored.agent_id
        self._metadata = None if stored.metadata is None else dict(stored.metadata)
        self._options = options
        self._own_options = own_options
        self._unsettled: tuple[tuple[Message, ...], tuple[str, ...]] | None = None
        self._prefix: tuple[int, int, RunningSummary] | None = None

    @property
    def thread_id(self) -> str:
        return self._thread_id

    @property
    def user_id(self) -> str | None:
        return self._user_id

    @property
    def agent_id(self) -> str | None:
        return self._agent_id

    @property
    def metadata(self) -> dict[str, object] | None:
        """A copy of the thread's metadata as it was when this handle was made."""
        return None if self._metadata is None else dict(self._metadata)

    @property
    def max_message_token_length(self) -> int:
        return self._options.limits.max_message_token_length

    @property
    def message_shortening_input_token_limit(self) -> int:
        return self._options.limits.message_shortening_input_token_limit

    @property
    def _backend(self) -> ThreadBackend:
        return self._parts.backend

    @property
    def _llm(self) -> ILlm | None:
        """The model for summaries; the built-in extractor makes none."""
        llm = self._options.llm
        return None if llm is None or isinstance(llm, str) else llm

    def _check_open(self) -> None:
        self._parts.check_open()

    def _policy_of_call(self) -> JsonObject | None:
        """The extraction policy of this handle's writes where it is not the saved one."""
        policy: Mapping[str, object] = self._options.policy()
        return policy if self._own_options else None

    def _stored(self) -> StoredThread:
        stored = self._backend.get_thread(self.thread_id)
        if stored is None:
            raise KeyError(f"there is no thread {self.thread_id!r}")
        return stored

    def wait_for_memory_extraction(self, timeout: float | None = 300.0) -> None:
        """Wait until the extraction accepted for this thread has ended, well or not; ``timeout`` in seconds.

        Raises ``TimeoutError`` when it has not by then (None waits without end) and ``ValueError`` for a timeout that
        is not positive.
        """
        if timeout is not None and timeout <= 0:
            raise ValueError(f"timeout is {timeout!r}; give a positive number of seconds, or None to wait without end")
        self._check_open()
        if not self._backend.wait(self.thread_id, timeout):
            raise TimeoutError(f"the extraction of thread {self.thread_id!r} goes on after {timeout} seconds")
