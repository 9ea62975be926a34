"""One fleet runs the background work of all projects, fairly, and lets go of what it holds when it stops."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.records import JobState
from memoranda.runtime.fleet import Fleet, FleetSettings
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.extractors import ScriptedExtractor

Script = Callable[[Sequence[SourceTurn]], Sequence[ExtractedItem]]
PATIENCE = 60.0
NEVER = 3600.0


def telling(tell: Callable[[Sequence[SourceTurn]], object]) -> Script:
    """Find nothing, and tell that it was asked."""

    def script(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        tell(turns)
        return ()

    return script


@contextmanager
def hosting(path: Path, script: Script = lambda turns: ()) -> Iterator[EngineHost]:
    asked = Asked(embedder=None, llm=ScriptedExtractor(script), reranker=None, clock=None)
    host = EngineHost(SqliteStore.open(path), asked=asked, create_projects=True)
    yield host
    host.close()


@contextmanager
def working(host: EngineHost, settings: FleetSettings | None = None) -> Iterator[Fleet]:
    fleet = Fleet(host, settings)
    fleet.start()
    yield fleet
    fleet.stop()


def record(host: EngineHost, project_id: str, *, user_id: str = "u", session_id: str = "s", turns: int = 1) -> None:
    with host.runtime(project_id) as runtime:
        for _ in range(turns):
            runtime.record_turn(role="user", content="I like tea.", user_id=user_id, session_id=session_id)


def queue_snapshots(host: EngineHost, project_id: str, number: int) -> None:
    for session in range(number):
        record(host, project_id, user_id=f"u{session}", session_id=f"s{session}")
    with host.runtime(project_id) as runtime:
        runtime.promote()


def idle(host: EngineHost, project_id: str, *, promote: bool = True) -> None:
    with host.runtime(project_id) as runtime:
        runtime.wait_until_idle(timeout=PATIENCE, promote=promote)


def test_work_of_all_projects_is_done(tmp_path: Path) -> None:
    projects: list[str] = []
    with hosting(tmp_path / "m.db", telling(lambda turns: projects.append(turns[0].turn_id))) as host:
        for name in "abc":
            record(host, name)
        with working(host) as fleet:
            for name in "abc":
                idle(host, name)
            states = [fleet.running]
            assert fleet.jobs_done >= 3
        states.append(fleet.running)
        assert states == [True, False]
        assert len(projects) == 3


def test_commits_of_this_process_wake_it_without_polling(tmp_path: Path) -> None:
    done = threading.Event()
    with (
        hosting(tmp_path / "m.db", telling(lambda _: done.set())) as host,
        working(host, FleetSettings(poll_seconds=NEVER)),
    ):
        queue_snapshots(host, "a", 1)
        assert done.wait(PATIENCE)


def test_work_of_another_process_is_noticed_by_polling(tmp_path: Path) -> None:
    done = threading.Event()
    with (
        hosting(tmp_path / "m.db", telling(lambda _: done.set())) as host,
        hosting(tmp_path / "m.db") as other,
        working(host, FleetSettings(poll_seconds=0.05)),
    ):
        queue_snapshots(other, "a", 1)
        assert done.wait(PATIENCE)


def test_small_project_is_not_starved_behind_a_large_one(tmp_path: Path) -> None:
    order: list[str] = []
    users: dict[str, str] = {}

    def remember(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        order.append(users[turns[0].turn_id])
        return ()

    with hosting(tmp_path / "m.db", remember) as host:
        for name, number in (("large", 30), ("small", 1)):
            for session in range(number):
                with host.runtime(name) as runtime:
                    turn = runtime.record_turn(
                        role="user", content="x", user_id=f"u{session}", session_id=f"s{session}"
                    )
                users[turn.id] = name
            with host.runtime(name) as runtime:
                runtime.promote()
        with working(host, FleetSettings(threads=1)):
            idle(host, "large")
        assert order.count("large") == 30
        assert order.index("small") < 5


def test_stop_lets_go_of_a_job_that_does_not_end(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def hang(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        begun.set()
        go_on.wait(PATIENCE)
        return [ExtractedItem(kind="semantic", content="tea", turn_ids=(turns[0].turn_id,))]

    with hosting(tmp_path / "m.db", hang) as host:
        queue_snapshots(host, "a", 1)
        fleet = Fleet(host)
        fleet.start()
        assert begun.wait(PATIENCE)
        assert fleet.stop(timeout=0.05) is False
        with host.runtime("a") as runtime:
            jobs = runtime.engine.background.status().jobs
        assert [(entry.state, entry.number) for entry in jobs if entry.kind.value == "extract"] == [
            (JobState.PENDING, 1)
        ]
        # What the job would still commit is refused: whoever has it next does it once.
        go_on.set()
        for thread in threading.enumerate():
            if thread.name.startswith("memoranda-fleet"):
                thread.join()
        with host.runtime("a") as runtime:
            assert runtime.list_memories(kind="semantic").items == []


def test_stop_finishes_what_runs(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
        begun.set()
        go_on.wait(PATIENCE)
        return ()

    with hosting(tmp_path / "m.db", slow) as host:
        queue_snapshots(host, "a", 1)
        fleet = Fleet(host)
        fleet.start()
        assert begun.wait(PATIENCE)
        stopping = threading.Thread(target=fleet.stop, kwargs={"timeout": PATIENCE})
        stopping.start()
        go_on.set()
        stopping.join()
        with host.runtime("a") as runtime:
            assert all(entry.kind.value != "extract" for entry in runtime.engine.background.status().jobs)


def test_project_that_cannot_be_opened_holds_up_no_other(tmp_path: Path) -> None:
    done = threading.Event()
    with hosting(tmp_path / "m.db") as first:
        queue_snapshots(first, "broken", 1)
        with first.store.write("broken") as tx:
            row = tx.projects.get()
            assert row is not None
            tx.projects.put(replace(row, analyser="another/1"))
    with hosting(tmp_path / "m.db", telling(lambda _: done.set())) as host, working(host):
        queue_snapshots(host, "whole", 1)
        assert done.wait(PATIENCE)


@pytest.mark.skipif(sys.platform != "linux", reason="only there have threads priorities of their own")
@pytest.mark.parametrize("gives_way", [True, False])
def test_a_fleet_beside_requests_gives_way_to_them(tmp_path: Path, gives_way: bool) -> None:
    found: list[int] = []
    asked = threading.Event()

    def look(turns: Sequence[SourceTurn]) -> None:
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        asked.set()

    with (
        hosting(tmp_path / "memory.db", telling(look)) as host,
        working(host, FleetSettings(threads=1, gives_way=gives_way)),
    ):
        queue_snapshots(host, "p", 1)
        assert asked.wait(PATIENCE)
    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert (found[0] > usual) is gives_way
