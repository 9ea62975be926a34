"""Running agents under an identity: who their memory is for, and what is recorded of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from memoranda import (
    AgentHost,
    AmbientIdentityRuntime,
    Memory,
    MemoryConflictError,
    MemoryIdentityError,
    MemoryReplyNotRecordedError,
    MemoryRequestContext,
    MemoryServerError,
    WriteTurnResult,
)
from tests.sdk.recording import FullRuntime, over

ADA: dict[str, Any] = {"user_id": "ada", "session_id": "monday"}


class Keeping(FullRuntime):
    """Keeps turns by idempotency key, as a store does, and fails while told to."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.failing: Exception | None = None
        self.fails_on: str | None = None

    def record_turn(self, **turn: Any) -> WriteTurnResult:
        if self.failing is not None and self.fails_on in (None, turn["role"]):
            raise self.failing
        place = (turn["user_id"], turn["session_id"], turn["idempotency_key"] or len(self.turns))
        known = self.turns.setdefault(place, turn)
        if known["content"] != turn["content"]:
            raise MemoryConflictError("used", code="IDEMPOTENCY_CONFLICT")
        return WriteTurnResult(id=str(place), session_id=str(turn["session_id"]), turn_seq=1)

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(turn["role"], turn["content"]) for turn in self.turns.values()]


def hosted(**options: Any) -> tuple[AgentHost, Keeping]:
    runtime = Keeping()
    return AgentHost(over(runtime, runtime), **options), runtime


def who(memory: Memory, runtime: Keeping) -> tuple[Any, Any]:
    memory.build_context("q")
    return runtime.last["user_id"], runtime.last["session_id"]


def echo(question: str, memory: Memory) -> str:
    return f"you said {question}"


def spelled(question: str, memory: Memory) -> Iterator[str]:
    yield from question


# --- identity


def test_memory_needs_no_ids_within_a_run() -> None:
    host, runtime = hosted(record_turns=False)
    with host.run(user_id="ada", session_id="monday", agent_id="helper") as run:
        run.memory.record_turn(role="user", content="I am allergic to penicillin.")
        assert who(run.memory, runtime) == ("ada", "monday")
    (turn,) = runtime.turns.values()
    assert (turn["user_id"], turn["session_id"], turn["agent_id"]) == ("ada", "monday", "helper")


def test_host_is_an_ambient_identity_runtime() -> None:
    host, _ = hosted(record_turns=False)
    assert isinstance(host, AmbientIdentityRuntime)
    assert host.request_context() is None
    with host.run(**ADA):
        assert host.request_context() == MemoryRequestContext(user_id="ada", session_id="monday")
    assert host.request_context() is None


