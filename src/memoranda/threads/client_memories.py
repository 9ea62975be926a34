"""A client's memories: adding with links and lifetimes, changing and deleting them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from memoranda.engine.extraction.items import RelatedMemory
from memoranda.engine.scope import Scope
from memoranda.threads.apis import ILlm
from memoranda.threads.client_parts import ClientParts
from memoranda.threads.client_state import ClientState, OptionalId, owner_of
from memoranda.threads.extraction_prompts import MOST_RELATED
from memoranda.threads.extraction_replies import Said
from memoranda.threads.extraction_settings import ExtractorSettings
from memoranda.threads.linking import linked
from memoranda.threads.message_forms import lifetime
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import TimeToLiveAnchor
from memoranda.threads.records import Metadata, RecordStatus, check_metadata
from memoranda.threads.relations import (
    MEMORY_TYPES,
    MemoryLinkType,
    MemoryRecordType,
    link_type_of,
    memory_type_of,
    opposite_of,
)
from memoranda.threads.scope import check_id
from memoranda.threads.stored import (
    Given,
    MemoryUpdate,
    NewLink,
    NewMemory,
    StoredMemory,
    ThreadSearch,
)

logger = logging.getLogger(__name__)

_LINK_DETAILS: Final = ("link_id", "link_timestamp", "link_metadata")
_SAVING: Final = frozenset({"index_texts", "embeddings", "batch_size", "timestamps"})
"""What else a call that adds a memory takes: texts to search in place of the content, their vectors, and what means
nothing here."""


class ClientMemories(ClientState):
    """What a client does with memories."""

    def add_memory(
        self,
        /,
        content: str | None,
        *,
        memory_type: MemoryRecordType | NotSet = NOT_SET,
        user_id: OptionalId = NOT_SET,
        agent_id: OptionalId = NOT_SET,
        thread_id: OptionalId = NOT_SET,
        memory_id: str | NotSet = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        ttl_days: int | NotSet | None = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
        status: RecordStatus | str | NotSet = NOT_SET,
        autonomous_linking: bool | NotSet = NOT_SET,
        memory_id_to_link: str | NotSet = NOT_SET,
        link_type: MemoryLinkType | NotSet = NOT_SET,
        link_id: str | NotSet = NOT_SET,
        link_timestamp: str | NotSet | None = NOT_SET,
        link_metadata: Metadata | NotSet | None = NOT_SET,
        **store_kwargs: Any,
    ) -> str:
        """Add a memory and return its id. Owners that are omitted are those of a linked memory, else none.

        ``memory_type`` is ``memory`` unless given. ``memory_id_to_link`` and ``link_type`` link it, new to existing.
        With a language model it is also linked to known memories of the same owners, which costs one request where
        there are any; ``autonomous_linking=False`` leaves that out. ``index_texts`` are searched in place of the
        content, with ``embeddings`` where they are given. Raises ``ValueError`` for a wrong value or an id that is
        taken, ``KeyError`` for an unknown memory to link to (nothing is stored then) and ``TypeError`` for an unknown
        keyword.
        """
        parts = self._client_parts()
        saving = _Saving.of(store_kwargs)
        details = {"link_id": link_id, "link_timestamp": link_timestamp, "link_metadata": link_metadata}
        link = _link(memory_id_to_link, link_type, details)
        owners = _owners(parts, link, {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id})
        said = saving.timestamp if timestamp is NOT_SET else timestamp
        given = None if metadata is NOT_SET else check_metadata(metadata)
        new = NewMemory(
            content=_content(content, given),
            record_type="memory" if memory_type is NOT_SET else memory_type_of(memory_type),
            id=None if memory_id is NOT_SET else check_id("memory_id", memory_id),
            metadata=given,
            timestamp_text=_timestamp(said),
            lifetime=lifetime(ttl_days, ttl_anchor),
            valid=True if status is NOT_SET else _valid(status),
            index_texts=saving.index_texts,
            embeddings=saving.embeddings,
            **owners,
        )
        added = parts.backend.add_memory(new, link)
        if autonomous_linking is NOT_SET or autonomous_linking:
            _link_autonomously(parts, added)
        return added.id

    def update_memory(
        self,
        memory_id: str,
        content: str | NotSet = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        ttl_days: int | NotSet | None = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
        status: RecordStatus | str | NotSet = NOT_SET,
        *,
        index_texts: Sequence[str] | str | NotSet = NOT_SET,
        embeddings: Sequence[Any] | NotSet = NOT_SET,
    ) -> str:
        """Change what is given of a memory and return its id; metadata is replaced whole.

        A new lifetime counts from the memory's creation, or its timestamp. Raises ``KeyError`` for an unknown memory
        and ``ValueError`` for content None or another wrong value.
        """
        update = MemoryUpdate(
            content=None if content is NOT_SET else Given(_text("content", content)),
            metadata=None if metadata is NOT_SET else Given(check_metadata(metadata)),
            timestamp_text=None if timestamp is NOT_SET else Given(_timestamp(timestamp)),
            lifetime=None if ttl_days is NOT_SET and ttl_anchor is NOT_SET else lifetime(ttl_days, ttl_anchor),
            valid=None if status is NOT_SET else Given(_valid(status)),
            index_texts=None if index_texts is NOT_SET else Given(_texts(index_texts)),
            embeddings=None if embeddings is NOT_SET else Given(_vectors(embeddings)),
        )
        if update == MemoryUpdate():
            return memory_id
        return self._client_parts().backend.update_memory(memory_id, update).id

    def delete_memory(self, memory_id: str) -> int:
        """Delete a memory with its links; return 1, or 0 where there is none."""
        return int(self._client_parts().backend.delete_memory(memory_id).found)


@dataclass(frozen=True, slots=True)
class _Saving:
    """The keywords of a call that say how a memory is kept."""

    index_texts: tuple[str, ...] | None = None
    embeddings: tuple[tuple[float, ...], ...] | None = None
    timestamp: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> _Saving:
        unknown = sorted(given.keys() - _SAVING)
        if unknown:
            raise TypeError(f"add_memory() got an unexpected keyword argument {unknown[0]!r}")
        if "timestamps" in given:
            warnings.warn("timestamps is deprecated; use timestamp", DeprecationWarning, stacklevel=4)
        stamps = given.get("timestamps")
        texts, vectors = given.get("index_texts"), given.get("embeddings")
        return cls(
            index_texts=None if texts is None else _texts(texts),
            embeddings=None if vectors is None else _vectors(vectors),
            timestamp=_timestamp(stamps[0] if isinstance(stamps, list | tuple) and stamps else stamps),
        )


def _content(content: object, metadata: Metadata | None) -> str:
    """Return what a memory says; where that is None, what its metadata says under ``content``."""
    said = (metadata or {}).get("content") if content is None else content
    return _text("content", said)


def _text(name: str, value: object) -> str:
    if value is None:
        raise ValueError(f"{name} is None; give a text, which may be empty")
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {type(value).__name__}; give a text")
    return value


def _timestamp(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"timestamp is of type {type(value).__name__}; give a text such as '2026-05-01T10:00:00Z'")


def _valid(status: object) -> bool:
    try:
        return RecordStatus(str(status)) is RecordStatus.VALID
    except ValueError:
        known = ", ".join(repr(each.value) for each in RecordStatus)
        raise ValueError(f"status is {status!r}; use one of {known}") from None


def _texts(given: object) -> tuple[str, ...]:
    """Return the searched texts of one memory: one, several, or a list that holds the several of one memory."""
    if isinstance(given, str):
        return (given,)
    texts = list(given) if isinstance(given, list | tuple) else []
    if len(texts) == 1 and isinstance(texts[0], list | tuple):
        texts = list(texts[0])
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"index_texts is {given!r:.80}; give a text, or a list of texts")
    return tuple(texts)


def _vectors(given: Any) -> tuple[tuple[float, ...], ...]:
    """Return vectors, from one, from several, or from an array of them."""
    plain = given.tolist() if hasattr(given, "tolist") else given
    rows = list(plain) if isinstance(plain, list | tuple) else []
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    if rows and all(isinstance(value, int | float) for value in rows):
        rows = [rows]
    if len(rows) == 1 and isinstance(rows[0], list | tuple) and rows[0] and isinstance(rows[0][0], list | tuple):
        rows = list(rows[0])
    if not rows or not all(isinstance(row, list | tuple) for row in rows):
        raise ValueError(f"embeddings is {given!r:.80}; give a vector, or a list of vectors")
    return tuple(tuple(float(value) for value in row) for row in rows)


# --- links


def _link(target: str | NotSet, link_type: object, details: Mapping[str, object]) -> NewLink | None:
    """Return the link that a call asks for; ``ValueError`` where it asks for half of one."""
    named = [name for name in _LINK_DETAILS if details[name] is not NOT_SET]
    if (target is NOT_SET) != (link_type is NOT_SET):
        raise ValueError("memory_id_to_link and link_type make a link together; give both")
    if target is NOT_SET:
        if named:
            raise ValueError(f"{', '.join(named)} are of a link; give memory_id_to_link and link_type as well")
        return None
    relation = link_type_of(link_type)
    link_id, metadata = details["link_id"], details["link_metadata"]
    said = details["link_timestamp"]
    return NewLink(
        target_id=check_id("memory_id_to_link", target),
        relation=relation,
        inverse=opposite_of(relation),
        id=None if link_id is NOT_SET else check_id("link_id", link_id),
        timestamp_text=None if said is NOT_SET else _timestamp(said),
        metadata=None if metadata is NOT_SET else check_metadata(metadata),
    )


def _owners(parts: ClientParts, link: NewLink | None, given: Mapping[str, OptionalId]) -> dict[str, Any]:
    """Return the owners of a new memory: those given, else those of the memory that it is linked to."""
    owners: dict[str, Any] = {name: owner_of(name, value) for name, value in given.items()}
    if link is None:
        return owners
    target = parts.backend.get_memory(link.target_id)
    if target is None:
        raise KeyError(f"there is no memory {link.target_id!r} to link to")
    inherited = {name: getattr(target, name) for name, value in given.items() if value is NOT_SET}
    return {**owners, **inherited}


def _link_autonomously(parts: ClientParts, added: StoredMemory) -> None:
    """Have the model link a new memory; whatever fails, the memory stays."""
    llm = parts.llm
    if llm is None or isinstance(llm, str) or not added.content.strip():
        return
    try:
        for target_id, relation in _found_links(parts, llm, added):
            parts.backend.add_link(NewLink(target_id, relation, added.id, opposite_of(relation)))
    except Exception as error:  # noqa: BLE001 - a model raises what it likes; the memory is stored and holds
        logger.warning("links.failed", extra={"error": type(error).__name__})


def _found_links(parts: ClientParts, llm: ILlm, added: StoredMemory) -> Sequence[tuple[str, str]]:
    """Ask which known memories of exactly the same owners a new one bears on; without any nothing is asked."""
    search = ThreadSearch(
        query=added.content,
        k=MOST_RELATED + 1,
        scope=Scope(added.user_id or "", added.agent_id or "", added.thread_id or ""),
        record_types=MEMORY_TYPES,
        include_invalid=False,
    )
    found = [each.record for each in parts.backend.search(search) if each.record.id != added.id]
    related = [_related(each) for each in found if isinstance(each, StoredMemory)][:MOST_RELATED]
    outcome = linked(llm, [Said(added.content, added.record_type)], lambda text: related, ExtractorSettings())
    return outcome.memories[0].links


def _related(memory: StoredMemory) -> RelatedMemory:
    since: datetime = memory.event_time.astimezone(UTC)
    return RelatedMemory(memory.id, memory.kind, memory.content, since)
