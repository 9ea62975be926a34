"""Closing while background work runs: it stops between two steps, quietly, and goes on after reopening."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memoranda import Memory, MemoryRequestContext
from memoranda.testing.embedders import HashedEmbedder

TURNS = 300


class GatedEmbedder(HashedEmbedder):
    """Tells when it is asked for the first time, and answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.may_answer = threading.Event()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.set()
        assert self.may_answer.wait(30)
        return super().embed(texts)


def test_close_stops_a_long_job_between_its_batches_and_reopening_finishes_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, embedder = tmp_path / "memory.db", GatedEmbedder()
    memory = Memory.open(path, embedder=embedder)
    chat = memory.bind(MemoryRequestContext(user_id="ann", session_id="s"))
    chat.record_turns([{"role": "assistant", "content": f"word {number}"} for number in range(TURNS)])
    assert embedder.asked.wait(30)
    closing = threading.Thread(target=memory.close)
    closing.start()
    embedder.may_answer.set()
    closing.join(30)
    assert not closing.is_alive()
    assert len(embedder.calls) < TURNS, "the job went on to its end"
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []

    with Memory.open(path, embedder=embedder) as reopened:
        reopened.wait_until_idle(timeout=60, promote=False)
        found = reopened.build_context("word 299", user_id="ann", enabled_sources={"stm"}, mode="semantic")
        outcomes = found.metadata.source_outcomes or []
        assert [(outcome["effective_mode"], outcome["error"]) for outcome in outcomes] == [("semantic", None)]
        assert reopened.status().failures == {}
