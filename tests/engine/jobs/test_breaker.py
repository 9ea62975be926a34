"""A provider that is out of order is asked now and then; its jobs wait, lose no attempts, and are done afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from memoranda.engine.extraction.errors import (
    ExtractionCredentialsError,
    ExtractionRateLimitError,
    ExtractionRefusedError,
)
from memoranda.engine.extraction.errors import ExtractionTransientError as OutageError
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.jobs.breaker import THRESHOLD
from memoranda.engine.records import JobKind
from tests.engine.background_world import PROJECT, World, one_fact_per_turn
from tests.engine.jobs.conftest import MakeWorld

USERS = 500
STEP = timedelta(seconds=1)


@dataclass
class Provider:
    """An extractor's model: ``error`` is what it raises, for as long as it is set; ``asked`` has when it was asked."""

    world: World
    error: Exception | None = None
    asked: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = self.world.clock.now()
        self.world.extractor.script = self._answer

    def _answer(self, turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        self.asked.append((self.world.clock.now() - self.began).total_seconds())
        if self.error is not None:
            raise self.error
        return one_fact_per_turn(turns)


def queue_up(world: World, users: int) -> None:
    """Have one snapshot of each user wait for its extraction."""
    for number in range(users):
        world.say(f"I am number {number}.", user=f"user-{number:03}")
    world.background.promote()


def pass_time(world: World, span: timedelta, *, step: timedelta = STEP) -> None:
    """Let time pass, with a worker that runs what is due after every step."""
    end = world.clock.now() + span
    while world.clock.now() < end:
        world.background.worker.run_until_idle()
        world.clock.advance(seconds=step.total_seconds())
    world.background.worker.run_until_idle()


def waiting(world: World) -> dict[str, int]:
    """Return how many jobs of each kind wait for a provider."""
    return {kind: number for kind, number in world.jobs().items() if kind in ("extract", "embed")}


@pytest.mark.timeout(300)
def test_an_outage_of_two_hours_burns_no_attempts_and_few_calls(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, USERS)

    pass_time(world, timedelta(hours=2), step=timedelta(seconds=30))

    during = len(provider.asked)
    status = world.background.status()
    [breaker] = status.breakers
    assert during <= THRESHOLD + 32, provider.asked
    assert (breaker.provider, breaker.kind, breaker.failures) == ("scripted", JobKind.EXTRACT, during)
    assert breaker.since == provider.began
    assert breaker.next_probe is not None
    assert breaker.next_probe - world.clock.now() <= timedelta(minutes=5)
    assert (status.failures, status.running, waiting(world)) == ((), 0, {"extract": USERS})

    provider.error = None
    pass_time(world, timedelta(minutes=6), step=timedelta(seconds=30))

    assert (waiting(world), world.background.failures(), world.background.status().breakers) == ({}, [], ())
    assert len(provider.asked) == during + USERS
    for number in (0, 250, 499):
        [fact] = world.current(user=f"user-{number:03}")
        assert fact.occurrences == 1


def test_a_single_job_survives_an_outage_longer_than_its_attempts(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, 1)
    pass_time(world, timedelta(hours=20), step=timedelta(minutes=1))
    assert len(provider.asked) > 100
    assert world.background.failures() == []
    provider.error = None
    pass_time(world, timedelta(minutes=6))
    assert len(world.current(user="user-000")) == 1


def test_credentials_that_are_rotated_after_forty_minutes(world: World) -> None:
    provider = Provider(world, ExtractionCredentialsError("401"))
    queue_up(world, 20)
    pass_time(world, timedelta(minutes=40), step=timedelta(seconds=30))
    assert len(provider.asked) <= THRESHOLD + 5
    [breaker] = world.background.status().breakers
    assert (breaker.failure_class, breaker.reason[-3:]) == ("credentials", "401")

    provider.error = None
    pass_time(world, timedelta(minutes=30), step=timedelta(seconds=30))
    assert (waiting(world), world.background.failures()) == ({}, [])
    assert all(len(world.current(user=f"user-{number:03}")) == 1 for number in range(20))


def test_an_operator_need_not_wait_for_the_next_probe(world: World) -> None:
    provider = Provider(world, ExtractionCredentialsError("401"))
    queue_up(world, 20)
    pass_time(world, timedelta(hours=1), step=timedelta(minutes=1))
    provider.error = None
    world.background.worker.run_until_idle()
    assert len(world.current(user="user-019")) == 0
    world.background.retry_failures()
    world.background.worker.run_until_idle()
    assert waiting(world) == {}


@pytest.mark.parametrize("seconds", [1, 7, 90, 1800])
def test_what_a_provider_asks_for_is_honoured_to_the_second(world: World, seconds: int) -> None:
    provider = Provider(world, ExtractionRateLimitError("429", retry_after=timedelta(seconds=seconds)))
    queue_up(world, 3)
    while len(provider.asked) < 3:
        pass_time(world, STEP)
    provider.error = None
    pass_time(world, timedelta(seconds=seconds))
    # The others of the queue are not sent into the same limit: one request each time, at the very second.
    assert provider.asked == [0, seconds, 2 * seconds, *[3 * seconds] * 3]
    assert world.background.failures() == []


def test_attempts_cut_off_by_a_rate_limit_are_not_counted_but_age_is(world: World) -> None:
    provider = Provider(world, ExtractionRateLimitError("429", retry_after=timedelta(minutes=10)))
    queue_up(world, 1)
    pass_time(world, timedelta(hours=24), step=timedelta(minutes=10))
    assert len(provider.asked) > 100
    assert world.background.failures() == []

    pass_time(world, timedelta(minutes=20), step=timedelta(minutes=10))
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.retryable) == ("rate_limit", True)
    provider.error = None
    assert world.background.retry_failures() == 1
    world.background.worker.run_until_idle()
    assert (waiting(world), len(world.current(user="user-000"))) == ({}, 1)


