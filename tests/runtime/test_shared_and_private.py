"""What a user shares stays current, whatever their private talk says of the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memoranda import Memory, MemoryRequestContext
from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.testing.extractors import ScriptedExtractor


def _private_talk(turns: Sequence[SourceTurn]) -> Sequence[ExtractedItem]:
    said = f"as said in turn {turns[0].turn_seq}"
    ids = tuple(turn.turn_id for turn in turns)
    return [
        ExtractedItem("semantic", f"The office is elsewhere, {said}.", label="office", turn_ids=ids),
        ExtractedItem(
            "taxonomic",
            f"Something else, {said}.",
            body={"domain": "ops", "term": "SLA", "definition": f"Something else, {said}."},
            turn_ids=ids,
        ),
        ExtractedItem(
            "procedural",
            f"Push the other button, {said}.",
            body={"procedure": "deploy", "description": "how to deploy", "steps": []},
            turn_ids=ids,
        ),
    ]


def test_private_talk_retires_nothing_that_was_shared(tmp_path: Path) -> None:
    with Memory.open(
        tmp_path / "memory.db", embedder=None, worker=False, llm=ScriptedExtractor(_private_talk)
    ) as memory:
        ann = memory.bind(MemoryRequestContext(user_id="ann", session_id="s"))
        shared = {
            ann.save_semantic(text="The office is in Lyon.", label="office", visibility="org").id,
            ann.save_taxonomic(domain="ops", term="SLA", definition="What we promise.").id,
            ann.save_procedure(procedure="deploy", description="d", content="Push the button.", visibility="org").id,
        }
        for _ in range(2):
            ann.record_turn(role="user", content="something")
            memory.wait_until_idle()
        assert memory.status().failures == {}
        kept = memory.list_memories(visibility="org").items
        assert {entry.id for entry in kept} == shared
        assert {entry.version for entry in kept} == {1}
        private = ann.list_memories(visibility="private").items
        assert {entry.kind for entry in private} == {"semantic", "taxonomic", "procedural"}
        assert all("as said" in entry.content for entry in private)
