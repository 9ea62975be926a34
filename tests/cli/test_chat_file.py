"""A chat file that is wrong is refused as a whole, in one line that names the line and the field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoranda.cli.chat_file import FIELDS, MAX_LINE, Defaults, open_chat
from memoranda.sdk.models import TurnInput
from tests.cli.conftest import Chat, Run, turn

GOOD = json.dumps(turn())


def read(path: Path, defaults: Defaults | None = None) -> list[TurnInput]:
    with path.open("rb") as stdin, open_chat(str(path), stdin, defaults or Defaults()) as chat_file:
        return list(chat_file.turns())


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"role": "user"', "line 2: not JSON (Expecting ',' delimiter at column 16)"),
        ('"hello"', "line 2: a turn is a JSON object with role and content, got text"),
        ("null", "line 2: a turn is a JSON object with role and content, got null"),
        ('{"role": "user"}', "line 2: content is missing"),
        ('{"content": "x"}', "line 2: role is missing"),
        ('{"role": "user", "content": null}', "line 2: content is missing"),
        ('{"role": " ", "content": "x"}', "line 2: role: is blank"),
        ('{"role": "user", "content": 7}', "line 2: content: must be text, got a number"),
        ('{"role": "user", "content": ["x"]}', "line 2: content: must be text, got a list"),
        ('{"role": "user", "content": "x", "user_id": 7}', "line 2: user_id: must be text, got a number"),
        ('{"role": "user", "content": "x", "user_id": "\\ud800"}', "line 2: user_id: has half of a character"),
        ('{"role": "user", "content": "x", "timestamp": 7}', "line 2: timestamp: must be text, got a number"),
        ('{"role": "user", "content": "x", "timestamp": "soon"}', "line 2: timestamp: timestamp is not a time: 'soon'"),
        ('{"role": "user", "content": "x", "metadata": []}', "line 2: metadata: must be an object, got a list"),
        ('{"role": "user", "content": "x", "metadata": {"a": NaN}}', "line 2: not JSON that can be kept (NaN"),
        ('{"role": "user", "content": "x", "timestmp": "y"}', "line 2: unknown field 'timestmp'; the fields are role"),
        ("[" * 200_000, "line 2: not JSON"),
        ('{"role": "user", "content": ' + "9" * 5000 + "}", "line 2: not JSON that can be kept (Exceeds the limit"),
    ],
)
def test_bad_line_is_named_and_nothing_is_recorded(tmp_path: Path, run: Run, line: str, complaint: str) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(f"{GOOD}\n{line}\n{GOOD}\n", encoding="utf-8")
    done = run("ingest", str(path))
    assert done.code == 2
    assert done.complaint.startswith(f"{path}, {complaint}")
    assert done.out == ""
    assert not (tmp_path / "memory.db").exists()


def test_bytes_that_are_not_utf8_are_named_with_their_place(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(GOOD.encode() + b'\n{"role": "user", "content": "caf\xe9"}\n')
    done = run("ingest", str(path))
    assert (done.code, done.complaint) == (2, f"{path}, line 2: not UTF-8 (byte 0xe9 at 33); save the file as UTF-8")


def test_line_beyond_the_limit_is_refused_unread(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b'{"role": "user", "content": "' + b"x" * MAX_LINE + b'"}\n')
    done = run("ingest", str(path))
    assert (done.code, done.complaint) == (2, f"{path}, line 1: longer than 16 MiB; a line holds one turn")


def test_long_line_within_the_limit_is_read(chat: Chat) -> None:
    assert len(read(chat(turn("x" * 1_000_000)))[0].content or "") == 1_000_000


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[{]", "not JSON (Expecting property name enclosed in double quotes at line 1, column 3)"),
        ('[{"role": "user", "content": "x"}, 5]', "item 2: a turn is a JSON object"),
        ('[{"role": "user", "content": "x"}, {"role": "user"}]', "item 2: content is missing"),
    ],
)
def test_bad_item_of_a_list_is_named(tmp_path: Path, run: Run, content: str, complaint: str) -> None:
    path = tmp_path / "chat.json"
    path.write_text(content, encoding="utf-8")
    done = run("ingest", str(path))
    assert done.code == 2
    assert complaint in done.complaint


def test_file_that_is_not_there_is_named(run: Run) -> None:
    done = run("ingest", "nowhere.jsonl")
    assert (done.code, done.complaint) == (2, "nowhere.jsonl: cannot be read (No such file or directory)")


def test_folder_is_not_a_file(tmp_path: Path, run: Run) -> None:
    done = run("ingest", str(tmp_path))
    assert (done.code, done.complaint) == (2, f"{tmp_path}: cannot be read (Is a directory)")


@pytest.mark.parametrize("content", ["", "\n\n  \n", "[]", "\ufeff"])
def test_file_without_turns_is_no_error_and_makes_no_store(tmp_path: Path, run: Run, content: str) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(content, encoding="utf-8")
    done = run("ingest", str(path))
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{path} holds no turns; nothing was recorded\n"
    assert not (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_mark_line_ends_and_blank_lines_do_not_matter(tmp_path: Path, mark: str, ending: str) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [json.dumps(turn("Grüße"), ensure_ascii=False) for _ in range(2)]
    path.write_bytes((mark + ending.join([lines[0], "", "  ", lines[1]])).encode())
    assert [each.content for each in read(path)] == ["Grüße", "Grüße"]


def test_list_and_lines_say_the_same(tmp_path: Path, chat: Chat) -> None:
    turns = [turn("one", session_id="s"), turn("two", "assistant", session_id="s")]
    path = tmp_path / "chat.json"
    path.write_text("\ufeff  " + json.dumps(turns, indent=2), encoding="utf-8")
    assert read(path) == read(chat(*turns))


def test_all_fields_arrive_as_written(chat: Chat) -> None:
    written = turn(
        session_id="s", user_id="u", agent_id="a", timestamp="2026-03-01T09:30:00+01:00", metadata={"speaker": "Cleo"}
    )
    assert set(written) == set(FIELDS)
    [got] = read(chat(written))
    dumped = got.model_dump(mode="json", include=set(FIELDS))
    assert dumped == {**written, "timestamp": "2026-03-01T08:30:00Z"}


def test_defaults_are_for_lines_that_name_none(chat: Chat) -> None:
    path = chat(turn(), turn(user_id="own", session_id=" ", agent_id=None))
    first, second = read(path, Defaults(user_id="u", session_id="s", agent_id="a"))
    assert (first.user_id, first.session_id, first.agent_id) == ("u", "s", "a")
    assert (second.user_id, second.session_id, second.agent_id) == ("own", "s", "a")


def test_session_is_the_file_name_when_nothing_names_one(chat: Chat) -> None:
    [got] = read(chat(turn(), name="standup.jsonl"))
    assert (got.session_id, got.user_id) == ("standup", None)
