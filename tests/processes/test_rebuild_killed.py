"""A process that is killed while it re-embeds a store has its work gone on with."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from memoranda.testing import integrity
from memoranda.testing.embedders import HashedEmbedder
from tests.engine.rebuilding.rebuilding_world import (
    BATCH,
    MEMORIES,
    TURNS,
    check_vectors,
    fill,
    old_embedder,
    open_memory,
    run_reembed,
    texts_found,
)
from tests.processes.rebuilding_children import reembed_slowly

spawn = multiprocessing.get_context("spawn")
RECORDS = 2 * len(MEMORIES) + len(TURNS)


@pytest.mark.parametrize("batches", [1, 3])
def test_the_next_run_embeds_the_rest_only(tmp_path: Path, batches: int) -> None:
    path = tmp_path / "memory.db"
    fill(path, old_embedder())
    receiver, sender = spawn.Pipe(duplex=False)
    process = spawn.Process(target=reembed_slowly, args=(path, sender))
    process.start()
    sender.close()
    try:
        stored = 0
        while stored < batches * BATCH:
            assert receiver.poll(60), "the process embedded nothing"
            stored = receiver.recv()
    finally:
        process.kill()
        process.join()
    assert integrity.check(path) == []
    with open_memory(path, old_embedder()) as memory:
        assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
    embedder = HashedEmbedder(64, "new")
    assert run_reembed(path, embedder).embedded <= RECORDS - stored
    assert len(embedder.calls) <= RECORDS - stored
    check_vectors(path, embedder)
