"""What schema a database has, beside the one that this version knows."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.stores.schema import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The schema of a database; ``found`` is None where there is none. ``location`` is for people, without secrets."""

    location: str
    found: str | None
    known: str = SCHEMA_VERSION

    @property
    def is_current(self) -> bool:
        return self.found == self.known
