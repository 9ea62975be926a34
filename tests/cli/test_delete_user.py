"""`delete-user` deletes everything of one user, after asking, and says what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Chat, Run, turn


@pytest.fixture
def store(run: Run, chat: Chat) -> Path:
    for user in ("ada", "bob"):
        file = chat(turn("I live in Graz.", user_id=user), turn("I am a baker.", user_id=user))
        assert run("ingest", str(file)).code == 0
    return Path("memory.db")


def test_nothing_of_the_user_is_left_and_others_stay(run: Run, store: Path) -> None:
    done = run("delete-user", "ada", "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("deleted of 'ada': ")
    assert "turns: 2" in done.out
    text = run("export").out
    assert '"ada"' not in text
    assert run("status", "--json").json["turns"] == 2


def test_the_report_as_json(run: Run, store: Path) -> None:
    report = run("delete-user", "ada", "--yes", "--json").json
    assert (report["turns"], report["snapshots"]) == (2, 1)
    assert run("delete-user", "ada", "--yes").out == "there was nothing of 'ada'\n"


def test_without_a_terminal_yes_is_needed(run: Run, store: Path) -> None:
    done = run("delete-user", "ada", stdin="y\n")
    assert done.code == 2
    assert "--yes" in done.complaint
    assert run("status", "--json").json["turns"] == 4


def test_a_blank_user_and_a_missing_store_are_refused(run: Run, store: Path) -> None:
    assert (run("delete-user", " ", "--yes").code, run("delete-user", "a", "--yes", "--store", "no.db").code) == (2, 2)
    assert run("status", "--json").json["turns"] == 4
