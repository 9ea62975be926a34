"""`config check` says what is wrong with a configuration and where, and what a store would not let it change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Chat, Run, turn

GOOD = """\
memory:
  metadata_partition_key:
    - {name: topic, type: string}
"""


def write(text: str, name: str = "project-config.yaml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_a_good_file_can_be_used(run: Run) -> None:
    done = run("config", "check", write(GOOD))
    assert (done.code, done.out, done.err) == (0, "project-config.yaml can be used\n", "")
    assert run("config", "check", write(GOOD), "--json").json == {"ok": True, "errors": [], "warnings": []}


@pytest.mark.parametrize("head", ["memory:\n  ", ""])
def test_warnings_have_their_line(run: Run, head: str) -> None:
    line = head.count("\n") + 1
    done = run("config", "check", write(f"{head}capacity: {{min_replicas: 1}}\n"))
    assert done.code == 0
    assert done.out.startswith(f"project-config.yaml, line {line}: warning: memory.capacity has no effect here")


def test_every_error_has_its_line_and_the_exit_code_is_2(run: Run) -> None:
    file = write("memory:\n  log_levle: info\n  analyser:\n    language: klingon\n")
    done = run("config", "check", file)
    assert (done.code, done.complaint) == (2, "project-config.yaml cannot be used: 2 errors")
    first, second = done.out.splitlines()
    assert first.startswith("project-config.yaml, line 2: error: unknown key 'log_levle'")
    assert second.startswith("project-config.yaml, line 4: error: memory.analyser.language is 'klingon'")
    report = run("config", "check", file, "--json").json
    assert isinstance(report["errors"], list)
    assert (report["ok"], [each["line"] for each in report["errors"]]) == (False, [2, 4])


def test_a_file_that_cannot_be_read_is_an_error(run: Run) -> None:
    done = run("config", "check", "missing.yaml")
    assert (done.code, done.out) == (2, "missing.yaml: error: cannot be read: No such file or directory\n")


@pytest.fixture
def store(run: Run, chat: Chat) -> str:
    file = chat(turn(), name="chat.jsonl")
    assert run("ingest", str(file), "--no-wait", "--config", write(GOOD, "stored.yaml")).code == 0
    return "memory.db"


def test_a_store_is_asked_only_when_it_is_named(run: Run, store: str) -> None:
    file = write(
        "memory:\n  analyser: {language: german}\n  metadata_partition_key:\n    - {name: topic, type: number}\n"
    )
    assert run("config", "check", file).code == 0
    for words in (("config", "check", file, "--store", store), ("--store", store, "config", "check", file)):
        done = run(*words)
        assert done.code == 2
        assert (
            "line 3: error: memory.metadata_partition_key: 'topic' cannot change from 'string' to 'number'" in done.out
        )
        assert "line 2: error: memory.analyser.language: 'german' is not what the project was indexed with" in done.out


def test_what_may_be_added_is_no_error(run: Run, store: str) -> None:
    file = write(GOOD + "    - {name: room, type: string}\n")
    assert run("config", "check", file, "--store", store).code == 0
    assert run("config", "check", file, "--store", "missing.db").code == 2
