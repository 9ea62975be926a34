"""Relations between records, and the links between memories that have a meaning of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

MemoryRecordType: TypeAlias = Literal["memory", "guideline", "fact", "preference"]
ThreadRecordType: TypeAlias = Literal["thread", "thread_summary"]
RelationType: TypeAlias = str
MemoryLinkType: TypeAlias = Literal["supersedes", "contradicts", "refines", "supports", "duplicates"]
MemoryLinkOppositeType: TypeAlias = Literal[
    "is_superseded_by", "contradicts", "is_refined_by", "is_supported_by", "duplicates"
]

MEMORY_TYPES: Final[tuple[MemoryRecordType, ...]] = ("memory", "guideline", "fact", "preference")
LINK_TYPES: Final[tuple[MemoryLinkType, ...]] = ("supersedes", "contradicts", "refines", "supports", "duplicates")
RETIRING_LINKS: Final = frozenset({"supersedes", "refines", "duplicates"})
"""The links that make their target invalid as long as they exist."""

_OPPOSITES: Final[dict[str, str]] = {
    "supersedes": "is_superseded_by",
    "refines": "is_refined_by",
    "supports": "is_supported_by",
    "contradicts": "contradicts",
    "duplicates": "duplicates",
}


def opposite_of(relation_type: RelationType) -> RelationType:
    """Return the label of a relation read from its target; a label of the caller's own is its own opposite."""
    return _OPPOSITES.get(relation_type, relation_type)


def memory_type_of(value: object) -> MemoryRecordType:
    """Read the name of a memory type. Raises ``ValueError`` naming the four."""
    for known in MEMORY_TYPES:
        if known == value:
            return known
    raise ValueError(f"memory type {value!r} is unknown; use one of {', '.join(map(repr, MEMORY_TYPES))}")


def link_type_of(value: object) -> MemoryLinkType:
    """Read the name of a link type. Raises ``ValueError`` naming the five."""
    for known in LINK_TYPES:
        if known == value:
            return known
    raise ValueError(f"link type {value!r} is unknown; use one of {', '.join(map(repr, LINK_TYPES))}")


@dataclass(frozen=True, slots=True)
class RecordRelation:
    """A relation as it is stored: from source to target, with the label that it has in either direction."""

    id: str
    source_record_id: str
    source_record_type: str
    target_record_id: str
    target_record_type: str
    relation_type: RelationType
    opposite_relation_type: RelationType
    timestamp: str | None = None
    metadata: dict[str, object] | None = None
    created_at: str | None = None

    def label_from(self, record_id: str) -> RelationType:
        """Return the label as the record at one end reads it."""
        return self.opposite_relation_type if record_id == self.target_record_id else self.relation_type


@dataclass(frozen=True, slots=True)
class MemoryLink(RecordRelation):
    """A relation between two memories. Raises ``ValueError`` for other records, another label or a wrong opposite."""

    def __post_init__(self) -> None:
        memory_type_of(self.source_record_type)
        memory_type_of(self.target_record_type)
        expected = opposite_of(link_type_of(self.relation_type))
        if self.opposite_relation_type != expected:
            raise ValueError(
                f"the opposite of {self.relation_type!r} is {expected!r}, not {self.opposite_relation_type!r}"
            )

    @property
    def link_type(self) -> MemoryLinkType:
        return link_type_of(self.relation_type)

    @property
    def source_memory_id(self) -> str:
        return self.source_record_id

    @property
    def target_memory_id(self) -> str:
        return self.target_record_id
