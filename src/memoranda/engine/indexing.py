"""What of a record is searchable and filterable: its text, its values and its place in the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.filters import ValueType, metadata_value, typed_value, typed_values
from memoranda.engine.records import (
    EPISODIC,
    IMAGE,
    ORG,
    PRIVATE,
    PROCEDURAL,
    PROFILE,
    SEMANTIC,
    STM,
    TAXONOMIC,
    Image,
    IndexedValue,
    IndexEntry,
    IndexState,
    JsonObject,
    JsonValue,
    MemoryRecord,
    MemoryStatus,
    Profile,
    Turn,
    VectorState,
)

TAG_VALUE: Final = "$tag"
DOMAIN_VALUE: Final = "$domain"
INDEX_TEXTS: Final = "$index_texts"
"""The field of a memory's body with the texts that are searched in place of its content."""


def entry_for_turn(turn: Turn, analyser: Analyser, config: ProjectConfig, *, embed: bool = False) -> IndexEntry:
    """Return a turn's index entry; with ``embed`` it waits for a vector."""
    text = turn_text(turn)
    analysed = analyser.analyse(text)
    return IndexEntry(
        key=turn.key,
        record_id=turn.id,
        source=STM,
        state=IndexState.CURRENT,
        visibility=PRIVATE,
        user_id=turn.user_id,
        agent_id=turn.agent_id,
        session_id=turn.session_id,
        terms=analysed.terms,
        length=analysed.length,
        values=tuple(_declared(turn.metadata, config)) if turn.metadata and config.metadata_partition_key else (),
        expires_at=turn.expires_at,
        vector_state=_vector_state(text, embed),
    )


def entry_for_memory(
    record: MemoryRecord, analyser: Analyser, config: ProjectConfig, *, embed: bool = False
) -> IndexEntry:
    """Return a memory's index entry; with ``embed`` it waits for a vector."""
    text = memory_text(record)
    analysed = analyser.analyse(text)
    current = record.status is MemoryStatus.CURRENT
    return IndexEntry(
        key=record.key,
        record_id=record.id,
        source=record.kind,
        state=IndexState.CURRENT if current else IndexState.SUPERSEDED,
        visibility=record.visibility,
        user_id=record.user_id,
        agent_id=record.agent_id,
        session_id=record.session_id,
        terms=analysed.terms,
        length=analysed.length,
        values=memory_values(record, config),
        expires_at=record.expires_at,
        vector_state=_vector_state(text, embed),
    )


def entry_for_profile(
    profile: Profile, analyser: Analyser, config: ProjectConfig, *, embed: bool = False
) -> IndexEntry:
    """Return a profile's index entry: a user's is private to the user, an agent's is for the project."""
    analysed = analyser.analyse(profile.information)
    is_user = profile.subject == "user"
    return IndexEntry(
        key=profile.key,
        record_id=f"{profile.subject}:{profile.id}",
        source=PROFILE,
        state=IndexState.CURRENT,
        visibility=PRIVATE if is_user else ORG,
        user_id=profile.id if is_user else "",
        agent_id="" if is_user else profile.id,
        session_id="",
        terms=analysed.terms,
        length=analysed.length,
        values=tuple(_declared(profile.metadata or {}, config)),
        vector_state=_vector_state(profile.information, embed),
    )


def entry_for_image(image: Image, analyser: Analyser, config: ProjectConfig, *, embed: bool = False) -> IndexEntry:
    """Return an image's index entry, under its description; a user's is private to the user."""
    analysed = analyser.analyse(image.description)
    return IndexEntry(
        key=image.key,
        record_id=image.id,
        source=IMAGE,
        state=IndexState.CURRENT,
        visibility=PRIVATE if image.user_id else ORG,
        user_id=image.user_id,
        agent_id=image.agent_id,
        session_id=image.session_id,
        terms=analysed.terms,
        length=analysed.length,
        values=tuple(_declared(image.metadata or {}, config)),
        expires_at=image.expires_at,
        vector_state=_vector_state(image.description, embed),
    )


def _vector_state(text: str, embed: bool) -> VectorState:
    return VectorState.PENDING if embed and text.strip() else VectorState.NONE


def turn_text(turn: Turn) -> str:
    """Return what of a turn is searched and embedded: the content and the tool's name."""
    if turn.tool_name:
        return f"{turn.tool_name}\n{turn.content or ''}"
    return turn.content or ""


def memory_text(record: MemoryRecord) -> str:
    """Return what of a memory is searched and embedded: texts of the caller's own, else what its kind says."""
    own = record.body.get(INDEX_TEXTS)
    parts = _all_strings(own) if own else _parts(record)
    return "\n".join(part for part in parts if part)


def _parts(record: MemoryRecord) -> Iterator[str]:
    body = record.body
    match record.kind:
        case kind if kind == SEMANTIC:
            yield from (record.name, record.content)
        case kind if kind == EPISODIC:
            yield from (*_strings(body, "title", "summary"), record.content, *_strings(body, "participants"))
        case kind if kind == TAXONOMIC:
            yield taxonomic_text(record)
            yield from _strings(body, "related_terms")
        case kind if kind == PROCEDURAL:
            yield from (record.name, *_strings(body, "description"), record.content)
            yield from _strings(body, "trigger_conditions", "steps")
        case _:
            yield from (record.content, *_strings(body, "tags"))


def taxonomic_text(record: MemoryRecord) -> str:
    """Return a term the way results show it: ``domain/term: definition``."""
    return f"{record.domain}/{record.name}: {record.content}"


def _strings(body: JsonObject, *names: str) -> Iterator[str]:
    for name in names:
        yield from _all_strings(body.get(name))


def _all_strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _all_strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _all_strings(item)


def memory_values(record: MemoryRecord, config: ProjectConfig) -> tuple[IndexedValue, ...]:
    """Return a memory's filterable values: declared metadata keys, its domain and its tags, each once."""
    found = [*_declared(record.metadata or {}, config), *_tags(record.body.get("tags"))]
    if record.domain:
        found.append(IndexedValue(DOMAIN_VALUE, ValueType.STRING.value, record.domain))
    return tuple(dict.fromkeys(found))


def _declared(metadata: JsonObject, config: ProjectConfig) -> Iterator[IndexedValue]:
    for key in config.metadata_partition_key:
        for value in typed_values(metadata_value(metadata, key.name), key.type):
            yield IndexedValue(key.name, key.type, value)


def _tags(tags: JsonValue) -> Iterable[IndexedValue]:
    """Return a list of words as ``$tag``, and the tags of a custom type each under its own path."""
    if isinstance(tags, Mapping):
        return [
            IndexedValue(f"{TAG_VALUE}.{path}", kind, value)
            for path, raw in tags.items()
            for kind, value in _typed_tag(raw)
        ]
    words = tags if isinstance(tags, list | tuple) else ()
    return [IndexedValue(TAG_VALUE, ValueType.STRING.value, word) for word in words if isinstance(word, str)]


def _typed_tag(value: JsonValue) -> Iterator[tuple[str, str | int | float | bool]]:
    for kind in (ValueType.BOOLEAN, ValueType.NUMBER, ValueType.STRING):
        found = typed_value(value, kind.value)
        if found is not None:
            yield kind.value, found
