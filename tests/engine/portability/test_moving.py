"""A project that was moved holds the same, down to the bytes, and what waited goes on waiting."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from memoranda import (
    Memory,
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryEmbedderMismatchError,
    MemoryRequestContext,
)
from memoranda.engine.portability.lines import FORMAT_VERSION
from memoranda.engine.portability.parsing import LineError, parse
from memoranda.engine.records import Link, MemoryRecord, Profile, Session, Snapshot, Turn
from memoranda.runtime import EngineRuntime
from memoranda.runtime.portability import open_import
from memoranda.sdk.models import ContextResponse
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.integrity import check
from tests.engine.portability.moving import exported, imported

CONFIG = {
    "memory": {
        "custom_memory_types": [{"name": "recipe", "collection": "recipes", "tags": [{"name": "hard"}]}],
        "metadata_partition_key": [{"name": "topic", "type": "string"}],
        "background_extraction": {"snapshot": {"max_messages": 4}},
    }
}
TALK = (
    "My name is Ada Kern. I live in Graz.",
    "I am allergic to walnuts.",
    "I work as a carpenter.",
    "I live in Vienna now.",
    "Running late for the Oslo train: 我喜欢喝榛子拿铁 \u2028 \x00 \U0001f600",
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


Opened = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Opened:
    def open_memory(name: str, **options: Any) -> Memory:
        given: dict[str, Any] = {"clock": clock, "worker": False, "embedder": HashedEmbedder(), **options}
        return Memory.open(tmp_path / name, **given)

    return open_memory


@pytest.fixture
def old(tmp_path: Path, opened: Opened, clock: ManualClock) -> Path:
    """A store with everything in it."""
    with opened("old.db", config=CONFIG) as memory:
        for number, text in enumerate(TALK):
            clock.advance(seconds=60 * 60 * 24)
            metadata = {"topic": "home", "n": 1.0, "deep": [None, {"x": -0.0}], "big": 2**70}
            as_user(memory, "ada", "s1").record_turn(
                role="user",
                content=text,
                metadata=metadata,
                idempotency_key=f"k{number}",
            )
        memory.wait_until_idle()
        as_user(memory, "ada", "s2").record_turn(role="tool", content="left over", tool_name="clock")
        saved = as_user(memory, "ada").save_semantic(text="Ada likes oak.", label="wood", idempotency_key="w1")
        clock.advance(seconds=1)
        as_user(memory, "ada").save_semantic(
            text="Ada likes ash.", label="wood", upsert=True, metadata={"topic": "wood"}
        )
        memory.save("recipe", "Boil the eggs.", namespace="food", key="eggs", tags={"hard": True})
        as_user(memory, "bob").save_taxonomic(domain="food/eggs", term="poached", definition="without shell")
        as_user(memory, "bob", "s1").save_episode(title="Trip", content="To Oslo", ttl_days=400)
        profiles = engine_of(memory).profiles
        profiles.put("user", "ada", "A carpenter from Graz.", metadata={"topic": "home"})
        profiles.put("agent", "helper", "Answers briefly.")
        assert saved.id
        memory.wait_until_idle(promote=False)
    return tmp_path / "old.db"


def as_user(memory: Memory, user: str, session: str = "s1") -> Memory:
    return memory.bind(MemoryRequestContext(user_id=user, session_id=session))


def engine_of(memory: Memory) -> Any:
    runtime = memory._connection.runtime
    assert isinstance(runtime, EngineRuntime)
    return runtime.engine


def pages(read: Callable[..., Any], **given: Any) -> Iterator[Any]:
    cursor = None
    while True:
        page = read(limit=3, cursor=cursor, **given)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def everything(memory: Memory) -> list[Any]:
    """All that reads show of a project."""
    memories = list(pages(memory.list_memories, include_superseded=True))
    questions = [memory.build_context(text, include_memories=True, user_id="ada") for text in (*TALK, "wood", "?")]
    engine = engine_of(memory)
    return [
        list(pages(memory.list_turns)),
        memories,
        [memory.history(each.id) for each in memories],
        [memory.get_memory(each.id) for each in memories],
        memory.list_memories(metadata_filter={"metadata.topic": {"$eq": "wood"}}).items,
        [untimed(question) for question in questions],
        [engine.links.list(each.id) for each in memories],
        engine.profiles.page("user"),
        memory.status().model_copy(update={"store": ""}),
    ]


def untimed(response: ContextResponse) -> Any:
    return response.model_copy(update={"metadata": response.metadata.model_copy(update={"timing": {}})}).model_dump()


def test_a_copy_gives_the_same_bytes_and_the_same_reads(
    old: Path, tmp_path: Path, opened: Opened, clock: ManualClock
) -> None:
    text, new = exported(old), tmp_path / "new.db"
    kinds = {json.loads(line)["type"] for line in text.split("\n") if line}
    assert kinds == {"header", "turn", "memory", "profile", "link", "session", "end"}
    report = imported(new, text, clock=clock)
    assert (report.existing, report.conflicts, report.awaiting) == ({}, {}, 0)
    assert exported(new) == text
    assert check(new) == []
    with opened("old.db") as memory:
        memory.wait_until_idle(promote=False)
        expected = everything(memory)
    with opened("new.db") as memory:
        memory.wait_until_idle(promote=False)
        assert everything(memory) == expected


def test_idempotency_goes_with_the_project(old: Path, tmp_path: Path, opened: Opened, clock: ManualClock) -> None:
    imported(tmp_path / "new.db", exported(old), clock=clock)
    with opened("new.db") as memory:
        again = as_user(memory, "ada").save_semantic(text="Ada likes oak.", label="wood", idempotency_key="w1")
        assert again.id in {each.id for each in pages(memory.list_memories, include_superseded=True)}
        with pytest.raises(MemoryConflictError):
            as_user(memory, "ada").save_semantic(text="Another.", label="wood", idempotency_key="w1")
        turn = as_user(memory, "ada", "s1").record_turn(role="user", content="New.", idempotency_key="k9")
        assert turn.turn_seq == len(TALK) + 1


def test_without_vectors_the_records_wait_for_theirs(
    old: Path, tmp_path: Path, opened: Opened, clock: ManualClock
) -> None:
    report = imported(tmp_path / "new.db", exported(old, vectors=False), clock=clock)
    assert report.awaiting > len(TALK)
    assert check(tmp_path / "new.db") == []
    embedder = HashedEmbedder()
    with opened("new.db", embedder=embedder) as memory:
        memory.wait_until_idle(promote=False)
        assert len(embedder.calls) == report.awaiting
        assert all(each.has_embedding for each in pages(memory.list_memories))
    assert [line for line in exported(tmp_path / "new.db").split("\n") if '"profile"' not in line] == [
        line for line in exported(old).split("\n") if '"profile"' not in line
    ]


def test_what_waited_to_be_distilled_is_distilled_in_the_copy(
    tmp_path: Path, opened: Opened, clock: ManualClock
) -> None:
    with opened("old.db") as memory:
        as_user(memory, "ada", "cut").record_turn(role="user", content="I live in Graz.")
        memory.promote()
        as_user(memory, "ada", "uncut").record_turn(role="user", content="I work as a carpenter.")
    imported(tmp_path / "new.db", exported(tmp_path / "old.db"), clock=clock)
    with opened("new.db") as memory:
        memory.wait_until_idle(promote=False)
        assert len(memory.list_memories().items) == 1
        clock.advance(seconds=60 * 60)
        memory.wait_until_idle(promote=False)
        assert len(memory.list_memories().items) == 2
        as_user(memory, "ada", "cut").record_turn(role="user", content="More.")
        assert [each.turn_seq for each in memory.list_turns(session_id="cut").items] == [1, 2]


def test_lifetimes_end_in_the_copy(tmp_path: Path, opened: Opened, clock: ManualClock) -> None:
    with opened("old.db", embedder=None) as memory:
        as_user(memory, "bob").save_episode(title="Trip", content="To Oslo", ttl_days=1)
    imported(tmp_path / "new.db", exported(tmp_path / "old.db"), clock=clock)
    clock.advance(seconds=2 * 24 * 60 * 60)
    with opened("new.db", embedder=None) as memory:
        memory.wait_until_idle(promote=False)
    assert '"memory"' not in exported(tmp_path / "new.db")


def test_a_store_that_is_not_empty_is_refused(old: Path, tmp_path: Path) -> None:
    text = exported(old)
    with pytest.raises(MemoryConflictError, match="--merge"):
        imported(old, text)
    assert exported(old) == text


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_merging_ends_an_import_that_was_cut_short(old: Path, tmp_path: Path, share: float) -> None:
    text, new = exported(old), tmp_path / "new.db"
    lines = text.split("\n")[:-1]
    kept = lines[1 : 1 + int(len(lines) * share)]
    imported(new, whole(lines[0], kept))
    report = imported(new, text, merge=True)
    assert sum(report.existing.values()) >= sum(json.loads(line)["type"] != "link" for line in kept)
    assert report.conflicts == {}
    # Keys are given in the order of arrival, which is the file's: the bytes are the same.
    assert exported(new) == text
    assert imported(new, text, merge=True).added == {}
    assert check(new) == []


def whole(header: str, lines: list[str]) -> str:
    """An export of these lines, with the end that belongs to them."""
    counts: dict[str, int] = {}
    for line in map(json.loads, lines):
        counts[line["type"]] = counts.get(line["type"], 0) + 1
        if line.get("snapshots"):
            counts["snapshot"] = counts.get("snapshot", 0) + len(line["snapshots"])
    return "\n".join([header, *lines, json.dumps({"type": "end", "counts": counts}), ""])


def test_merging_two_stores_keeps_what_is_there_and_tells_what_stays_out(tmp_path: Path, opened: Opened) -> None:
    for name, wood in (("one.db", "oak"), ("two.db", "ash")):
        with opened(name, embedder=None) as memory:
            as_user(memory, "ada").save_semantic(text=f"Ada likes {wood}.", label="wood")
            as_user(memory, "ada").save_semantic(text=f"Only in {name}.", label=name)
            as_user(memory, "ada", "s1").record_turn(role="user", content=f"I like {wood}.")
    report = imported(tmp_path / "one.db", exported(tmp_path / "two.db"), merge=True)
    assert (report.added, report.existing) == ({"memory": 1}, {"session": 1})
    assert report.conflicts == {"memory": 1, "turn": 1}
    assert report.refused[0] == "line 2: another semantic memory holds the name 'wood'"
    assert check(tmp_path / "one.db") == []
    with opened("one.db", embedder=None) as memory:
        assert {each.content for each in memory.list_memories().items} == {
            "Ada likes oak.",
            "Only in one.db.",
            "Only in two.db.",
        }


def test_merging_a_later_export_goes_on_with_a_session(tmp_path: Path, opened: Opened, clock: ManualClock) -> None:
    with opened("old.db", embedder=None) as memory:
        as_user(memory, "ada", "s1").record_turn(role="user", content="I live in Graz.")
        early = exported(tmp_path / "old.db")
        as_user(memory, "ada", "s1").record_turn(role="user", content="I work as a carpenter.")
        memory.wait_until_idle()
    imported(tmp_path / "new.db", early, clock=clock)
    report = imported(tmp_path / "new.db", exported(tmp_path / "old.db"), merge=True, clock=clock)
    assert report.conflicts == {}
    assert check(tmp_path / "new.db") == []
    with opened("new.db", embedder=None) as memory:
        assert [each.promoted for each in memory.list_turns().items] == [True, True]
        assert as_user(memory, "ada", "s1").record_turn(role="user", content="x").turn_seq == 3


def test_vectors_of_another_model_are_refused_or_left_out(old: Path, tmp_path: Path, opened: Opened) -> None:
    with opened("new.db", embedder=HashedEmbedder(dimension=8, model_id="small"), config=CONFIG):
        pass
    with pytest.raises(MemoryEmbedderMismatchError, match="--no-vectors"):
        imported(tmp_path / "new.db", exported(old))
    assert imported(tmp_path / "new.db", exported(old), vectors=False).awaiting
    assert check(tmp_path / "new.db") == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda lines: lines[:-1], r"cut off"),
        (lambda lines: [*lines[:3], lines[3][:-9], *lines[4:]], r"line 4: not JSON"),
        (lambda lines: [*lines[:3], *lines[4:]], r"missing or doubled"),
        (lambda lines: [*lines[:3], lines[3], *lines[3:]], r"missing or doubled"),
        (lambda lines: [*lines, lines[1]], r"after the end line"),
        (lambda lines: [lines[0], lines[-2], *lines[1:]], r"line 3: out of order"),
        (lambda lines: lines[1:], r"line 1: not the header"),
        (lambda lines: [lines[0], "", *lines[1:]], r"line 2: not JSON"),
        (lambda lines: [lines[0].replace(f'"version":{FORMAT_VERSION}', '"version":99'), *lines[1:]], r"version 99"),
        (lambda lines: [lines[0].replace('"vectors":true', '"vectors":false'), *lines[1:]], r"line 2: vectors"),
        (lambda lines: [line.replace('"kind":"recipe"', '"kind":"soup"') for line in lines], r"kind 'soup'"),
        (lambda lines: [line.replace('"turn_seq":2', '"turn_seq":"2"') for line in lines], r"turn_seq: .*integer"),
        (lambda lines: [line.replace('"role":', '"rôle":') for line in lines], r"line 2: "),
        (lambda lines: [line.replace("allergic", "\\ud800") for line in lines], r"lone surrogate"),
        (lambda lines: [line.replace('"n":1.0', '"n":NaN') for line in lines], r"NaN"),
        (lambda lines: [line.replace('"scale":', '"scale":-') for line in lines], r"scale"),
        (lambda lines: [line.replace('"data":"', '"data":"AAAA') for line in lines], r"67 bytes; the model has 64"),
        (lambda lines: [line.replace('"data":"', '"data":"?') for line in lines], r"not base64"),
        (lambda lines: [line.replace('"visibility":"private"', '"visibility":"public"') for line in lines], "public"),
    ],
)
def test_a_file_that_is_wrong_is_refused_as_a_whole(
    old: Path, tmp_path: Path, change: Callable[[list[str]], list[str]], reason: str
) -> None:
    lines = change(exported(old).split("\n")[:-1])
    with pytest.raises(MemoryBadRequestError, match=reason) as refused:
        imported(tmp_path / "new.db", "\n".join(lines) + "\n")
    assert refused.value.message.startswith("backup.jsonl, line ")
    with pytest.raises(MemoryBadRequestError, match="not in this store"):
        exported(tmp_path / "new.db")


def test_a_record_that_is_twice_is_named_and_its_batch_undone(old: Path, tmp_path: Path) -> None:
    lines = exported(old).split("\n")[:-1]
    text = whole(lines[0], [lines[1], *lines[1:-1]])
    with pytest.raises(MemoryConflictError, match=r"backup\.jsonl, line 3: turn cannot be added"):
        imported(tmp_path / "new.db", text)
    assert '"turn"' not in exported(tmp_path / "new.db").split("\n")[1]


def test_the_lines_of_a_file_end_with_line_feeds_alone(old: Path) -> None:
    # Texts with other separators must not be cut: they are read as bytes.
    text = exported(old)
    assert "\u2028" in text
    assert all(json.loads(line) for line in text.split("\n")[:-1])


@pytest.mark.parametrize("record", [Turn, MemoryRecord, Profile, Link, Session, Snapshot])
def test_every_field_of_a_record_has_its_place(record: type, old: Path) -> None:
    """A field that is added to a record is written and read without a change here, but for those that stay out."""
    header = json.loads(exported(old).split("\n")[0])
    assert header["format"] == "memoranda"
    line_type = "memory" if record is MemoryRecord else "session" if record is Snapshot else record.__name__.lower()
    known = {each.name for each in fields(record)} - {"key"}
    with pytest.raises(LineError) as refused:
        parse(json.dumps({"type": line_type}))
    assert refused.value.args[0].split(" ")[0] in known | {"user_id"}


def test_an_unfinished_deletion_stops_an_export(old: Path, opened: Opened, clock: ManualClock) -> None:
    with opened("old.db") as memory:
        engine = engine_of(memory)
        from memoranda.engine.records import Tombstone

        with engine.store.write("default") as tx:
            tx.projects.add_tombstone(Tombstone("t", "bob", 1, clock.now()))
    with pytest.raises(MemoryConflictError, match="deletion is unfinished"):
        exported(old)


def test_check_before_run(old: Path, tmp_path: Path) -> None:
    stream = io.BytesIO(exported(old).encode())
    with open_import(tmp_path / "new.db", stream, name="x") as opened_import:
        with pytest.raises(RuntimeError, match="check"):
            opened_import.run()
        assert opened_import.check()["session"] == 2
