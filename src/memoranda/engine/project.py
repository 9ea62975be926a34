"""Opening a project: what is fixed by its first use is compared, what may change is stored.

Fixed are the analyser (its terms are in the index), the embedding model (its vectors are), and what the configuration
writes once. Everything is checked before anything is written.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memoranda.engine.config import ProjectConfig, check_change
from memoranda.engine.jobs.queue import backfill_job
from memoranda.engine.ports import Clock, Embedder, Store, Transaction
from memoranda.engine.records import BUILT_IN_KINDS, IMAGE, STM, ProjectRow
from memoranda.engine.text import require_storable_id
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryEmbedderMismatchError

logger = logging.getLogger(__name__)

MAX_PROJECT_ID = 200


@dataclass(frozen=True, slots=True)
class OpenedProject:
    """A project's row and configuration as they are in force."""

    row: ProjectRow
    config: ProjectConfig


def check_project_id(project_id: str) -> str:
    """Return the project's id; ``MemoryBadRequestError`` for one that is blank, too long or not valid Unicode."""
    if not project_id.strip() or len(project_id) > MAX_PROJECT_ID:
        raise MemoryBadRequestError(
            f"project_id {project_id[:40]!r} cannot be used: give 1 to {MAX_PROJECT_ID} characters, not all blank"
        )
    return require_storable_id("project_id", project_id)


def stored_config(row: ProjectRow | None) -> ProjectConfig:
    """Return the configuration that the project was last opened with, the defaults for a new one."""
    if row is None or row.config is None:
        return ProjectConfig()
    return ProjectConfig.from_json(json.dumps(row.config))


def open_project(
    store: Store,
    project_id: str,
    *,
    config: ProjectConfig | None,
    analyser_version: str,
    embedder: Embedder | None,
    clock: Clock,
) -> OpenedProject:
    """Compare and store what the project is opened with; without a ``config`` the stored one stays in force.

    Raises ``MemoryEmbedderMismatchError``, ``MemoryConflictError`` (another analyser) or ``ConfigChangeError``.
    """
    with store.read(project_id) as tx:
        found = tx.projects.get()
    # Most openings change nothing, and then take no write lock.
    if found is not None and _wanted(found, config, analyser_version, embedder) == found:
        return OpenedProject(found, stored_config(found))
    with store.write(project_id) as tx:
        before = tx.projects.get()
        new = before or ProjectRow(project_id=project_id, created_at=clock.now())
        row = _wanted(new, config, analyser_version, embedder)
        added = (
            []
            if before is None
            else sorted(set(stored_config(row).filter_keys) - set(stored_config(before).filter_keys))
        )
        if added:
            row = _back_fill(tx, row, added, clock)
        if before is not None and row.embedder_model != before.embedder_model:
            _walk_index(tx, row, clock)  # what was written without an embedder has no vectors yet
        tx.projects.put(row)
    return OpenedProject(row, stored_config(row))


def _wanted(
    row: ProjectRow, config: ProjectConfig | None, analyser_version: str, embedder: Embedder | None
) -> ProjectRow:
    """Return the row as this opening would leave it, or raise for what it may not change."""
    if config is not None:
        check_change(stored_config(row), config)
        row = replace(row, config=json.loads(config.to_json()))
    _check_analyser(row, analyser_version)
    return _with_embedder(replace(row, analyser=analyser_version), embedder)


def _check_analyser(row: ProjectRow, version: str) -> None:
    mark = row.rebuilding.get("reindex")
    if mark is not None:
        raise MemoryConflictError(
            f"project {row.project_id!r} is being indexed anew, by analyser {mark.get('analyser')!r}: wait until "
            "`memoranda reindex` is done, or run it again where it was interrupted",
            code="REINDEXING",
        )
    if row.analyser not in ("", version):
        language = stored_config(row).analyser.language
        raise MemoryConflictError(
            f"project {row.project_id!r} was indexed by analyser {row.analyser!r}, this process has {version!r}: open "
            "it with the versions and the language it was made with, or index it anew: "
            f"memoranda reindex --language {language}",
            code="ANALYSER_MISMATCH",
        )


