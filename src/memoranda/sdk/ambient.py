"""`AgentHost`: run agents under an identity, so that their memory needs no ids, and record what is said.

::

    host = AgentHost(memory)
    with host.run(user_id="ada", session_id="monday", input=question) as run:
        run.reply(answer(question, run.memory))  # `run.memory` is Ada's, in this session

The input of a run is recorded as a user turn before the agent starts, its reply as an assistant turn when it ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from types import TracebackType
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar, Unpack

from memoranda.sdk._app_bound import AppBoundConnection
from memoranda.sdk._runs import (
    ABANDONED,
    FAILED,
    Part,
    Present,
    RunOptions,
    RunPlan,
    carry,
    plan_run,
    require_kind,
    text_of_reply,
)
from memoranda.sdk.errors import MemoryBadRequestError, MemoryReplyNotRecordedError
from memoranda.sdk.memory import Memory
from memoranda.sdk.models import WriteTurnResult
from memoranda.sdk.protocol import MemoryRequestContext

__all__ = ["Agent", "AgentHost", "AgentRun", "RunOptions", "StreamingAgent"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

logger = logging.getLogger(__name__)

_IDEMPOTENCY_CONFLICT: Final = "IDEMPOTENCY_CONFLICT"


class Agent(Protocol[T_co]):
    """An agent that `AgentHost.agent` made: called with its input and the options of a run."""

    def __call__(self, input: str, /, **options: Unpack[RunOptions]) -> T_co:
        """Run the agent and return its reply."""
        ...


class StreamingAgent(Protocol[T_co]):
    """An agent that `AgentHost.streaming_agent` made: called with its input and the options of a run."""

    def __call__(self, input: str, /, **options: Unpack[RunOptions]) -> Iterator[T_co]:
        """Return the pieces of its reply."""
        ...


class AgentRun:
    """One run of an agent: enter it, and `memory`, the app-bound handle, is for its identity until it is left."""

    def __init__(self, memory: Memory, recorder: Memory, plan: RunPlan, present: Present, input: str | None) -> None:
        self.memory = memory
        self.input = input
        self._recorder = recorder
        self._plan = plan
        self._present = present
        self._block: AbstractContextManager[None] | None = None

    @property
    def identity(self) -> MemoryRequestContext:
        """Who it is for."""
        return self._plan.identity

    @property
    def run_id(self) -> str:
        """Its name; a retry under the same one records no turn twice."""
        return self._plan.run_id

    @property
    def records(self) -> bool:
        """Whether its input and its reply become turns."""
        return self._plan.records

    def __enter__(self) -> Self:
        if self._block is not None:
            raise RuntimeError("this run has been entered before; ask the host for another")
        self._begin()
        self._block = self._present.under(self._plan)
        self._block.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._block is not None:
            self._block.__exit__(None, None, None)

    def reply(
        self, text: str, *, model_name: str | None = None, metadata: dict[str, Any] | None = None
    ) -> WriteTurnResult | None:
        """Record what the agent said; more than once when it said several things, one after the other.

        None when the run records no turns, or when an earlier attempt of the same `run_id` recorded another reply in
        this place: the first stands. An error of the memory is the caller's: the same call may be made again.
        """
        if not self.records:
            return None
        place = self._plan.replies.take()
        try:
            return self._record("assistant", self._plan.reply_part(text, place, metadata), model_name=model_name)
        except BaseException as error:
            if isinstance(error, MemoryBadRequestError) and error.code == _IDEMPOTENCY_CONFLICT:
                logger.warning("ambient.earlier_reply_stands", extra={"run_id": self.run_id, "place": place})
                return None
            self._plan.replies.give_back(place)
            raise

    def _begin(self) -> None:
        if self.records and self.input is not None:
            self._record("user", self._plan.input_part(self.input))

    def _cut_off(self, text: str, reason: str) -> None:
        if self.records:
            self._record("assistant", self._plan.cut_off_part(text, reason))

    def _record(self, role: str, part: Part, model_name: str | None = None) -> WriteTurnResult:
        return self._recorder.record_turn(
            role=role,
            content=part.content,
            metadata=part.metadata,
            idempotency_key=part.key,
            model_name=model_name,
        )


class AgentHost:
    """Runs agents under an identity that it keeps in a context variable of its own.

    Concurrent runs, in threads or tasks, never see each other's. `AgentHost` is for functions and generators; use
    `AsyncAgentHost` over an `AsyncMemory` for coroutine functions and asynchronous generators.

    When a turn cannot be recorded nothing is lost in silence. The input: the error is raised and the agent is not
    started. The reply: `MemoryReplyNotRecordedError`, which carries the reply, is raised, or is given to
    `on_unrecorded` and the reply returned. Turns are keyed by the `run_id`: a run may be retried as a whole.
    """

    _calls: ClassVar[tuple[str, ...]] = ("function",)
    _streams: ClassVar[tuple[str, ...]] = ("function", "generator function")

    def __init__(
        self,
        memory: Memory,
        *,
        record_turns: bool = True,
        text_of: Callable[[object], str | None] = text_of_reply,
        on_unrecorded: Callable[[MemoryReplyNotRecordedError], None] | None = None,
    ) -> None:
        """Host agents over `memory`, which stays the caller's to close; what it is bound to is the default of runs.

        `text_of` reads the text of a reply, or of a piece of one, that is not a `str`; None means that it has none.
        """
        self._host_memory = memory
        self._records = record_turns
        self._text_of = text_of
        self._on_unrecorded = on_unrecorded
        self._present = Present()
        self._memory = memory._over(AppBoundConnection(memory._connection, self), None)

    @property
    def memory(self) -> Memory:
        """The app-bound handle: within a run it is for that run's identity, outside of one it refuses every call."""
        return self._memory

    def request_context(self) -> MemoryRequestContext | None:
        """Return who the present run is for, or None outside of any; an `AmbientIdentityRuntime` may ask this."""
        plan = self._present.get()
        return None if plan is None else plan.identity

    # The same for both colours; a static method so that a host is all that a program needs to import.
    carry = staticmethod(carry)

    def run(self, *, input: str | None = None, **options: Unpack[RunOptions]) -> AgentRun:
        """Return a run to enter; entering records `input` as a user turn, and `run.reply(...)` records the reply.

        Not for use around the `yield` of a generator, whose consumer would be in the run too: see `stream`.
        Raises MemoryIdentityError without a user, or without a session while turns are recorded.
        """
        plan = plan_run(options, outer=self._present.get(), host=self._host_memory._context, records=self._records)
        recorder = self._host_memory.bind(plan.identity)
        return AgentRun(self._memory, recorder, plan, self._present, input)

    def call(self, agent: Callable[[str, Memory], T], input: str, **options: Unpack[RunOptions]) -> T:
        """Run `agent(input, memory)`, record input and reply, and return the reply.

        When the agent raises, its input stays recorded.
        """
        require_kind(agent, *self._calls)
        with self.run(input=input, **options) as run:
            reply = agent(input, self._memory)
            self._keep(run, reply, self._text_of)
        return reply

    def stream(
        self, agent: Callable[[str, Memory], Iterator[T]], input: str, **options: Unpack[RunOptions]
    ) -> Generator[T, None, None]:
        """Run `agent(input, memory)`, whose reply comes in pieces, and record the whole when it ends.

        When it fails or is given up, what was said until then is recorded with `incomplete` in its metadata, saying
        `failed` or `abandoned`. Nothing is recorded of a stream whose first piece was never asked for. Close one that
        is not used up (`contextlib.closing`); left to the garbage collector it is recorded at some later time.
        """
        require_kind(agent, *self._streams)
        return self._streamed(agent, input, self.run(input=input, **options))

    def agent(self, function: Callable[[str, Memory], T]) -> Agent[T]:
        """Decorate an agent: `answer("…", user_id=…, session_id=…)` then is a `call` of it."""
        require_kind(function, *self._calls)

        @wraps(function)
        def called(input: str, /, **options: Unpack[RunOptions]) -> T:
            return self.call(function, input, **options)

        return called

    def streaming_agent(self, function: Callable[[str, Memory], Iterator[T]]) -> StreamingAgent[T]:
        """Decorate an agent whose reply comes in pieces: calling it then is a `stream` of it."""
        require_kind(function, *self._streams)

        @wraps(function)
        def started(input: str, /, **options: Unpack[RunOptions]) -> Iterator[T]:
            return self.stream(function, input, **options)

        return started

    def _streamed(
        self, streamer: Callable[[str, Memory], Iterator[T]], input: str, run: AgentRun
    ) -> Generator[T, None, None]:
        run._begin()
        said: list[str] = []
        # Entered anew for each piece: between two the consumer has its own identity, or another stream's.
        with self._present.under(run._plan):
            pieces = streamer(input, self._memory)
        try:
            while True:
                try:
                    with self._present.under(run._plan):
                        piece = next(pieces)
                except StopIteration:
                    break
                said.append(self._text_of(piece) or "")
                yield piece
        except BaseException as error:
            self._end_early(run, pieces, "".join(said), error)
            raise
        self._keep(run, "".join(said), text_of_reply)

    def _end_early(self, run: AgentRun, pieces: Iterator[T], text: str, error: BaseException) -> None:
        try:
            if isinstance(pieces, Generator):
                with self._present.under(run._plan):
                    pieces.close()
        finally:
            self._keep_part(run, text, error)

    def _keep_part(self, run: AgentRun, text: str, error: BaseException) -> None:
        if not text:
            return
        try:
            run._cut_off(text, FAILED if isinstance(error, Exception) else ABANDONED)
        except Exception as unrecorded:
            lost = MemoryReplyNotRecordedError(unrecorded, reply=text, run_id=run.run_id)
            if self._on_unrecorded is None and isinstance(error, GeneratorExit):
                raise lost from unrecorded  # nobody else would hear of it: closing a stream raises nothing of its own
            lost.__cause__ = unrecorded
            self._report(lost, error)

    def _report(self, lost: MemoryReplyNotRecordedError, error: BaseException) -> None:
        """Tell of a part that could not be recorded, without putting it in the place of the agent's own error."""
        if self._on_unrecorded is not None:
            self._on_unrecorded(lost)
            return
        error.add_note(str(lost))
        logger.error("ambient.part_not_recorded", extra={"run_id": lost.run_id})

    def _keep(self, run: AgentRun, reply: object, text_of: Callable[[object], str | None]) -> None:
        if not run.records:
            return
        try:
            text = text_of(reply)
            if text:
                run.reply(text)
        except Exception as unrecorded:
            lost = MemoryReplyNotRecordedError(unrecorded, reply=reply, run_id=run.run_id)
            if self._on_unrecorded is None:
                raise lost from unrecorded
            lost.__cause__ = unrecorded
            self._on_unrecorded(lost)
