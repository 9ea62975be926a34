"""Records that were written while the project was open without its embedder."""

from __future__ import annotations

from pathlib import Path

from memoranda import Memory, MemoryRequestContext, MemorySource, RetrievalMode, SourceSpec
from tests.engine.background_world import ScriptedEmbedder

ADA = MemoryRequestContext(user_id="ada", session_id="monday")


def _write(path: Path, embedder: object | None, label: str) -> None:
    with Memory.open(path, embedder=embedder, worker=False) as memory:
        chat = memory.bind(ADA)
        chat.record_turn(role="user", content=f"{label}: the boat is blue")
        chat.save_semantic(label=label, text=f"{label}: likes boats")
        memory.wait_until_idle(promote=False)


def _vectors(path: Path) -> tuple[list[bool], list[str]]:
    """Open with the embedder; return which memories have a vector, and what the vector leg finds of the turns."""
    with Memory.open(path, embedder=ScriptedEmbedder(), worker=False) as memory:
        memory.wait_until_idle(promote=False)
        chat = memory.bind(ADA)
        turns = SourceSpec(source=MemorySource.STM, mode=RetrievalMode.SEMANTIC)
        found = chat.build_context_from_sources("ships", sources=[turns], include_memories=True)
        memories = [entry.has_embedding for entry in chat.list_memories().items]
        return memories, sorted(chunk.content[:1] for chunk in found.selected_memories or ())


def test_the_first_embedder_of_a_project_embeds_what_was_written_before(tmp_path: Path) -> None:
    _write(tmp_path / "m.db", None, "a")
    assert _vectors(tmp_path / "m.db") == ([True], ["a"])


def test_what_is_written_without_the_project_s_embedder_is_embedded_once_it_is_back(tmp_path: Path) -> None:
    _write(tmp_path / "m.db", ScriptedEmbedder(), "a")
    _write(tmp_path / "m.db", None, "b")
    assert _vectors(tmp_path / "m.db") == ([True, True], ["a", "b"])


def test_turns_stay_without_vectors_where_the_configuration_wants_none(tmp_path: Path) -> None:
    _write(tmp_path / "m.db", None, "a")
    config = {"memory": {"short_term": {"embed_on_write": False}}}
    Memory.open(tmp_path / "m.db", embedder=ScriptedEmbedder(), worker=False, config=config).close()
    assert _vectors(tmp_path / "m.db") == ([True], [])
