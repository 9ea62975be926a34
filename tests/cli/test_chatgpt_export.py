"""`ingest` records the conversations of a ChatGPT export: what was said on the way to the current node."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory, TurnEntry
from tests.cli.conftest import Run

START = 1_767_603_600.25


def node(
    name: str, parent: str | None, *parts: object, role: str = "user", at: float | None = None, **more: Any
) -> dict[str, Any]:
    """One node of a tree; without a part it holds no message."""
    message = {
        "id": f"message-{name}",
        "author": {"role": role, "name": more.pop("author_name", None)},
        "create_time": at,
        "content": more.pop("content", {"content_type": "text", "parts": list(parts)}),
        "metadata": more.pop("metadata", {}),
    }
    return {"id": name, "parent": parent, "children": [], "message": message if parts or more or at else None}


def conversation(*nodes: dict[str, Any], current: str | None, name: str = "c1", **fields: Any) -> dict[str, Any]:
    tree = {each["id"]: each for each in nodes}
    for each in nodes:
        if each["parent"] in tree:
            tree[each["parent"]]["children"].append(each["id"])
    return {"title": "Trip", "create_time": START, "mapping": tree, "current_node": current, "id": name, **fields}


IMAGE = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
TRIP = conversation(
    node("root", None),
    node("system", "root", "Be brief.", role="system", at=START),
    node("hidden", "system", "Custom.", at=START, metadata={"is_visually_hidden_from_conversation": True}),
    node("ask", "hidden", "I live in Graz.", IMAGE, {"content_type": "video"}, "Where next?", at=START + 1),
    node("old", "ask", "Go to Rome.", role="assistant", at=START + 2),
    node("thought", "ask", role="assistant", at=START + 3, content={"content_type": "thoughts", "thoughts": []}),
    node("new", "thought", "Go to Oslo.", role="assistant", metadata={"model_slug": "some-model"}),
    node(
        "run",
        "new",
        role="tool",
        at=START + 5,
        author_name="python",
        content={"content_type": "execution_output", "text": "42"},
    ),
    node("blank", "run", " ", role="assistant", at=START + 6),
    current="blank",
)


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(*conversations: dict[str, Any]) -> str:
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps(list(conversations)), encoding="utf-8")
        return str(path)

    return write


def turns() -> list[TurnEntry]:
    with Memory.open("memory.db", embedder=None, worker=False) as memory:
        return memory.list_turns().items


def test_the_way_to_the_current_node_is_recorded(run: Run, write: Any) -> None:
    done = run("ingest", write(TRIP), "--user", "ada", "--no-wait")
    assert (done.code, done.err) == (0, "")
    assert "left out, as hidden, empty, or of the system: 4 messages" in done.out
    assert "3 turns in 1 session of 1 user" in done.out
    ask, new, tool = turns()
    assert [each.role for each in (ask, new, tool)] == ["user", "assistant", "tool"]
    assert ask.content == "I live in Graz.\n\n[image]\n\n[video]\n\nWhere next?"
    assert (new.content, new.model_name) == ("Go to Oslo.", "some-model")
    assert (tool.content, tool.tool_name) == ("42", "python")
    assert {(each.user_id, each.session_id, each.metadata["title"]) for each in (ask, new, tool) if each.metadata} == {
        ("ada", "c1", "Trip")
    }
    # A message without a time was said when the one before it was, here a thought that is left out.
    assert [each.event_time for each in (ask, new, tool)] == [
        datetime.fromtimestamp(START + seconds, UTC) for seconds in (1, 3, 5)
    ]


def test_the_same_file_again_adds_nothing_and_a_grown_one_what_is_new(run: Run, write: Any) -> None:
    run("ingest", write(TRIP), "--no-wait")
    assert run("ingest", write(TRIP), "--no-wait", "--json").json["repeated"] == 3
    grown = conversation(*TRIP["mapping"].values(), node("more", "blank", "Thanks.", at=START + 9), current="more")
    report = run("ingest", write(grown), "--no-wait", "--json").json
    assert (report["turns"], report["recorded"], report["repeated"], report["left_out"]) == (4, 1, 3, 4)


def test_conversations_are_sessions_and_are_distilled(run: Run, write: Any) -> None:
    other = conversation(node("a", None, "I am allergic to walnuts.", at=START), current="a", name="c2")
    report = run("ingest", write(TRIP, other), "--user", "ada", "--json").json
    assert (report["sessions"], report["turns"]) == (2, 4)
    assert sum(report["learned"].values()) >= 2  # type: ignore[attr-defined]


def test_without_a_current_node_the_branch_of_last_is_taken(run: Run, write: Any) -> None:
    nodes = (node("a", None, "One.", at=1.0), node("b", "a", "Two.", at=9.0), node("c", "a", "Three.", at=5.0))
    assert run("ingest", write(conversation(*nodes, current=None)), "--no-wait").code == 0
    assert [each.content for each in turns()] == ["One.", "Two."]


def test_an_export_without_anything_said_records_nothing(run: Run, write: Any) -> None:
    done = run("ingest", write(conversation(node("root", None), current="root")))
    assert (done.code, Path("memory.db").exists()) == (0, False)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (conversation(node("a", None, "x"), current="z"), "mapping has no node 'z'"),
        (conversation(node("a", "b", "x"), node("b", "a", "y"), current="a"), "through 'a' twice"),
        (conversation(node("a", None, "x"), current="a", id=None), "the conversation has no id"),
        (
            conversation(node("a", None, "x", at=1e300), current="a"),
            "message 'message-a': create_time: 1e+300 is no time",
        ),
        (conversation(node("a", None, "x"), current="a", create_time="now"), "create_time: must be seconds since 1970"),
    ],
)
def test_a_conversation_that_is_wrong_is_named(run: Run, write: Any, wrong: dict[str, Any], reason: str) -> None:
    done = run("ingest", write(TRIP, wrong), "--no-wait")
    assert done.code == 2
    assert "conversations.json, item 2: " in done.complaint
    assert reason in done.complaint
    assert not Path("memory.db").exists()