CALLS: dict[str, Any] = {
    "turn": lambda memory: memory.record_turn(role="user", content="c"),
    "context": lambda memory: memory.build_context("q"),
    "bound": lambda memory: memory.bind(MemoryRequestContext(user_id="ada")).search_semantic("q"),
    "domains": lambda memory: memory.list_domains(),
    "by id": lambda memory: memory.get_memory("m1"),
    "custom": lambda memory: memory.retrieve("tickets", "q"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_outside_of_a_run_every_call_is_refused(call: Any) -> None:
    host, runtime = hosted()
    with pytest.raises(MemoryIdentityError, match=r"no run is present.*carry"):
        call(host.memory)
    assert (runtime.calls, runtime.turns) == ([], {})
    with host.run(**ADA):
        call(host.memory)


def test_call_argument_and_bound_identity_win_over_the_run() -> None:
    host, runtime = hosted()
    with host.run(**ADA) as run:
        run.memory.search_semantic("q", user_id="bob")
        assert runtime.last["user_id"] == "bob"
        run.memory.bind(MemoryRequestContext(user_id="eve")).search_semantic("q", visibility="org")
        assert runtime.last["user_id"] == "eve"


def test_a_wider_visibility_sets_the_user_of_the_run_aside() -> None:
    host, runtime = hosted()
    with host.run(**ADA) as run:
        run.memory.search_semantic("q", visibility="org")
    assert runtime.last["user_id"] is None


def test_custom_types_are_stamped_with_the_run() -> None:
    host, runtime = hosted()
    with host.run(**ADA, agent_id="helper") as run:
        run.memory.save("tickets", "c")
    assert (runtime.last["user_id"], runtime.last["agent_id"]) == ("ada", "helper")


def test_the_agent_cannot_close_what_the_host_opened() -> None:
    host, runtime = hosted()
    with host.run(**ADA) as run:
        run.memory.close()
        assert who(run.memory, runtime) == ("ada", "monday")
    assert runtime.closed == 0


@pytest.mark.parametrize("options", [{}, {"session_id": "s"}, {"user_id": " ", "session_id": "s"}, {"user_id": "u"}])
def test_a_run_for_nobody_is_refused(options: dict[str, Any]) -> None:
    host, _ = hosted()
    with pytest.raises(MemoryIdentityError, match=r"user_id|session_id"):
        host.run(**options)


def test_a_session_is_needed_for_recording_alone() -> None:
    host, runtime = hosted(record_turns=False)
    with host.run(user_id="ada", input="hello") as run:
        assert who(run.memory, runtime) == ("ada", None)


def test_an_option_that_does_not_exist_is_named() -> None:
    host, _ = hosted()
    with pytest.raises(TypeError, match="usr_id"):
        host.run(usr_id="ada")  # type: ignore[call-arg]  # the mistake under test


def test_what_the_host_is_bound_to_is_the_default_of_its_runs() -> None:
    runtime = Keeping()
    bound = over(runtime).bind(MemoryRequestContext(user_id="ada", agent_id="helper", session_id="monday"))
    host = AgentHost(bound)
    assert host.run().identity == MemoryRequestContext(user_id="ada", agent_id="helper", session_id="monday")
    assert host.run(user_id="bob", record_turns=False).identity == MemoryRequestContext(
        user_id="bob", agent_id="helper"
    )


def test_two_hosts_do_not_share_an_identity() -> None:
    one, _ = hosted()
    other, _ = hosted()
    with one.run(**ADA), pytest.raises(MemoryIdentityError, match="no run"):
        other.memory.search_semantic("q")


# --- runs within runs


def test_a_run_within_another_inherits_what_it_does_not_name() -> None:
    host, runtime = hosted()
    with host.run(**ADA, agent_id="planner"):
        with host.run(agent_id="searcher") as inner:
            assert inner.identity == MemoryRequestContext(user_id="ada", session_id="monday", agent_id="searcher")
        assert who(host.memory, runtime) == ("ada", "monday")


def test_a_run_for_another_user_never_inherits_the_session() -> None:
    host, runtime = hosted()
    with host.run(**ADA), host.run(user_id="bob", record_turns=False) as inner:
        assert who(inner.memory, runtime) == ("bob", None)


def test_what_one_agent_asks_another_is_not_recorded_as_the_users_words() -> None:
    host, runtime = hosted()
    with host.run(**ADA, input="What is new?") as run:
        with host.run(agent_id="searcher", input="search news") as inner:
            inner.reply("nothing")
        with host.run(agent_id="searcher", input="search the web", record_turns=True):
            pass
        run.reply("Nothing is new.")
    assert runtime.said == [
        ("user", "What is new?"),
        ("user", "search the web"),
        ("assistant", "Nothing is new."),
    ]


def test_the_outer_run_is_present_again_after_an_inner_one_that_failed() -> None:
    host, _ = hosted()
    with host.run(**ADA):
        with pytest.raises(ZeroDivisionError), host.run(session_id="tuesday"):
            raise ZeroDivisionError
        assert host.request_context() == MemoryRequestContext(**ADA)


# --- what is recorded


def test_input_and_reply_are_recorded() -> None:
    host, runtime = hosted()
    with host.run(**ADA, input="hello", metadata={"channel": "web"}) as run:
        assert runtime.said == [("user", "hello")], "the input is there before the agent starts"
        result = run.reply("hi", model_name="m", metadata={"tone": "warm"})
    assert isinstance(result, WriteTurnResult)
    user, assistant = runtime.turns.values()
    assert (user["metadata"], assistant["metadata"]) == ({"channel": "web"}, {"channel": "web", "tone": "warm"})
    assert assistant["model_name"] == "m"


def test_recording_can_be_switched_off_for_the_host_and_for_a_run() -> None:
    host, runtime = hosted(record_turns=False)
    with host.run(**ADA, input="hello") as run:
        assert run.reply("hi") is None
    assert runtime.said == []
    assert host.call(echo, "hello", **ADA, record_turns=True) == "you said hello"
    assert runtime.said == [("user", "hello"), ("assistant", "you said hello")]
    other, silent = hosted()
    other.call(echo, "hello", **ADA, record_turns=False)
    assert silent.said == []


def test_several_replies_of_a_run_are_several_turns() -> None:
    host, runtime = hosted()
    with host.run(**ADA, input="hello") as run:
        run.reply("Let me see.")
        run.reply("Hi.")
    assert [text for _, text in runtime.said] == ["hello", "Let me see.", "Hi."]


def test_an_agent_that_raises_leaves_its_input() -> None:
    host, runtime = hosted()

    def broken(question: str, memory: Memory) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        host.call(broken, "hello", **ADA)
    assert runtime.said == [("user", "hello")]


def test_a_retry_of_a_run_doubles_no_turn() -> None:
    host, runtime = hosted()
    for _ in range(2):
        with host.run(**ADA, run_id="r1", input="hello") as run:
            run.reply("one")
            run.reply("two")
    assert [text for _, text in runtime.said] == ["hello", "one", "two"]


def test_another_run_with_the_same_words_is_recorded() -> None:
    host, runtime = hosted()
    host.call(echo, "hello", **ADA)
    host.call(echo, "hello", **ADA)
    assert len(runtime.said) == 4


def test_the_first_reply_of_a_run_stands_and_the_second_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    host, runtime = hosted()
    host.call(lambda question, memory: "one", "hello", **ADA, run_id="r1")
    assert host.call(lambda question, memory: "two", "hello", **ADA, run_id="r1") == "two"
    assert [text for _, text in runtime.said] == ["hello", "one"]
    assert [record.message for record in caplog.records] == ["ambient.earlier_reply_stands"]


def test_a_run_id_that_was_used_for_another_input_is_a_conflict() -> None:
    host, _ = hosted()
    host.call(echo, "hello", **ADA, run_id="r1")
    with pytest.raises(MemoryConflictError):
        host.call(echo, "good-bye", **ADA, run_id="r1")


@pytest.mark.parametrize(("reply", "turns"), [(None, 1), ("", 1), ("hi", 2)])
def test_a_reply_without_words_is_no_turn(reply: str | None, turns: int) -> None:
    host, runtime = hosted()
    assert host.call(lambda question, memory: reply, "hello", **ADA) == reply
    assert len(runtime.said) == turns


def test_the_host_may_say_how_to_read_a_reply() -> None:
    host, runtime = hosted(text_of=lambda reply: reply["text"])
    assert host.call(lambda question, memory: {"text": "hi"}, "hello", **ADA) == {"text": "hi"}
    assert runtime.said[-1] == ("assistant", "hi")
    assert list(host.stream(lambda question, memory: iter([{"text": "h"}, {"text": "o"}]), "q", **ADA))
    assert runtime.said[-1] == ("assistant", "ho")


def test_a_run_is_entered_once() -> None:
    host, _ = hosted()
    run = host.run(**ADA)
    with run:
        pass
    with pytest.raises(RuntimeError, match="entered before"), run:
        pass


# --- when recording fails


def test_the_agent_is_not_started_when_its_input_cannot_be_recorded() -> None:
    host, runtime = hosted()
    runtime.failing = MemoryServerError("out of order")
    with pytest.raises(MemoryServerError, match="out of order"):
        host.call(lambda question, memory: pytest.fail("was started"), "hello", **ADA)
    assert host.request_context() is None


def test_a_run_whose_input_could_not_be_recorded_may_be_entered_again() -> None:
    host, runtime = hosted()
    runtime.failing = MemoryServerError("out of order")
    run = host.run(**ADA, input="hello")
    with pytest.raises(MemoryServerError), run:
        pass
    runtime.failing = None
    with run:
        assert runtime.said == [("user", "hello")]


def failing_on_replies(**options: Any) -> tuple[AgentHost, Keeping]:
    host, runtime = hosted(**options)
    runtime.failing, runtime.fails_on = MemoryServerError("out of order"), "assistant"
    return host, runtime


def test_a_reply_that_cannot_be_recorded_is_raised_with_the_reply() -> None:
    host, runtime = failing_on_replies()
    with pytest.raises(MemoryReplyNotRecordedError, match=r"run r1 .*out of order") as caught:
        host.call(echo, "hello", **ADA, run_id="r1")
    assert (caught.value.reply, caught.value.run_id) == ("you said hello", "r1")
    assert caught.value.__cause__ is runtime.failing


def test_a_reply_whose_text_cannot_be_read_is_not_lost() -> None:
    host, _ = hosted()
    with pytest.raises(MemoryReplyNotRecordedError, match="text_of=") as caught:
        host.call(lambda question, memory: {"text": "hi"}, "hello", **ADA)
    assert caught.value.reply == {"text": "hi"}


def test_the_host_may_deliver_a_reply_that_was_not_recorded() -> None:
    lost: list[MemoryReplyNotRecordedError] = []
    host, runtime = failing_on_replies(on_unrecorded=lost.append)
    assert host.call(echo, "hello", **ADA) == "you said hello"
    assert [(error.reply, error.__cause__) for error in lost] == [("you said hello", runtime.failing)]


def test_a_failed_reply_may_be_given_again() -> None:
    host, runtime = failing_on_replies()
    with host.run(**ADA, run_id="r1", input="hello") as run:
        with pytest.raises(MemoryServerError):
            run.reply("hi")
        runtime.failing = None
        run.reply("hi")
    with host.run(**ADA, run_id="r1", input="hello") as run:
        run.reply("hi")
    assert [text for _, text in runtime.said] == ["hello", "hi"]


# --- streams


def test_a_stream_is_recorded_when_it_ends() -> None:
    host, runtime = hosted()
    pieces = host.stream(spelled, "hey", **ADA)
    assert next(pieces) == "h"
    assert runtime.said == [("user", "hey")]
    assert list(pieces) == ["e", "y"]
    assert runtime.said == [("user", "hey"), ("assistant", "hey")]


def test_a_stream_that_nobody_began_leaves_nothing() -> None:
    host, runtime = hosted()
    host.stream(spelled, "hey", **ADA).close()
    assert runtime.said == []


def test_a_stream_that_fails_leaves_what_was_said_and_its_mark() -> None:
    host, runtime = hosted()

    def broken(question: str, memory: Memory) -> Iterator[str]:
        yield "so "
        yield "far"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(host.stream(broken, "hello", **ADA, metadata={"channel": "web"}))
    assert runtime.said[-1] == ("assistant", "so far")
    assert list(runtime.turns.values())[-1]["metadata"] == {"channel": "web", "incomplete": "failed"}


def test_a_stream_that_is_given_up_leaves_what_was_said_and_ends_the_agent() -> None:
    host, runtime = hosted()
    ended: list[Any] = []

    def talking(question: str, memory: Memory) -> Iterator[str]:
        try:
            while True:
                yield "word "
        finally:
            ended.append(host.request_context())

    with closing(host.stream(talking, "hello", **ADA)) as pieces:
        assert next(pieces) + next(pieces) == "word word "
    assert runtime.said[-1] == ("assistant", "word word ")
    assert list(runtime.turns.values())[-1]["metadata"] == {"incomplete": "abandoned"}
    assert ended == [MemoryRequestContext(**ADA)]


def test_a_stream_that_failed_may_be_retried_as_a_whole() -> None:
    host, runtime = hosted()
    failures = 2

    def flaky(question: str, memory: Memory) -> Iterator[str]:
        nonlocal failures
        yield "so "
        if failures:
            failures -= 1
            raise ZeroDivisionError
        yield "far"

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            list(host.stream(flaky, "hello", **ADA, run_id="r1"))
    list(host.stream(flaky, "hello", **ADA, run_id="r1"))
    assert runtime.said == [("user", "hello"), ("assistant", "so "), ("assistant", "so far")]


def test_interleaved_streams_keep_their_identities_and_the_consumer_has_none() -> None:
    host, runtime = hosted()

    def agent(question: str, memory: Memory) -> Iterator[str]:
        for _ in range(3):
            yield str(who(memory, runtime)[0])

    streams = [host.stream(agent, "q", user_id=user, session_id="s") for user in ("ada", "bob")]
    seen = []
    for _ in range(3):
        for stream in streams:
            seen.append(next(stream))
            assert host.request_context() is None
    assert seen == ["ada", "bob"] * 3


def test_a_stream_may_be_read_in_other_threads_than_it_was_begun_in() -> None:
    host, runtime = hosted()

    def agent(question: str, memory: Memory) -> Iterator[str]:
        yield str(who(memory, runtime)[0])
        yield str(who(memory, runtime)[0])

    stream = host.stream(agent, "q", **ADA)
    for _ in range(2):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(next, stream).result(30) == "ada"


def test_the_agents_error_stays_on_top_when_its_part_cannot_be_recorded(caplog: pytest.LogCaptureFixture) -> None:
    host, _ = failing_on_replies()

    def broken(question: str, memory: Memory) -> Iterator[str]:
        yield "secret"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        list(host.stream(broken, "hello", **ADA))
    assert "out of order" in caught.value.__notes__[0]
    assert [record.message for record in caplog.records] == ["ambient.part_not_recorded"]
    assert "secret" not in caplog.text


def test_closing_a_stream_tells_that_its_part_could_not_be_recorded() -> None:
    host, _ = failing_on_replies()
    pieces = host.stream(spelled, "hey", **ADA)
    next(pieces)
    with pytest.raises(MemoryReplyNotRecordedError) as caught:
        pieces.close()
    assert caught.value.reply == "h"


def test_a_part_that_cannot_be_recorded_goes_to_the_hosts_handler() -> None:
    lost: list[MemoryReplyNotRecordedError] = []
    host, _ = failing_on_replies(on_unrecorded=lost.append)
    pieces = host.stream(spelled, "hey", **ADA)
    next(pieces)
    pieces.close()
    assert [error.reply for error in lost] == ["h"]


# --- decorators


def test_a_decorated_agent_is_called_with_its_identity() -> None:
    host, runtime = hosted()

    @host.agent
    def answer(question: str, memory: Memory) -> str:
        """Answer."""
        return str(who(memory, runtime)[0])

    assert answer("hello", **ADA) == "ada"
    assert runtime.said == [("user", "hello"), ("assistant", "ada")]
    assert answer.__doc__ == "Answer."


def test_a_decorated_streaming_agent_gives_pieces() -> None:
    host, runtime = hosted()
    streamed = host.streaming_agent(spelled)
    assert "".join(streamed("hey", **ADA)) == "hey"
    assert runtime.said == [("user", "hey"), ("assistant", "hey")]


async def waits(question: str, memory: Memory) -> str:
    return ""


async def waits_in_pieces(question: str, memory: Memory) -> Any:
    yield ""


class WaitingAgent:
    async def __call__(self, question: str, memory: Memory) -> str:
        return ""


@pytest.mark.parametrize(
    ("method", "agent", "remedy"),
    [
        ("call", spelled, r"is a generator function; run it with AgentHost\.stream"),
        ("agent", spelled, r"AgentHost\.stream"),
        ("call", waits, r"is a coroutine function; run it with AsyncAgentHost\.call"),
        ("call", WaitingAgent(), r"AsyncAgentHost\.call"),
        ("stream", waits, r"AsyncAgentHost\.call"),
        ("stream", waits_in_pieces, r"AsyncAgentHost\.stream"),
        ("streaming_agent", waits_in_pieces, r"AsyncAgentHost\.stream"),
    ],
)
def test_an_agent_of_another_kind_is_refused_before_anything_is_recorded(method: str, agent: Any, remedy: str) -> None:
    host, runtime = hosted()
    with pytest.raises(TypeError, match=remedy):
        getattr(host, method)(agent, *([] if "agent" in method else ["hello"]), **({} if "agent" in method else ADA))
    assert runtime.said == []


# --- threads


def test_a_thread_without_the_context_is_refused_and_one_with_it_is_in_the_run() -> None:
    host, runtime = hosted()

    def work(query: str) -> Any:
        host.memory.search_semantic(query)
        return runtime.last["user_id"]

    with ThreadPoolExecutor(4) as pool, host.run(**ADA):
        with pytest.raises(MemoryIdentityError, match="carry"):
            pool.submit(work, "q").result(30)
        carried = host.carry(work)
        assert [each.result(30) for each in [pool.submit(carried, "q") for _ in range(8)]] == ["ada"] * 8


def test_concurrent_runs_in_threads_never_see_each_other() -> None:
    host, runtime = hosted()
    meeting = threading.Barrier(8, timeout=30)

    def agent(question: str, memory: Memory) -> str:
        meeting.wait()
        seen = [host.request_context() for _ in range(100)]
        meeting.wait()
        return ",".join(sorted({str(each and each.user_id) for each in seen}))

    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(host.call, agent, "q", user_id=f"u{n}", session_id="s") for n in range(8)]
        assert [run.result(30) for run in runs] == [f"u{n}" for n in range(8)]
    assert {(key[0], turn["content"]) for key, turn in runtime.turns.items() if turn["role"] == "assistant"} == {
        (f"u{n}", f"u{n}") for n in range(8)
    }
