"""Search, context, history and status print what the store holds, start nothing and make nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from memoranda import ContextResponse, FormatStyle, MemorySource, RetrievalMode
from memoranda.cli.options import SOURCES, Format, Mode
from tests.cli.conftest import Chat, Run, turn

READERS = (
    ("search", "walnuts"),
    ("context", "walnuts"),
    ("history", "x"),
    ("status",),
    ("changes",),
    ("promote",),
    ("failures", "list"),
    ("failures", "show", "x"),
    ("failures", "retry", "x"),
    ("failures", "discard", "x"),
)


def test_choices_are_those_of_the_sdk() -> None:
    assert sorted(SOURCES) == sorted(source.value for source in MemorySource)
    assert sorted(get_args(Mode)) == sorted(mode.value for mode in RetrievalMode)
    assert sorted(get_args(Format)) == sorted(style.value for style in FormatStyle)


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_missing_store_is_named_with_the_remedy_and_not_made(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(*words, "--store", "nowhere.db")
    assert done.code == 2
    assert done.complaint.startswith(
        "there is no store at 'nowhere.db'; name one with --store PATH_OR_URL or MEMORANDA_"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("store", ["sqlite:///nowhere.db", "SQLITE:///now%68ere.db"])
def test_missing_store_in_a_url_is_not_made(run: Run, tmp_path: Path, store: str) -> None:
    assert (run("status", "--store", store).code, list(tmp_path.iterdir())) == (2, [])


@pytest.mark.parametrize(
    ("store", "reason"),
    [
        ("mysql://host/db", "cannot be opened by this version"),
        ("empty.db", "is an empty file, not a store"),
        ("text.db", "file is not a database"),
        ("folder", "cannot be opened"),
        (" ", "--store is blank"),
    ],
)
def test_store_of_another_kind_is_one_line(run: Run, tmp_path: Path, store: str, reason: str) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("just text, " * 200, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    done = run("status", "--store", store)
    assert done.code == 2
    assert reason in done.complaint


def test_search_finds_turns_and_memories_of_the_user(run: Run, ada_store: Path) -> None:
    done = run("search", "walnuts", "--user", "ada", "--store", str(ada_store), "--json")
    results = done.json["results"]
    assert isinstance(results, list)
    assert {each["source"] for each in results} >= {"stm", "semantic"}
    assert "walnuts" in results[0]["content"]
    assert set(done.json) == {"results", "source_outcomes"}
    assert run("search", "walnuts", "--user", "bob", "--store", str(ada_store), "--json").json["results"] == []


def test_search_says_where_each_result_stands(run: Run, ada_store: Path) -> None:
    done = run("search", "walnuts", "--user", "ada", "--store", str(ada_store), "--top-k", "3")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"stm +ada turn 3, 2026-01-05 +I am allergic to walnuts\.", done.out)
    assert done.out.startswith("3 found")


def test_search_that_finds_nothing_is_no_error(run: Run, ada_store: Path) -> None:
    done = run("search", "walnuts", "--user", "bob", "--store", str(ada_store))
    assert (done.code, done.out, done.err) == (0, "nothing found for 'walnuts'\n", "")


@pytest.mark.parametrize("mode", ["text", "semantic", "hybrid"])
def test_search_in_one_mode(run: Run, ada_store: Path, mode: str) -> None:
    words = ("search", "walnuts", "--user", "ada", "--store", str(ada_store), "--json", "--mode", mode)
    report = run(*words, "--session", "ada", "--sources", "stm,semantic").json
    outcomes = report["source_outcomes"]
    assert isinstance(outcomes, list)
    assert {each["requested_mode"] for each in outcomes} == {mode}
    assert report["results"]


def test_superseded_memories_are_found_on_request(run: Run, ada_store: Path) -> None:
    words = (
        "search",
        "Where does Ada live?",
        "--user",
        "ada",
        "--store",
        str(ada_store),
        "--sources",
        "semantic",
        "--json",
    )
    now, ever = run(*words).json["results"], run(*words, "--superseded").json["results"]
    assert isinstance(now, list)
    assert isinstance(ever, list)
    assert not any("Graz" in each["content"] for each in now)
    assert any("Graz" in each["content"] for each in ever)


def test_context_is_printed_as_a_prompt_gets_it(run: Run, ada_store: Path) -> None:
    words = ("context", "What is she allergic to?", "--user", "ada", "--store", str(ada_store), "--format")
    xml, markdown = run(*words, "claude"), run(*words, "jinja2")
    assert (xml.code, xml.err) == (0, "")
    assert "walnuts" in xml.out
    assert xml.out.startswith("<")
    assert "## " in markdown.out
    assert "walnuts" in run(*words, "openai").out


def test_context_as_json_is_a_context_response(run: Run, ada_store: Path) -> None:
    done = run("context", "walnuts", "--user", "ada", "--store", str(ada_store), "--json", "--max-tokens", "700")
    response = ContextResponse.model_validate(done.json)
    assert set(done.json) == {"formatted_context", "metadata", "selected_memories"}
    assert response.selected_memories
    assert 0 < response.metadata.token_count <= 200


def test_context_reads_the_sources_that_are_named(run: Run, ada_store: Path) -> None:
    words = ("context", "Ada", "--user", "ada", "--store", str(ada_store), "--json", "--sources")
    for source in ("stm", "semantic"):
        chunks = ContextResponse.model_validate(run(*words, f" {source.upper()} ,").json).selected_memories or []
        assert {chunk.source for chunk in chunks} == {source}


def test_context_takes_so_many_of_each_source(run: Run, ada_store: Path) -> None:
    words = ("context", "Ada", "--user", "ada", "--store", str(ada_store), "--json", "--top-k", "1")
    chunks = ContextResponse.model_validate(run(*words, "--session", "ada").json).selected_memories or []
    assert sorted(chunk.source for chunk in chunks) == ["semantic", "stm"]


@pytest.mark.parametrize("option", [("--mode", "text"), ("--top-k", "3")])
def test_mode_and_size_hold_for_the_turns_of_all_sessions(run: Run, ada_store: Path, option: tuple[str, str]) -> None:
    done = run("context", "walnuts", "--store", str(ada_store), "--json", "--sources", "stm", *option)
    chunks = ContextResponse.model_validate(done.json).selected_memories or []
    assert 0 < len(chunks) <= 3 or option[0] == "--mode"
    assert any("walnuts" in chunk.content for chunk in chunks)


@pytest.mark.parametrize(
    "words",
    [
        ("search", "x", "--sources", "stm,dreams"),
        ("search", "x", "--sources", " , "),
        ("search", "x", "--mode", "magic"),
        ("search", "x", "--top-k", "0"),
        ("search", " "),
        ("search",),
        ("search", "x", "y"),
        ("search", "x", "--colour", "red"),
        ("context", "x", "--max-tokens", "500"),
        ("context", "x", "--format", "pdf"),
        ("history", ""),
        ("failures", "list", "--limit", "1001"),
        ("failures", "discard"),
        ("failures", "discard", "x", "--all"),
        ("failures", "retry", "--class", "x", "--all"),
        ("failures",),
        ("serch", "x"),
        ("promote", "--timeout", "-1"),
        ("promote", "--timeout", "soon"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(run: Run, ada_store: Path, words: tuple[str, ...]) -> None:
    done = run("--store", str(ada_store), *words)
    assert (done.code, done.out) == (2, "")
    assert done.complaint


def test_status_as_json_has_the_fields_of_the_report(run: Run, ada_store: Path) -> None:
    status = run("status", "--store", str(ada_store), "--json").json
    assert (status["turns"], status["sessions"], status["memories"]) == (4, 1, {"semantic": 3})
    assert {"jobs", "queue", "failures", "lag_seconds", "embedder", "schema_version"} <= set(status)


def test_status_for_a_person(run: Run, ada_store: Path) -> None:
    done = run("status", "--store", str(ada_store))
    assert (done.code, done.err) == (0, "")
    assert "4 in 1 session" in done.out
    assert "3 semantic" in done.out


def test_history_shows_what_was_and_what_is(run: Run, ada_store: Path) -> None:
    words = (
        "search",
        "Where does Ada live?",
        "--user",
        "ada",
        "--store",
        str(ada_store),
        "--sources",
        "semantic",
        "--json",
    )
    found = run(*words).json["results"]
    assert isinstance(found, list)
    home = next(each["id"] for each in found if "Vienna" in each["content"])
    states = run("history", home, "--store", str(ada_store), "--json").json["states"]
    assert isinstance(states, list)
    assert [("Graz" in each["content"], each["valid_to"] is None) for each in states] == [(True, False), (False, True)]
    shown = run("history", home, "--store", str(ada_store))
    assert re.search(r"superseded +2026-01-05 to 2026-03-05 +.*Graz", shown.out)
    assert re.search(r"current +2026-03-05 to now +.*Vienna", shown.out)


def test_history_of_nothing_fails(run: Run, ada_store: Path) -> None:
    done = run("history", "nothing", "--store", str(ada_store))
    assert (done.code, done.complaint) == (1, "there is no memory 'nothing'; search prints ids with --json")


@pytest.mark.parametrize("place", ["before", "after", "environment", "default", "both"])
def test_store_is_named_before_or_after_the_verb_or_by_the_environment(
    run: Run, chat: Chat, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    named = "memory.db" if place == "default" else "named.db"
    run("ingest", str(chat(turn())), "--no-wait", "--store", named)
    if place == "environment":
        monkeypatch.setenv("MEMORANDA_STORE", named)
    words = {
        "before": ("--store", named, "failures", "list"),
        "after": ("failures", "list", "--store", named),
        "both": ("--store", "other.db", "failures", "--store", named, "list"),
    }.get(place, ("failures", "list"))
    done = run(*words)
    assert (done.code, done.out) == (0, "no failures\n")


def test_named_store_counts_before_the_environment(run: Run, ada_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_STORE", "nowhere.db")
    assert run("status", "--store", str(ada_store)).code == 0
    assert run("status").code == 2


def test_stored_text_is_text(run: Run, chat: Chat) -> None:
    nasty = "[bold red]x[/] {{ y }} \x1b[31mred\x1b[0m <b> :smile:"
    run("ingest", str(chat(turn(nasty))), "--no-wait")
    done = run("search", "red", "--sources", "stm")
    assert "[bold red]x[/] {{ y }} �[31mred�[0m <b> :smile:" in " ".join(done.out.split())