def test_a_provider_that_does_not_keep_its_word_is_asked_less_often(world: World) -> None:
    provider = Provider(world, ExtractionRateLimitError("429", retry_after=timedelta(0)))
    queue_up(world, 1)
    pass_time(world, timedelta(hours=1))
    assert len(provider.asked) < 30


def test_a_job_that_waited_long_for_its_turn_is_not_too_old_in_a_new_outage(world: World) -> None:
    queue_up(world, 1)
    world.clock.advance(seconds=3 * 86_400)
    provider = Provider(world, OutageError("503"))
    pass_time(world, timedelta(hours=3), step=timedelta(minutes=1))
    assert world.background.failures() == []
    provider.error = None
    pass_time(world, timedelta(minutes=6))
    assert len(world.current(user="user-000")) == 1


def test_failures_of_one_job_among_others_open_nothing_and_are_bounded_by_attempts(world: World) -> None:
    def answer(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        if "number 0" in turns[0].content:
            raise OutageError("500 for this one alone")
        return one_fact_per_turn(turns)

    world.extractor.script = answer
    queue_up(world, 1)
    number = 0
    while not world.background.failures():
        number += 1
        world.say(f"I am another, {number}.", user="other", session=f"s{number}")
        world.background.promote()
        world.background.worker.run_until_idle()
        assert world.background.status().breakers == ()
        world.clock.advance(seconds=300)
    [failure] = world.background.failures()
    assert (failure.failure_class, failure.attempts) == ("transient", 20)


def test_all_processes_wait_together_and_only_one_probes(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, 50)
    others = [world.new_background() for _ in range(3)]
    for _ in range(600):
        for background in (world.background, *others):
            background.worker.run_until_idle()
        world.clock.advance(seconds=1)
    assert len(provider.asked) <= THRESHOLD + 10
    assert {len(background.status().breakers) for background in others} == {1}


def test_a_probe_is_the_only_one_while_it_runs(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, 20)
    world.background.worker.run_until_idle()
    other = world.new_background()
    world.clock.advance(seconds=3)
    seen: list[bool] = []

    def probe(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        world.extractor.script = provider._answer
        seen.append(other.worker.run_once())
        raise OutageError("503")

    world.extractor.script = probe
    assert world.background.worker.run_once()
    assert seen == [False]


def test_what_is_wrong_with_a_request_says_that_the_provider_is_well(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, 10)
    world.background.worker.run_until_idle()
    provider.error = ExtractionRefusedError("no")
    world.clock.advance(seconds=3)
    world.background.worker.run_until_idle()
    assert (world.background.status().breakers, dict(world.background.status().failures)) == ((), {"content": 10})


def test_an_error_of_the_program_says_nothing_about_the_provider(world: World) -> None:
    provider = Provider(world, OutageError("503"))
    queue_up(world, 10)
    world.background.worker.run_until_idle()
    provider.error = KeyError("a bug")
    world.clock.advance(seconds=3)
    world.background.worker.run_until_idle()
    [breaker] = world.background.status().breakers
    assert (breaker.failures, len(provider.asked)) == (THRESHOLD, THRESHOLD + 1)


def test_an_embedder_has_a_breaker_of_its_own(make_world: MakeWorld) -> None:
    world = make_world(embeds=True)
    assert world.embedder is not None
    good = world.embedder.answer

    def broken(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ConnectionError("no such host")

    world.embedder.answer = broken
    provider = Provider(world)
    queue_up(world, 30)
    pass_time(world, timedelta(minutes=10))

    [breaker] = world.background.status().breakers
    assert (breaker.kind, breaker.provider) == (JobKind.EMBED, "scripted-embedder")
    assert len(provider.asked) == 30
    assert len(world.current(user="user-029")) == 1
    world.embedder.answer = good
    pass_time(world, timedelta(minutes=6))
    assert (waiting(world), world.background.failures(), world.background.status().breakers) == ({}, [], ())


def test_waiting_until_idle_does_not_wait_for_a_provider_that_is_out_of_order(world: World) -> None:
    Provider(world, OutageError("503"))
    queue_up(world, 20)
    world.background.wait_until_idle(timeout=60)
    status = world.background.status()
    assert (waiting(world), status.busy, len(status.breakers)) == ({"extract": 20}, 0, 1)


def test_breakers_are_of_one_project(world: World) -> None:
    Provider(world, OutageError("503"))
    queue_up(world, 10)
    world.background.worker.run_until_idle()
    with world.store.read(PROJECT) as tx, world.store.read("another") as other:
        assert (len(tx.breakers.all()), len(other.breakers.all())) == (1, 0)