def _with_embedder(row: ProjectRow, embedder: Embedder | None) -> ProjectRow:
    if embedder is None or _is_recorded(row, embedder):
        return row
    if row.embedder_model:
        recorded = _named(row.embedder_model, row.embedder_fingerprint, row.embedder_dimension)
        given = _named(embedder.model_id, embedder.fingerprint, embedder.dimension)
        raise MemoryEmbedderMismatchError(
            f"project {row.project_id!r} holds vectors of {recorded}, it was opened with {given}: "
            "open it with the recorded embedder, or give it new vectors: memoranda reembed --embedder NAME",
        )
    return with_embedder(row, vectors_name(row, embedder), embedder)


def with_embedder(row: ProjectRow, name: str, embedder: Embedder) -> ProjectRow:
    """Return the row with this embedder as the recorded one; ``name`` is that of its set of vectors."""
    return replace(
        row, embedder_model=name, embedder_fingerprint=embedder.fingerprint, embedder_dimension=embedder.dimension
    )


def vectors_name(row: ProjectRow, embedder: Embedder) -> str:
    """Return what an embedder's set of vectors is called in a project: its model's id.

    Where the recorded set has that name and was made with other weights or another dimension, a mark tells them apart.
    """
    if _is_recorded(row, embedder):
        return row.embedder_model
    return embedder.model_id if row.embedder_model != embedder.model_id else _marked_name(embedder)


def _marked_name(embedder: Embedder) -> str:
    made = f"{embedder.fingerprint}\n{embedder.dimension}".encode()
    return f"{embedder.model_id}@{hashlib.blake2b(made, digest_size=4).hexdigest()}"


def _is_recorded(row: ProjectRow, embedder: Embedder) -> bool:
    same = (embedder.fingerprint, embedder.dimension) == (row.embedder_fingerprint, row.embedder_dimension)
    return same and row.embedder_model in (embedder.model_id, _marked_name(embedder))


def _named(model: str, fingerprint: str, dimension: int) -> str:
    return f"{model!r} ({dimension} dimensions, weights {fingerprint or 'unnamed'})"


def _back_fill(tx: Transaction, row: ProjectRow, added: Sequence[str], clock: Clock) -> ProjectRow:
    """Have jobs fill in the values of filter keys that are declared after records were written."""
    logger.info("filter_keys.added", extra={"keys": list(added)})
    return replace(row, filling={**row.filling, **dict.fromkeys(added, _walk_index(tx, row, clock))})


def _walk_index(tx: Transaction, row: ProjectRow, clock: Clock) -> tuple[str, ...]:
    sources = searched_sources(stored_config(row))
    for source in sources:
        tx.jobs.enqueue(backfill_job(source, now=clock.now()))
    return sources


def after_filling(row: ProjectRow, source: str) -> ProjectRow:
    """Return the row once a source's records have the values of every declared key."""
    left = {name: [other for other in sources if other != source] for name, sources in row.filling.items()}
    return replace(row, filling={name: sources for name, sources in left.items() if sources})


def check_filled(row: ProjectRow, source: str, names: Iterable[str]) -> None:
    """Raise ``MemoryConflictError`` for a filter on a key that a source's records do not have yet."""
    missing = sorted(name for name in names if source in row.filling.get(name, ()))
    if missing:
        raise MemoryConflictError(
            f"filter key {missing[0]!r} was declared later and is still being filled in for {source!r}: wait until the "
            "background work is done (wait_until_idle) and ask again",
            code="FILTER_KEY_FILLING",
        )


def searched_kinds(config: ProjectConfig) -> tuple[str, ...]:
    """Return the kinds of memory of a project, its custom types included."""
    return (*BUILT_IN_KINDS, *(custom.name for custom in config.custom_memory_types))


def searched_sources(config: ProjectConfig) -> tuple[str, ...]:
    """Return every source of a project whose records have filterable values."""
    return (STM, *searched_kinds(config), IMAGE)
