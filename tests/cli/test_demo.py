"""The demonstration shows what it claims, and notices when a claim does not hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.cli.demo.findings import QUIZZES, Findings, checked, leaks, look
from memoranda.cli.demo.script import conversation
from memoranda.cli.ingest import Extent, IngestReport, distil, now, record, validate
from memoranda.cli.reading import Question, ask
from tests.cli.conftest import Done, Run


@dataclass(frozen=True)
class Demo:
    """A store in which the conversation was distilled, and what was found in it."""

    path: Path
    extent: Extent
    report: IngestReport
    found: Findings


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    path = tmp_path_factory.mktemp("demo") / "memory.db"
    with conversation() as chat, Memory.open(path) as memory:
        since, extent = now(), validate(chat)
        report = record(memory, chat, extent, 50)
        distil(memory, extent, report, since=since, timeout=None)
        return Demo(path, extent, report, look(memory, report, extent, 0.0))


def broken(found: Findings) -> list[str]:
    return [check.claim for check in found.checks if not check.holds]


def test_demo_ends_well_and_shows_its_parts(run: Run) -> None:
    done: Done = run("demo", "--store", "demo.db")
    assert (done.code, done.err) == (0, "")
    for heading in (
        "Recorded",
        "What was learned",
        "What changed",
        "Question 1",
        "Question 3",
        "private",
        "Checked in",
    ):
        assert heading in done.out
    assert "FAIL" not in done.out
    again = run("demo", "--store", "demo.db", "--json")
    assert again.code == 0
    assert (again.json["ok"], again.json["recorded"], again.json["repeated"]) == (True, 0, again.json["turns"])


def test_every_claim_holds_on_the_conversation(demo: Demo) -> None:
    assert len(demo.found.checks) == 8
    assert broken(demo.found) == []


def test_conversation_is_what_it_is_meant_to_be() -> None:
    with conversation() as chat:
        turns = list(chat.turns())
    assert len({(turn.user_id, turn.session_id) for turn in turns}) == 6
    assert len(turns) > 100
    assert {turn.role for turn in turns} == {"user", "assistant"}
    assert all(turn.timestamp is not None and turn.timestamp.year == 2026 for turn in turns)
    # Two users share a session id: that is the point of one of the claims.
    assert {turn.user_id for turn in turns if turn.session_id == "2026-02-16"} == {"nora", "jonas"}


def test_leak_and_lost_answer_are_noticed(demo: Demo, tmp_path: Path) -> None:
    copy = tmp_path / "leaky.db"
    copy.write_bytes(demo.path.read_bytes())
    quiz = QUIZZES[-1]
    with Memory.open(copy, worker=False) as memory:
        for turn in memory.list_turns(user_id=quiz.user_id, limit=1000).items:
            memory.delete_turn(turn.id)
        memory.save_semantic(text=f"{quiz.text} Jonas: {quiz.expected[0]}.", label="gossip", user_id="nora")
        claims = broken(look(memory, demo.report, demo.extent, 0.0))
    assert "every turn of the conversation can be read back" in claims
    assert "every question's context holds its answer" in claims
    assert "nothing of one user reaches the other" in claims
    assert "no background work failed" not in claims


def test_failure_is_noticed(demo: Demo) -> None:
    found = replace(demo.found, report=replace(demo.report, put_off={"extract": 1}))
    assert broken(checked(found, demo.report.turns)) == ["no background work failed"]


def test_chunk_of_another_user_is_a_leak(demo: Demo) -> None:
    with Memory.open(demo.path, worker=False) as memory:
        response = ask(memory, Question(query="Haselnüsse", sources=("semantic",), user_id="jonas"))
    assert [leak.owner for leak in leaks("jonas", response)] == []
    assert {leak.owner for leak in leaks("nora", response)} == {"jonas"}
