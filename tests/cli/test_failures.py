"""Failures are listed, shown, retried and discarded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.engine.extraction.errors import ExtractionRateLimitError, ExtractionUnusableError
from memoranda.engine.extraction.items import Extraction, SourceTurn
from tests.cli.conftest import Run


class Rambling:
    """Stands in for the built-in extractor, and never gives a reply of any use."""

    name = "local"
    version = "1"

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        raise ExtractionUnusableError("there is no JSON in the reply", raw_reply="[i]I would rather[/i] not.")


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """A store with the failures of two sessions."""
    path = tmp_path / "memory.db"
    with Memory.open(path, llm=Rambling(), embedder=None) as memory:
        for session in ("one", "two"):
            memory.record_turn(role="user", content="I live in Oslo.", session_id=session)
        memory.wait_until_idle()
    return path


class Unreachable(Rambling):
    """Stands in for an extractor that asks a provider which is out of order."""

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        raise ExtractionRateLimitError("slow down", retry_after=timedelta(minutes=20))


def test_status_tells_which_provider_is_out_of_order_and_why(run: Run, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", llm=Unreachable(), embedder=None) as memory:
        memory.record_turn(role="user", content="I live in Oslo.", session_id="one")
        memory.wait_until_idle()
        [told] = memory.status().breakers
    shown = " ".join(run("status").out.split())
    assert "local (extract) since " in shown
    assert "slow down" in shown
    breakers = run("status", "--json").json["breakers"]
    assert isinstance(breakers, list)
    assert [(each["provider"], each["failure_class"]) for each in breakers] == [("local", "rate_limit")]
    assert told.next_probe - told.since == timedelta(minutes=20)


def ids(run: Run) -> list[str]:
    items = run("failures", "list", "--json").json["items"]
    assert isinstance(items, list)
    return [each["id"] for each in items]


def test_list_names_job_class_and_reason(run: Run, failed: Path) -> None:
    done = run("failures", "list")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 failures")
    assert "extract" in done.out
    assert "content" in done.out
    assert "there is no JSON in the reply" in " ".join(done.out.split())
    assert all(each in done.out for each in ids(run))


def test_list_by_class_and_limit(run: Run, failed: Path) -> None:
    assert run("failures", "list", "--class", "transient").out == "no failures\n"
    page = run("failures", "list", "--class", "content", "--limit", "1", "--json").json
    assert isinstance(page["items"], list)
    assert (len(page["items"]), page["next_cursor"] is None) == (1, False)
    assert "there are more; raise --limit" in run("failures", "list", "--limit", "1").out


def test_show_prints_all_with_the_raw_reply(run: Run, failed: Path) -> None:
    items = run("failures", "list", "--json").json["items"]
    assert isinstance(items, list)
    failure, session = items[-1]["id"], items[-1]["session_id"]
    done = run("failures", "show", failure)
    assert (done.code, done.err) == (0, "")
    assert "[i]I would rather[/i] not." in done.out
    shown = run("failures", "show", failure, "--json").json
    assert (shown["id"], shown["failure_class"], shown["session_id"]) == (failure, "content", session)


def test_show_of_nothing_fails(run: Run, failed: Path) -> None:
    done = run("failures", "show", "nothing")
    assert (done.code, done.complaint) == (1, "there is no failure 'nothing'; see: memoranda failures list")


@pytest.mark.parametrize("choice", ["one", "class", "all"])
def test_retry_does_the_work_again(run: Run, failed: Path, choice: str) -> None:
    words = {"one": ids(run)[:1], "class": ["--class", "content"], "all": ["--all"]}[choice]
    done = run("failures", "retry", *words)
    count = 1 if choice == "one" else 2
    assert (done.code, done.out) == (0, f"queued again: {count} failure{'s' * (count > 1)}\n")
    assert len(ids(run)) == 2 - count
    assert run("status", "--json").json["memories"] == {"semantic": 1}


def test_retry_without_waiting_only_queues(run: Run, failed: Path) -> None:
    report = run("failures", "retry", "--all", "--no-wait", "--json").json
    assert report == {"retried": 2, "waited": False, "failures": [], "put_off": {}}
    assert run("status", "--json").json["memories"] == {}


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_unknown_failure_is_named_and_none_is_touched(run: Run, failed: Path, verb: str) -> None:
    done = run("failures", verb, ids(run)[0], "nothing")
    assert (done.code, done.out) == (1, "")
    assert "'nothing'" in done.complaint
    assert len(ids(run)) == 2


@pytest.mark.parametrize("choice", ["one", "class", "all"])
def test_discard_forgets(run: Run, failed: Path, choice: str) -> None:
    words = {"one": ids(run)[:1], "class": ["--class", "content"], "all": ["--all"]}[choice]
    count = 1 if choice == "one" else 2
    done = run("failures", "discard", *words)
    assert (done.code, done.out) == (0, f"discarded: {count} failure{'s' * (count > 1)}\n")
    assert len(ids(run)) == 2 - count
    assert run("status", "--json").json["turns"] == 2


def test_status_counts_failures_by_class(run: Run, failed: Path) -> None:
    assert run("status", "--json").json["failures"] == {"content": 2}
    assert "2 content" in run("status").out


def test_failures_of_before_do_not_concern_promote(run: Run, failed: Path) -> None:
    done = run("promote", "--json")
    assert (done.code, done.json["failures"]) == (0, [])
