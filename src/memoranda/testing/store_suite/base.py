"""What the classes of the store suite share: the fixtures an adapter gives, and those made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest

from memoranda.engine.ports import Store
from memoranda.testing.samples import Scribe


@dataclass(frozen=True, slots=True)
class Requirements:
    """What an adapter can do. All true unless it says otherwise.

    ``durable``: a closed store can be opened again with what it held (the adapter gives a fixture ``reopen``).
    ``reads_beside_writes``: a read goes on, unchanged, while another thread commits.
    """

    durable: bool = True
    reads_beside_writes: bool = True


class StoreRules:
    """Base of every class of the suite. The adapter's subclass gives ``store``."""

    requirements: ClassVar[Requirements] = Requirements()

    @pytest.fixture
    def store(self) -> Store:
        """Return an open, empty store; an adapter overrides this."""
        raise NotImplementedError("give a fixture `store` that returns an open, empty store")

    @pytest.fixture
    def reopen(self) -> Callable[[], Store]:
        """Return a function that closes the store and opens it again; an adapter that is durable overrides this."""
        raise NotImplementedError("give a fixture `reopen`, or declare Requirements(durable=False)")

    @pytest.fixture
    def scribe(self, store: Store) -> Scribe:
        """Return a writer of sample records in one project."""
        return Scribe(store)

    @pytest.fixture
    def stranger(self, store: Store) -> Scribe:
        """Return a writer of sample records in another project of the same store."""
        return Scribe(store, "project-2")
