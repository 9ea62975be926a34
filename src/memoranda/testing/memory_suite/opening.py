"""Opening a store: what is fixed by its first use, and what may change."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from memoranda.sdk.errors import MemoryConfigError, MemoryConflictError, MemoryEmbedderMismatchError
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.memory_suite.base import CONFIG, MemoryRules, OpenMemory, user


def changed(**block: Any) -> dict[str, Any]:
    """Return the suite's configuration with other keys in its block."""
    config = copy.deepcopy(CONFIG)
    config["memory"].update(block)
    return config


class OpeningRules(MemoryRules):
    """``Memory.open`` again, with something else."""

    def test_another_embedder_is_refused_by_name(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        with open_memory(**options) as memory:
            user(memory, "alice").save_semantic(text="x", label="x")
        others = (
            HashedEmbedder(model_id="other-model"),
            HashedEmbedder(dimension=32),
            HashedEmbedder(fingerprint="2"),
        )
        for other in others:
            with pytest.raises(MemoryEmbedderMismatchError) as caught:
                open_memory(**{**options, "embedder": other})
            assert "hashed-words" in str(caught.value)
            assert other.model_id in str(caught.value)

    def test_no_embedder_is_always_allowed(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        with open_memory(**options) as memory:
            saved = user(memory, "alice").save_semantic(text="green tea", label="x")
        with open_memory(**{**options, "embedder": None}) as memory:
            alice = user(memory, "alice")
            assert [chunk.id for chunk in alice.search_semantic("tea")] == [saved.id]
            alice.save_semantic(text="black tea", label="y")
        with open_memory(**options) as memory:
            memory.wait_until_idle(promote=False)
            assert len(user(memory, "alice").search_semantic("tea")) == 2

    def test_a_filter_key_declared_later_is_filled_in_by_a_job(
        self, open_memory: OpenMemory, options: dict[str, Any]
    ) -> None:
        with open_memory(**options) as memory:
            alice = user(memory, "alice")
            saved = alice.save_semantic(text="green tea", label="x", metadata={"place": "Oslo"})
            alice.save_semantic(text="green tea", label="y", metadata={"place": "Bergen"})
            alice.record_turn(role="user", content="tea", metadata={"place": "Oslo"})
        keys = [*CONFIG["memory"]["metadata_partition_key"], {"name": "place", "type": "string"}]
        condition = {"metadata.place": "Oslo"}
        with open_memory(**{**options, "config": changed(metadata_partition_key=keys)}) as memory:
            alice = user(memory, "alice")
            later = alice.save_semantic(text="black tea", label="z", metadata={"place": "Oslo"})
            with pytest.raises(MemoryConflictError, match="place"):
                alice.list_memories(metadata_filter=condition)
            with pytest.raises(MemoryConflictError, match="place"):
                alice.build_context("tea", metadata_filter=condition, enabled_sources={"stm", "semantic"})
            memory.wait_until_idle(promote=False)
            found = {item.id for item in alice.list_memories(metadata_filter=condition).items}
            assert found == {saved.id, later.id}
            context = alice.build_context(
                "tea", metadata_filter=condition, enabled_sources={"stm", "semantic"}, include_memories=True
            )
            assert len(context.selected_memories or []) == 3

    @pytest.mark.parametrize(
        "block",
        [
            {"metadata_partition_key": [{"name": "n", "type": "string"}]},
            {"custom_memory_types": []},
        ],
        ids=str,
    )
    def test_what_is_written_once_does_not_change(
        self, open_memory: OpenMemory, options: dict[str, Any], block: dict[str, Any]
    ) -> None:
        with open_memory(**options) as memory:
            user(memory, "alice").save("note", "x")
        with pytest.raises(MemoryConfigError):
            open_memory(**{**options, "config": changed(**block)})
        with open_memory(**options) as memory:
            assert memory.status().memories == {"note": 1}

    def test_without_a_configuration_the_stored_one_holds(
        self, open_memory: OpenMemory, options: dict[str, Any]
    ) -> None:
        with open_memory(**options) as memory:
            user(memory, "alice").save("note", "green tea", tags={"place": "here"})
        with open_memory(**{**options, "config": None}) as memory:
            assert user(memory, "alice").retrieve("note", "tea").count == 1

    @pytest.mark.parametrize("project", ["", " ", "\n"])
    def test_a_blank_project_is_refused(self, open_memory: OpenMemory, options: dict[str, Any], project: str) -> None:
        with pytest.raises(Exception, match="project"):
            open_memory(**{**options, "project_id": project})

    def test_a_closed_handle_says_so(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        memory = open_memory(**options)
        memory.close()
        memory.close()
        with pytest.raises(RuntimeError, match="closed"):
            memory.status()

    @pytest.mark.parametrize("name", ["embedder", "llm", "clock", "reranker"])
    def test_an_object_that_is_no_provider_is_refused_by_name(
        self, open_memory: OpenMemory, options: dict[str, Any], name: str
    ) -> None:
        with pytest.raises(MemoryConfigError, match=name):
            open_memory(**{**options, name: object()})
