"""What is linked to the memories that a search found: the shortest ways from each, over links in both directions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from memoranda.engine.filters import Filter, matches
from memoranda.engine.ports import Transaction
from memoranda.engine.records import MemoryRecord, MemoryStatus
from memoranda.engine.scope import Scope
from memoranda.threads.engine_backend.forms import links_of, memories_of, record_type_of
from memoranda.threads.stored import LinkedMemory, StoredLink, StoredMemory, ThreadSearch

SECONDS: Final = 30.0
"""How long links are followed for one search."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far links are followed, and which memories they may lead to."""

    hops: int
    most: int
    scope: Scope
    now: datetime
    record_types: tuple[str, ...] | None = None
    where: Filter | None = None
    include_invalid: bool = True

    @classmethod
    def of(cls, search: ThreadSearch, where: Filter | None, now: datetime) -> Reach:
        return cls(
            hops=search.num_hops,
            most=search.max_linked_results,
            scope=search.scope,
            now=now,
            record_types=search.record_types,
            where=where,
            include_invalid=search.include_invalid,
        )

    def admits(self, record: MemoryRecord) -> bool:
        """Whether a memory may be shown."""
        inside = self.scope.matches(
            user_id=record.user_id,
            agent_id=record.agent_id,
            session_id=record.session_id,
            visibility=record.visibility,
        )
        alive = record.expires_at is None or record.expires_at > self.now
        typed = self.record_types is None or record_type_of(record) in self.record_types
        valid = self.include_invalid or record.status is MemoryStatus.CURRENT
        matching = self.where is None or matches(self.where, record.metadata or {}, record.agent_id)
        return inside and alive and typed and valid and matching


@dataclass(slots=True)
class _Node:
    """A memory on the way; ``below`` are those that were reached from it first."""

    memory_id: str
    below: list[tuple[StoredLink, StoredMemory, _Node]] = field(default_factory=list)

    def tree(self) -> tuple[LinkedMemory, ...]:
        return tuple(LinkedMemory(link, memory, node.tree()) for link, memory, node in self.below)


class Graph:
    """Follows links inside one view of the store; all memories of a search share its limit and its time."""

    def __init__(self, tx: Transaction, reach: Reach) -> None:
        self._tx = tx
        self._reach = reach
        self._left = reach.most
        self._deadline = time.monotonic() + SECONDS

    def around(self, memory_id: str) -> tuple[LinkedMemory, ...]:
        """Return what is linked to a memory, nearest first; raises ``TimeoutError``."""
        root = _Node(memory_id)
        seen, edge = {memory_id}, [root]
        for _ in range(self._reach.hops):
            if not edge or self._left <= 0:
                break
            if time.monotonic() > self._deadline:
                raise TimeoutError(f"links were followed for {SECONDS:g} s; ask for fewer num_hops or results")
            edge = self._step(edge, seen)
        return root.tree()

    def _step(self, edge: Sequence[_Node], seen: set[str]) -> list[_Node]:
        """Follow the links of all memories at one distance."""
        nodes = {node.memory_id: node for node in edge}
        links = links_of(self._tx, self._tx.links.of(sorted(nodes)))
        ends = sorted({end for link in links for end in (link.source_id, link.target_id)} - seen)
        admitted = [record for record in self._tx.memories.get(ends) if self._reach.admits(record)] if ends else []
        memories = {memory.id: memory for memory in memories_of(self._tx, admitted)}
        reached: list[_Node] = []
        for link in links:
            for near, far in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
                if near in nodes and far in memories and far not in seen and self._left > 0:
                    seen.add(far)
                    self._left -= 1
                    node = _Node(far)
                    nodes[near].below.append((link, memories[far], node))
                    reached.append(node)
        return reached
