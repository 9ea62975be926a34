"""Telling the change feed what a transaction changes, as far as the project's configuration asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from memoranda.engine.config_model import ChangeFeedConfig
from memoranda.engine.feed.rows import Change, Entity, Operation
from memoranda.engine.ids import new_id
from memoranda.engine.ports import Clock, Transaction
from memoranda.engine.records import MemoryRecord, Turn


class ChangeLog:
    """Writes entries into the transaction of the change. An entry that tells of a deleted record names no user."""

    def __init__(self, clock: Clock, config: ChangeFeedConfig) -> None:
        self._clock = clock
        self._config = config

    def memory(self, tx: Transaction, operation: Operation, record: MemoryRecord) -> None:
        """Tell that a memory was created, updated or superseded."""
        if self._config.memories:
            tx.changes.add([self._entry(Entity.MEMORY, record.id, operation, record.user_id)])

    def update_memory(self, tx: Transaction, record: MemoryRecord, operation: Operation = Operation.UPDATED) -> None:
        """Write a memory that exists, and tell of it."""
        tx.memories.update(record)
        self.memory(tx, operation, record)

    def memories_deleted(self, tx: Transaction, ids: Sequence[str]) -> None:
        if self._config.memories:
            self._deleted(tx, Entity.MEMORY, ids)

    def turns_created(self, tx: Transaction, turns: Sequence[Turn]) -> None:
        """Tell of new turns, and of the sessions that began with them."""
        if not self._config.turns:
            return
        entries: list[Change] = []
        for turn in turns:
            if turn.turn_seq == 1:
                entries.append(self._entry(Entity.SESSION, turn.session_id, Operation.CREATED, turn.user_id))
            entries.append(self._entry(Entity.TURN, turn.id, Operation.CREATED, turn.user_id))
        tx.changes.add(entries)

    def turns_updated(self, tx: Transaction, turns: Sequence[Turn]) -> None:
        """Tell that turns were changed."""
        if self._config.turns:
            tx.changes.add([self._entry(Entity.TURN, turn.id, Operation.UPDATED, turn.user_id) for turn in turns])

    def turns_deleted(self, tx: Transaction, ids: Sequence[str]) -> None:
        if self._config.turns:
            self._deleted(tx, Entity.TURN, ids)

    def session_deleted(self, tx: Transaction, user_id: str, session_id: str) -> None:
        if self._config.enabled:
            tx.changes.add([self._entry(Entity.SESSION, session_id, Operation.DELETED, user_id)])

    def user_deleted(self, tx: Transaction, user_id: str) -> None:
        """Tell that everything of a user is gone, to those who know the user's id: the entry has its digest."""
        if self._config.enabled:
            tx.changes.add([self._entry(Entity.USER, user_digest(user_id), Operation.DELETED, "")])

    def _deleted(self, tx: Transaction, entity: Entity, ids: Sequence[str]) -> None:
        if ids:
            tx.changes.add([self._entry(entity, each, Operation.DELETED, "") for each in ids])

    def _entry(self, entity: Entity, entity_id: str, operation: Operation, user_id: str) -> Change:
        return Change(new_id(), entity, entity_id, operation, self._clock.now(), user_id)


def user_digest(user_id: str) -> str:
    """Return what the feed calls a user who was deleted: the SHA-256 of the id's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(user_id.encode()).hexdigest()
