"""Ingest records a file once, distils it, and says what became of it."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.cli.chat_file import Defaults, open_chat
from memoranda.cli.ingest import IngestReport, distil, now, record, validate
from memoranda.engine.extraction.errors import ExtractionTransientError, ExtractionUnusableError
from memoranda.engine.extraction.items import Extraction, SourceTurn
from tests.cli.conftest import ADA, Chat, Run, turn


def test_report_says_what_was_recorded_and_learned(chat: Chat, run: Run) -> None:
    done = run("ingest", str(chat(*ADA, name="ada.jsonl")), "--user", "ada")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].endswith("ada.jsonl: 4 turns in 1 session of 1 user")
    assert lines[1] == "recorded in memory.db: 4"
    assert lines[2] == "learned: 4 semantic; 1 superseded"
    assert lines[3] == "failed: nothing"


def test_json_report_has_every_field(chat: Chat, run: Run) -> None:
    report = run("ingest", str(chat(*ADA)), "--user", "ada", "--json").json
    assert report == {
        "turns": 4,
        "recorded": 4,
        "repeated": 0,
        "left_out": 0,
        "users": 1,
        "sessions": 1,
        "learned": {"semantic": 4},
        "superseded": 1,
        "failures": [],
        "put_off": {},
        "waited": True,
    }


def test_same_file_again_adds_nothing_and_says_so(chat: Chat, run: Run) -> None:
    path = str(chat(*ADA))
    run("ingest", path, "--user", "ada")
    again = run("ingest", path, "--user", "ada")
    assert again.code == 0
    assert again.out.splitlines()[1:3] == ["recorded in memory.db: 0, 4 were there already", "learned: nothing new"]
    assert run("status", "--json").json["turns"] == 4


def test_file_that_has_grown_adds_what_is_new(chat: Chat, run: Run) -> None:
    run("ingest", str(chat(*ADA[:2])), "--no-wait")
    report = run("ingest", str(chat(turn("ok"), *ADA, turn("ok"))), "--no-wait", "--json").json
    assert (report["recorded"], report["repeated"]) == (4, 2)


def test_alike_lines_are_as_many_turns(chat: Chat, run: Run) -> None:
    path = str(chat(turn("ok"), turn("ok"), turn("ok")))
    first = run("ingest", path, "--no-wait", "--json", "--batch", "2").json
    second = run("ingest", path, "--no-wait", "--json").json
    assert (first["recorded"], second["repeated"], run("status", "--json").json["turns"]) == (3, 3, 3)


def test_turns_keep_order_identity_time_and_metadata(chat: Chat, run: Run) -> None:
    path = chat(
        turn("one", session_id="s", user_id="u", timestamp="2026-03-01T09:30:00+01:00", metadata={"speaker": "Cleo"}),
        turn("two", "assistant", session_id="s"),
        turn("three", session_id="s"),
    )
    run("ingest", str(path), "--user", "u", "--agent", "a", "--batch", "1", "--no-wait")
    with Memory.open("memory.db", worker=False, embedder=None) as memory:
        turns = memory.list_turns("s", user_id="u").items
    assert [(each.turn_seq, each.role, each.content, each.agent_id) for each in turns] == [
        (1, "user", "one", "a"),
        (2, "assistant", "two", "a"),
        (3, "user", "three", "a"),
    ]
    assert turns[0].metadata == {"speaker": "Cleo"}
    assert turns[0].event_time.isoformat() == "2026-03-01T08:30:00+00:00"


def test_users_and_sessions_of_the_file_are_counted(chat: Chat, run: Run) -> None:
    path = chat(
        turn("a", user_id="u1", session_id="s"), turn("b", user_id="u2", session_id="s"), turn("c", user_id="u2")
    )
    report = run("ingest", str(path), "--json").json
    assert (report["users"], report["sessions"], report["turns"]) == (2, 3, 3)


def test_file_without_any_identity_is_recorded(chat: Chat, run: Run) -> None:
    report = run("ingest", str(chat(*ADA)), "--json").json
    assert (report["users"], report["recorded"], report["learned"]) == (0, 4, {"semantic": 4})


def test_stdin_is_read_whole_before_it_is_recorded(tmp_path: Path, run: Run) -> None:
    lines = "".join(json.dumps(line) + "\n" for line in ADA)
    refused = run("ingest", "-", stdin=lines + "{")
    assert (refused.code, refused.complaint[:13]) == (2, "stdin, line 5")
    assert not (tmp_path / "memory.db").exists()
    assert run("ingest", "-", "--json", "--no-wait", stdin=lines).json["recorded"] == 4


def test_unknown_fields_can_be_left_out_with_one_warning(chat: Chat, run: Run) -> None:
    path = chat(turn(id=1, name="x"), turn("more", id=2))
    done = run("ingest", str(path), "--ignore-unknown", "--no-wait", "--json")
    assert (done.code, done.complaint) == (0, f"{path}: left out unknown fields: id, name")
    assert done.json["recorded"] == 2


def test_no_wait_leaves_the_work_to_promote(chat: Chat, run: Run) -> None:
    done = run("ingest", str(chat(*ADA)), "--user", "ada", "--no-wait")
    assert done.code == 0
    assert "left to the next process" in done.out
    assert run("status", "--json").json["memories"] == {}
    assert run("promote").code == 0
    assert run("status", "--json").json["memories"] == {"semantic": 3}


def test_time_that_is_not_enough_is_told_by_the_exit_code_and_loses_nothing(chat: Chat, run: Run) -> None:
    late = run("ingest", str(chat(*ADA)), "--user", "ada", "--timeout", "0")
    assert late.code == 3
    assert late.complaint.startswith("after 0 s, ")
    assert run("promote").code == 0
    assert run("status", "--json").json["memories"] == {"semantic": 3}


def test_other_sessions_of_the_store_are_not_promoted(chat: Chat, run: Run) -> None:
    with Memory.open("memory.db", worker=False) as memory:
        memory.record_turn(role="user", content="I live in Rome.", session_id="other")
    run("ingest", str(chat(*ADA)), "--user", "ada")
    with Memory.open("memory.db", worker=False, embedder=None) as memory:
        assert [each.promoted for each in memory.list_turns("other").items] == [False]
        assert all(each.promoted for each in memory.list_turns("chat", user_id="ada").items)


def test_configuration_that_is_wrong_is_one_line_and_makes_no_store(chat: Chat, run: Run, tmp_path: Path) -> None:
    config = tmp_path / "project-config.yaml"
    config.write_text("memory:\n  no_such_key: 1\n", encoding="utf-8")
    done = run("ingest", str(chat(*ADA)), "--config", str(config))
    assert done.code == 2
    assert "no_such_key" in done.complaint
    assert "line 2" in done.complaint
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("batch", ["0", "-1", "many", "10001"])
def test_batch_is_a_number_of_turns(chat: Chat, run: Run, batch: str) -> None:
    done = run("ingest", str(chat(*ADA)), "--batch", batch)
    assert done.code == 2
    assert "--batch" in done.complaint


class Failing:
    """Stands in for the built-in extractor, and fails as it is told."""

    name = "local"
    version = "1"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        raise self._error


def ingested(path: Path, error: Exception) -> IngestReport:
    with (
        Memory.open("memory.db", llm=Failing(error), embedder=None) as memory,
        open_chat(str(path), io.BytesIO(), Defaults(user_id="ada")) as file,
    ):
        since, extent = now(), validate(file)
        report = record(memory, file, extent, 10)
        distil(memory, extent, report, since=since, timeout=None)
    return report


def test_what_failed_for_good_is_reported_with_its_reason(chat: Chat) -> None:
    report = ingested(chat(*ADA), ExtractionUnusableError("no JSON in the reply"))
    assert [(each.failure_class, each.session_id) for each in report.failures] == [("content", "chat")]
    assert "no JSON in the reply" in report.failures[0].reason
    assert (report.recorded, report.learned, report.put_off) == (4, {}, {})


def test_what_failed_for_now_is_told_apart_from_nothing_to_learn(chat: Chat) -> None:
    report = ingested(chat(*ADA), ExtractionTransientError("nobody answers"))
    assert (report.recorded, report.learned, report.failures, report.put_off) == (4, {}, [], {"extract": 1})
