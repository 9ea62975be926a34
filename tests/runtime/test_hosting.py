"""Many projects in one process: engines are shared, closed when idle, and never under a caller."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memoranda.engine.config import load_config
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked
from memoranda.runtime.runtime import EngineRuntime
from memoranda.sdk.errors import (
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryEmbedderMismatchError,
    MemoryNotProvisionedError,
    MemoryStoreError,
)
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.embedders import HashedEmbedder

ASKED = Asked(embedder=None, llm=None, reranker=None, clock=None)


def opened(path: Path, **options: object) -> EngineHost:
    given: dict[str, object] = {"asked": ASKED, "create_projects": True, **options}
    return EngineHost(SqliteStore.open(path), **given)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def host(path: Path) -> Iterator[EngineHost]:
    host = opened(path)
    yield host
    host.close()


def record(runtime: EngineRuntime, content: str) -> None:
    runtime.record_turn(role="user", content=content, user_id="u", session_id="s", agent_id=None)


def test_callers_of_a_project_share_one_engine(host: EngineHost) -> None:
    with host.runtime("a") as one, host.runtime("a") as other, host.runtime("b") as stranger:
        assert one is other
        assert stranger.engine is not one.engine
    assert host.projects() == ["a", "b"]


def test_unknown_project_is_not_created_unless_asked_for(path: Path) -> None:
    host = opened(path, create_projects=False)
    with pytest.raises(MemoryNotProvisionedError, match="no project 'a'") as raised, host.runtime("a"):
        pass
    assert (raised.value.code, host.projects(), host.open_projects()) == ("NO_WORKSPACE_ENDPOINT", [], [])
    host.create("a")
    with host.runtime("a") as runtime:
        record(runtime, "hello")
    with pytest.raises(MemoryConflictError, match="a project 'a' already"):
        host.create("a")
    host.close()


def test_id_that_cannot_be_is_refused(host: EngineHost) -> None:
    with pytest.raises(MemoryBadRequestError, match="project_id ' ' cannot be used"), host.runtime(" "):
        pass


def test_idle_engines_beyond_the_limit_are_closed_and_those_in_use_are_not(path: Path) -> None:
    host = opened(path, max_open=2)
    with host.runtime("a") as first:
        for name in "bcd":
            with host.runtime(name) as runtime:
                record(runtime, "x")
        assert "a" in host.open_projects()
        record(first, "still open")
        assert len(host.open_projects()) == 2
    host.close()


def test_reload_leaves_callers_their_engine_and_gives_others_a_new_one(host: EngineHost) -> None:
    with host.runtime("a") as before:
        host.reload("a")
        with host.runtime("a") as after:
            assert after is not before
        record(before, "x")
    assert host.open_projects() == ["a"]


def test_many_threads_reload_and_use_projects_without_an_error(path: Path) -> None:
    host, errors = opened(path, max_open=2), list[Exception]()

    def work(number: int) -> None:
        try:
            for turn in range(10):
                name = f"p{(number + turn) % 4}"
                with host.runtime(name) as runtime:
                    record(runtime, "x")
                if turn % 5 == number:
                    host.reload(name)
        except Exception as error:  # noqa: BLE001 - told by the test's thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    turns = 0
    for name in host.projects():
        with host.runtime(name) as runtime:
            turns += runtime.status().turns
    assert turns == 40
    host.close()


def test_close_waits_for_callers_and_refuses_new_ones(host: EngineHost) -> None:
    with ExitStack() as stack:
        runtime = stack.enter_context(host.runtime("a"))
        closing = threading.Thread(target=host.close)
        closing.start()
        code = None
        while code is None:
            try:
                with host.runtime("a"):
                    pass
            except MemoryStoreError as error:
                code = error.code
        assert code == "SHUTTING_DOWN"
        record(runtime, "accepted before")
        assert closing.is_alive()
    closing.join()


def test_close_does_not_wait_for_ever(host: EngineHost) -> None:
    with host.runtime("a"):
        host.close(timeout=0.01)


def test_configuration_that_is_applied_reaches_those_who_ask_next(host: EngineHost) -> None:
    config = load_config({"memory": {"custom_memory_types": [{"name": "note", "collection": "notes"}]}})
    with host.runtime("a"):
        host.apply("a", config)
    with host.runtime("a") as runtime:
        assert runtime.engine.config == config


def test_configuration_applied_by_another_process_is_noticed(path: Path) -> None:
    config = load_config({"memory": {"log_level": "debug"}})
    host, other = opened(path, relook_seconds=0.0), opened(path)
    with host.runtime("a") as before:
        other.apply("a", config)
    with host.runtime("a") as after:
        assert (before.engine.config.log_level, after.engine.config.log_level) == (None, "debug")
    with host.runtime("a") as again:
        assert again is after
    host.close()
    other.close()


def test_project_that_cannot_be_opened_says_so_and_is_asked_anew(path: Path) -> None:
    first = opened(path, asked=Asked(HashedEmbedder(dimension=8), None, None, None))
    with first.runtime("a"):
        pass
    first.close()
    second = opened(path, asked=Asked(HashedEmbedder(dimension=16), None, None, None))
    for _ in range(2):
        with pytest.raises(MemoryNotProvisionedError, match="cannot be opened") as raised, second.runtime("a"):
            pass
        assert raised.value.code == "PROJECT_RUNTIME_FAILED"
        assert isinstance(raised.value.__cause__, MemoryEmbedderMismatchError)
    assert second.open_projects() == []
    second.close()


def test_providers_are_shared_between_projects(host: EngineHost) -> None:
    with host.runtime("a") as one, host.runtime("b") as other:
        ours, theirs = (runtime.engine.background.worker.settings.extractors for runtime in (one, other))
        assert ours == theirs
        assert one.engine.clock is other.engine.clock


def test_engines_that_were_closed_leave_no_listener(host: EngineHost) -> None:
    for _ in range(3):
        with host.runtime("a") as runtime:
            record(runtime, "x")
        host.reload("a")
    heard: list[str] = []
    end = host.store.after_commit(heard.append)
    with host.runtime("a") as runtime:
        record(runtime, "y")
    end()
    assert heard == ["a"]


def test_who_waits_for_work_that_is_left_to_others_does_none(host: EngineHost) -> None:
    asked_for: list[str] = []
    with host.runtime("a") as runtime:
        record(runtime, "My name is Ada.")
    host.leave_work_to(asked_for.append)
    with host.runtime("a") as runtime:
        with pytest.raises(TimeoutError):
            runtime.wait_until_idle(timeout=0.05)
        assert runtime.status().jobs["pending"] > 0
    assert set(asked_for) == {"a"}
