"""What the tests of the command line share: running it, and files to run it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memoranda.cli.app import app


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def complaint(self) -> str:
        """The one line on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("memoranda: ")
        return lines[0].removeprefix("memoranda: ")


Run = Callable[..., Done]
Chat = Callable[..., Path]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run() -> Run:
    """Run a command in this process and return how it ended."""

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Done:
        result = CliRunner().invoke(app, list(arguments), input=stdin, prog_name="memoranda")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    """Write a chat file as JSON Lines and return its path."""

    def write(*turns: dict[str, object], name: str = "chat.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns), encoding="utf-8")
        return path

    return write


def turn(content: str = "Hello there.", role: str = "user", **fields: object) -> dict[str, object]:
    """One line of a chat file."""
    return {"role": role, "content": content, **fields}


ADA: Sequence[dict[str, object]] = (
    turn("My name is Ada Kern. I live in Graz.", timestamp="2026-01-05T10:00:00+00:00"),
    turn("Nice to meet you, Ada.", "assistant", timestamp="2026-01-05T10:00:10+00:00"),
    turn("I am allergic to walnuts.", timestamp="2026-01-05T10:01:00+00:00"),
    turn("I live in Vienna now.", timestamp="2026-03-05T10:00:00+00:00"),
)


@pytest.fixture(scope="session")
def ada_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one distilled conversation; tests only read it."""
    folder = tmp_path_factory.mktemp("ada")
    path = folder / "ada.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in ADA), encoding="utf-8")
    store = folder / "memory.db"
    result = CliRunner().invoke(app, ["ingest", str(path), "--user", "ada", "--store", str(store)])
    assert result.exit_code == 0, result.stderr
    return store
