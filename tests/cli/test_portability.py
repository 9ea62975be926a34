"""`export` and `import` move a store as a file; `--merge` resumes and adds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Chat, Run, turn


def test_a_store_moves_through_a_file(run: Run, ada_store: Path, tmp_path: Path) -> None:
    done = run("export", "backup.jsonl", "--vectors", "--store", str(ada_store))
    assert (done.code, done.err) == (0, "")
    assert done.out == "exported to backup.jsonl: 1 link, 4 memories, 1 session, 1 snapshot, 4 turns\n"
    done = run("import", "backup.jsonl", "--store", "new.db")
    assert (done.code, done.err) == (0, "")
    assert "imported into new.db: 1 link, 4 memories, 1 session, 1 snapshot, 4 turns" in done.out
    run("export", "again.jsonl", "--vectors", "--store", "new.db")
    assert Path("again.jsonl").read_bytes() == Path("backup.jsonl").read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir() if "db" not in each.name) == ["again.jsonl", "backup.jsonl"]
    question = ("search", "Where does Ada live?", "--json", "--store")
    assert run(*question, "new.db").json == run(*question, str(ada_store)).json


def test_an_export_goes_through_pipes(run: Run, ada_store: Path) -> None:
    text = run("export", "--store", str(ada_store)).out
    assert all(json.loads(line)["type"] for line in text.splitlines())
    report = run("import", "-", "--store", "new.db", "--json", stdin=text).json
    assert report["counts"] == {"link": 1, "memory": 4, "session": 1, "snapshot": 1, "turn": 4}
    assert (report["added"], report["conflicts"], report["awaiting"]) == (report["counts"], {}, 8)
    assert run("promote", "--store", "new.db").code == 0
    assert run("export", "--store", "new.db").out == text


def test_the_report_of_an_export_as_json(run: Run, ada_store: Path) -> None:
    report = run("export", "backup.jsonl", "--json", "--store", str(ada_store)).json
    assert (report["file"], report["vectors"]) == ("backup.jsonl", False)
    done = run("export", "--json", "--store", str(ada_store))
    assert (done.code, done.complaint) == (
        2,
        "--json prints the report on stdout, where the export goes: name a FILE",
    )


def test_an_import_into_a_store_that_is_not_empty_names_merge(run: Run, ada_store: Path, chat: Chat) -> None:
    run("export", "backup.jsonl", "--store", str(ada_store))
    run("import", "backup.jsonl")
    done = run("import", "backup.jsonl")
    assert done.code == 2
    assert "--merge" in done.complaint
    done = run("import", "backup.jsonl", "--merge")
    assert (done.code, done.err) == (0, "")
    assert "imported into memory.db: nothing; there already: 1 link, 4 memories" in done.out


def test_what_cannot_be_merged_is_told_of(run: Run, chat: Chat) -> None:
    for name in ("one", "two"):
        run("ingest", str(chat(turn(f"I am {name}."))), "--no-wait", "--store", f"{name}.db")
    run("export", "two.jsonl", "--store", "two.db")
    done = run("import", "two.jsonl", "--merge", "--store", "one.db")
    assert done.code == 3
    assert "not imported, because the store has others in their place: 1 snapshot, 1 turn" in done.out
    assert "memoranda: two.jsonl, line 2: session 'chat' has another turn 1" in done.err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "bad.jsonl, line 1: not the header of an export; give a file that memoranda export wrote"),
        ('{"role": "user"}\n', "bad.jsonl, line 1: type is None;"),
        ("\udce9\n", "bad.jsonl, line 1: not UTF-8 (byte 0xe9 at 1)"),
    ],
)
def test_another_file_is_refused_and_makes_no_store(run: Run, content: str, complaint: str) -> None:
    Path("bad.jsonl").write_text(content, encoding="utf-8", errors="surrogateescape")
    done = run("import", "bad.jsonl")
    assert done.code == 2
    assert done.complaint.startswith(complaint)
    assert not Path("memory.db").exists()


def test_files_that_cannot_be_opened_are_wrong_usage(run: Run, ada_store: Path) -> None:
    assert run("import", "missing.jsonl").complaint == "missing.jsonl: cannot be read (No such file or directory)"
    done = run("export", "no/such/folder.jsonl", "--store", str(ada_store))
    assert (done.code, done.complaint) == (2, "no/such/folder.jsonl: cannot be written (No such file or directory)")
    assert run("export", "--store", "missing.db").code == 2
    assert not Path("missing.db").exists()


def test_an_export_that_fails_leaves_the_file_before(run: Run, ada_store: Path, tmp_path: Path) -> None:
    Path("backup.jsonl").write_text("before", encoding="utf-8")
    Path("memory.db").write_bytes(b"no database at all" * 100)
    assert run("export", "backup.jsonl").code != 0
    assert Path("backup.jsonl").read_text(encoding="utf-8") == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["backup.jsonl", "memory.db"]


def test_a_configuration_in_place_of_the_files(run: Run, ada_store: Path) -> None:
    run("export", "backup.jsonl", "--store", str(ada_store))
    Path("config.yaml").write_text("analyser: {language: german}\n", encoding="utf-8")
    assert run("import", "backup.jsonl", "--config", "config.yaml", "--store", "german.db").code == 0
    assert "german" in str(run("status", "--json", "--store", "german.db").json["analyser"])
