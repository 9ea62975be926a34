"""A process that makes a store anew and is killed; a module of its own, so that a spawned process can import it."""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep

from memoranda.testing.embedders import HashedEmbedder
from tests.engine.rebuilding.rebuilding_world import opened_store, reembed_in


class SlowEmbedder(HashedEmbedder):
    """Takes its time, so that it can be killed in the middle."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        sleep(0.05)
        return super().embed(texts)


def reembed_slowly(path: Path, stored: Connection) -> None:
    """Re-embed; send how many records have their new vectors after each batch."""
    with opened_store(path) as store:
        reembed_in(store, SlowEmbedder(64, "new"), progress=lambda done, total: stored.send(done))
