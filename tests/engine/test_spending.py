"""What extraction may cost a day: usage is kept for each job, and at the cap work waits and is not lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda import Memory, MemoryConfigError, MemoryRequestContext
from memoranda.engine.config_model import SpendingConfig
from memoranda.engine.jobs.failure import PostponedError
from memoranda.engine.ports import ChatReply
from memoranda.engine.records import Job, JobKind
from memoranda.engine.spending import MeteredChatModel, Spending
from memoranda.engine.usage import ModelUsage, Usage
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import DEFAULT_START, ManualClock

FACT = {
    "text": "Ann moved to Lisbon.",
    "record_type": "fact",
    "label": "home",
    "turns": [1],
    "event_time": None,
    **{verdict: [] for verdict in ("supersedes", "refines", "repeats", "contradicts")},
}
REPLY = json.dumps({"summary": "", "semantic": [FACT], "episodic": [], "procedural": [], "taxonomic": []})
MIDNIGHT = datetime(2026, 1, 6, tzinfo=UTC)
ONE = {"calls": 1, "input_tokens": 100, "output_tokens": 20}


class CountingModel:
    """Answers one fact; each call costs 100 and 20 tokens."""

    model_id = "counting"

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        self.calls += 1
        if self.error is not None:
            raise self.error
        return ChatReply(REPLY, 100, 20)


@contextmanager
def opened(path: Path, model: CountingModel, clock: ManualClock, **spending: int) -> Iterator[Memory]:
    with Memory.open(
        path / "memory.db", config={"spending": spending}, llm=model, embedder=None, worker=False, clock=clock
    ) as memory:
        yield memory


def say(memory: Memory, user: str) -> None:
    me = memory.bind(MemoryRequestContext(user_id=user, session_id="s"))
    me.record_turn(role="user", content="I moved to Lisbon.")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def model() -> CountingModel:
    return CountingModel()


def test_status_says_what_models_cost_today(tmp_path: Path, model: CountingModel, clock: ManualClock) -> None:
    with opened(tmp_path, model, clock) as memory:
        assert memory.status().spent_today == {"calls": 0, "input_tokens": 0, "output_tokens": 0}
        say(memory, "ann")
        memory.wait_until_idle()
        assert (memory.status().spent_today, memory.status().extraction_paused_until) == (ONE, None)

        clock.set(MIDNIGHT)
        assert memory.status().spent_today["calls"] == 0


@pytest.mark.parametrize("cap", [{"calls_per_day": 1}, {"tokens_per_day": 120}, {"tokens_per_day": 1}])
def test_at_the_cap_extraction_waits_for_the_next_day(
    tmp_path: Path, model: CountingModel, clock: ManualClock, cap: dict[str, int]
) -> None:
    with opened(tmp_path, model, clock, **cap) as memory:
        say(memory, "ann")
        memory.wait_until_idle()
        say(memory, "bob")
        say(memory, "cid")
        memory.wait_until_idle()

        status = memory.status()
        assert (model.calls, status.memories) == (1, {"semantic": 1})
        assert status.extraction_paused_until == MIDNIGHT
        assert status.queue["extract"] == {"pending": 2}
        assert (status.failures, status.turns) == ({}, 3)

        clock.set(MIDNIGHT - timedelta(microseconds=1))
        memory.wait_until_idle()
        assert model.calls == 1

        clock.set(MIDNIGHT)
        assert memory.status().extraction_paused_until is None
        memory.wait_until_idle()
        assert model.calls == 2

        clock.set(MIDNIGHT + timedelta(days=1))
        memory.wait_until_idle()
        assert memory.status().memories == {"semantic": 3}
        assert "extract" not in memory.status().queue


def test_waiting_counts_no_attempt(tmp_path: Path, model: CountingModel, clock: ManualClock) -> None:
    with opened(tmp_path, model, clock, calls_per_day=1) as memory:
        say(memory, "ann")
        memory.wait_until_idle()
        say(memory, "bob")
        for day in range(60):
            # Each day's only call goes to somebody else, so that bob's snapshot is put off again and again.
            memory.wait_until_idle()
            clock.set(MIDNIGHT + timedelta(days=day))
            _spend(tmp_path, clock)
        assert model.calls == 1
        assert memory.status().failures == {}

        clock.set(MIDNIGHT + timedelta(days=60))
        memory.wait_until_idle()
        assert memory.status().memories == {"semantic": 2}


def _spend(path: Path, clock: ManualClock) -> None:
    store = SqliteStore.open(str(path / "memory.db"))
    with store.write("default") as tx:
        tx.usage.add(clock.now().date(), ModelUsage("other", "counting", Usage(1, 0, 0)))
    store.close()


def test_the_built_in_extractor_costs_nothing_and_is_never_paused(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, config={"spending": {"calls_per_day": 1}}, embedder=None, clock=clock) as memory:
        _spend(tmp_path, clock)
        say(memory, "ann")
        memory.wait_until_idle()
        assert "extract" not in memory.status().queue
        assert memory.status().spent_today["calls"] == 1


def test_a_call_that_fails_counts_as_a_call(tmp_path: Path, model: CountingModel, clock: ManualClock) -> None:
    model.error = ConnectionError("gone")
    with opened(tmp_path, model, clock) as memory:
        say(memory, "ann")
        memory.wait_until_idle()
        assert memory.status().spent_today == {"calls": 1, "input_tokens": 0, "output_tokens": 0}


def test_usage_is_kept_for_each_job_and_model(tmp_path: Path, clock: ManualClock, model: CountingModel) -> None:
    store = SqliteStore.open(str(tmp_path / "memory.db"))
    spending = Spending(store, "p", clock, SpendingConfig())
    metered = MeteredChatModel(model)
    jobs = [_job("one"), _job("two")]
    for job, calls in zip(jobs, (2, 1), strict=True):
        with spending.metered(job):
            for _ in range(calls):
                metered.complete("", "x")
    metered.complete("", "outside of any job")

    with store.read("p") as tx:
        found = {job.id: list(tx.usage.of_job(job.id, clock.now().date())) for job in jobs}
    store.close()
    assert found == {
        "one": [ModelUsage("one", "counting", Usage(2, 200, 40))],
        "two": [ModelUsage("two", "counting", Usage(1, 100, 20))],
    }


def test_a_snapshot_that_was_begun_is_not_stopped_halfway(
    tmp_path: Path, clock: ManualClock, model: CountingModel
) -> None:
    store = SqliteStore.open(str(tmp_path / "memory.db"))
    spending = Spending(store, "p", clock, SpendingConfig(calls_per_day=1))
    metered = MeteredChatModel(model)
    with spending.metered(_job("one")):
        metered.complete("", "ask")
        metered.complete("", "repair")

    with pytest.raises(PostponedError, match="calls_per_day 1") as paused, spending.metered(_job("two")):
        metered.complete("", "ask")
    store.close()
    assert paused.value.until == MIDNIGHT
    assert model.calls == 2


def _job(job_id: str) -> Job:
    return Job(job_id, 1, JobKind.EXTRACT, "", {}, DEFAULT_START, DEFAULT_START)


@pytest.mark.parametrize("bad", [{"tokens_per_day": 0}, {"calls_per_day": -1}, {"dollars": 5}, {"calls_per_day": "x"}])
def test_a_cap_is_a_number_from_one(tmp_path: Path, bad: dict[str, object]) -> None:
    with pytest.raises(MemoryConfigError, match=r"memory\.spending"):
        Memory.open(tmp_path / "memory.db", config={"spending": bad})
