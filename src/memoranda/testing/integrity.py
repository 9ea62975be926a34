"""Counts a SQLite store again from its records: what is derived must be exactly what the records say."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator

from memoranda.engine.natural_keys import slot_of

Rows = list[tuple[object, ...]]
Finding = Iterator[str]


def check(path: str | os.PathLike[str]) -> list[str]:
    """Return everything that is inconsistent in a store file, as sentences; empty when it is sound.

    Reads the file beside whoever has it open. Takes time and memory in proportion to the store.
    """
    connection = sqlite3.connect(f"file:{os.fspath(path)}?mode=ro", uri=True)
    connection.create_function("pack_of", 3, _pack_of, deterministic=True)
    try:
        connection.execute("BEGIN")
        return [finding for rule in _RULES for finding in rule(connection)]
    finally:
        connection.close()


def _all(connection: sqlite3.Connection, sql: str) -> Rows:
    return connection.execute(sql).fetchall()


def _file_is_sound(connection: sqlite3.Connection) -> Finding:
    for (answer,) in _all(connection, "PRAGMA integrity_check"):
        if answer != "ok":
            yield f"SQLite finds the file damaged: {answer}"


_RECORDS = """
    SELECT project_id, key, id, 'stm', 'c', 'private', user_id, agent_id, session_id, expires_at FROM turns
    UNION ALL
    SELECT project_id, key, id, kind, CASE status WHEN 'current' THEN 'c' ELSE 's' END, visibility, user_id, agent_id,
           session_id, expires_at FROM memories
    UNION ALL
    SELECT project_id, key, 'user:' || id, 'profile', 'c', 'private', id, '', '', NULL
    FROM profiles WHERE subject = 'user'
    UNION ALL
    SELECT project_id, key, 'agent:' || id, 'profile', 'c', 'org', '', id, '', NULL
    FROM profiles WHERE subject = 'agent'
    UNION ALL
    SELECT project_id, key, id, 'image', 'c', CASE user_id WHEN '' THEN 'org' ELSE 'private' END, user_id, agent_id,
           session_id, expires_at
    FROM images
"""
_DOCUMENTS = """
    SELECT project_id, key, record_id, source, state, visibility, user_id, agent_id, session_id, expires_at
    FROM documents
"""


def _every_record_has_its_document(connection: sqlite3.Connection) -> Finding:
    records, documents = set(_all(connection, _RECORDS)), set(_all(connection, _DOCUMENTS))
    for row in sorted(map(str, records - documents)):
        yield f"a record has no document that agrees with it: {row}"
    for row in sorted(map(str, documents - records)):
        yield f"a document has no record that agrees with it: {row}"


def _postings_are_those_of_the_documents(connection: sqlite3.Connection) -> Finding:
    place = "source, state, visibility, user_id, agent_id, session_id, expires_at, length"
    expected = {
        (project, key, term, *where)
        for project, key, terms, *where in _all(connection, f"SELECT project_id, key, terms, {place} FROM documents")
        for term in (str(terms).split(" ") if terms else ())
    }
    found = set(_all(connection, f"SELECT project_id, key, term, {place} FROM postings"))
    for row in sorted(map(str, expected - found)):
        yield f"a posting is missing: {row}"
    for row in sorted(map(str, found - expected)):
        yield f"a posting belongs to no document: {row}"


def _counts_are_those_of_the_documents(connection: sqlite3.Connection) -> Finding:
    partition = "project_id, source, state, visibility, user_id"
    counted = _all(connection, f"SELECT {partition}, count(*), sum(length) FROM documents GROUP BY {partition}")
    expected = {row[:5]: row[5:] for row in counted}
    kept = _all(connection, f"SELECT {partition}, records, total_length FROM partition_counts")
    found = {row[:5]: row[5:] for row in kept if row[5:] != (0, 0)}
    for where in sorted(expected.keys() | found.keys(), key=str):
        one, other = expected.get(where, (0, 0)), found.get(where, (0, 0))
        if one != other:
            yield f"counts of {where} are {other}, the documents say {one}"


def _vectors_belong_to_documents(connection: sqlite3.Connection) -> Finding:
    place = "project_id, key, source, state, visibility, user_id, agent_id, session_id, expires_at"
    documents = {tuple(row): state for *row, state in _all(connection, f"SELECT {place}, vector_state FROM documents")}
    every = set(_all(connection, f"SELECT DISTINCT {place} FROM vectors"))
    for row in sorted(map(str, every - documents.keys())):
        yield f"a vector belongs to no document: {row}"
    # While a project is re-embedded it has a second set, of which its documents do not speak.
    recorded = "(project_id, model) IN (SELECT project_id, embedder_model FROM projects)"
    vectors = set(_all(connection, f"SELECT DISTINCT {place} FROM vectors WHERE {recorded}"))
    for where, state in documents.items():
        if (state == "present") != (where in vectors):
            yield f"a document says that its vector is {state!r}, which is not so: {where}"


def _shared_vectors_are_packed_or_loose(connection: sqlite3.Connection) -> Finding:
    """A vector of a visibility that is packed is in exactly one pack, as it is in its row, or it is loose."""
    place = "project_id, source, state, visibility, user_id, model"
    rows: dict[tuple[object, ...], list[object]] = defaultdict(list)
    shared = "visibility IN ('org', 'shared') ORDER BY key, piece"
    for *where, key, end, data in _all(
        connection, f"SELECT {place}, key, expires_at, data FROM vectors WHERE {shared}"
    ):
        rows[(*where, key)].append((end, data))
    copies: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for *where, packed in _all(connection, f"SELECT {place}, pack_of(keys, ends, data) FROM vector_packs"):
        for key, end, data in json.loads(str(packed)):
            copies[(*where, key)].append((end, bytes.fromhex(data)))
    loose = set(_all(connection, f"SELECT {place}, key FROM loose_vectors"))
    for row in sorted(map(str, loose - rows.keys())):
        yield f"a vector is loose that is not there: {row}"
    for found in sorted(rows.keys() | copies.keys(), key=str):
        if copies.get(found, []) != ([] if found in loose else rows.get(found, [])):
            yield f"the packs do not hold what the rows do: {found}"


def _pack_of(keys: bytes, ends: bytes | None, data: bytes) -> str:
    """Return the pieces of a pack as JSON: (key, end, vector in hex)."""
    members = [number for (number,) in struct.iter_unpack("<q", keys)]
    times = [None] * len(members) if ends is None else [_time(end) for (end,) in struct.iter_unpack("<q", ends)]
    width = len(data) // len(members)
    pieces = [data[start : start + width].hex() for start in range(0, len(data), width)]
    return json.dumps(list(zip(members, times, pieces, strict=True)))


def _time(end: int) -> int | None:
    return None if end == 2**63 - 1 else end


def _values_are_those_of_the_documents(connection: sqlite3.Connection) -> Finding:
    expected = {
        (project, key, source, name, kind, value if isinstance(value, str) else "", _number(value))
        for project, key, source, values in _all(
            connection, 'SELECT project_id, key, source, "values" FROM documents WHERE "values" IS NOT NULL'
        )
        for name, kind, value in json.loads(str(values))
    }
    sql = "SELECT project_id, key, source, name, type, text_value, number_value FROM record_values"
    found = set(_all(connection, sql))
    for row in sorted(map(str, expected ^ found)):
        yield f"a filterable value is not on both sides: {row}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _turn_numbers_are_their_sessions(connection: sqlite3.Connection) -> Finding:
    place = "project_id, user_id, session_id"
    sessions = {row[:3]: row[3:] for row in _all(connection, f"SELECT {place}, last_seq, promoted_seq FROM sessions")}
    numbers: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for *where, seq in _all(connection, f"SELECT {place}, turn_seq FROM turns"):
        numbers[tuple(where)].append(int(str(seq)))
    for session, found in numbers.items():
        last, promoted = sessions.get(session, (0, 0))
        if len(set(found)) != len(found):
            yield f"a turn number was given twice in {session}"
        if max(found) > int(str(last)) or int(str(promoted)) > int(str(last)):
            yield f"session {session} says last {last}, promoted {promoted}; its turns go to {max(found)}"


def _promoted_turns_are_in_a_snapshot(connection: sqlite3.Connection) -> Finding:
    sql = """
        SELECT turns.project_id, turns.id, turns.turn_seq, turns.snapshot_id, sessions.promoted_seq,
               snapshots.first_seq, snapshots.last_seq
        FROM turns
        JOIN sessions USING (project_id, user_id, session_id)
        LEFT JOIN snapshots ON snapshots.project_id = turns.project_id AND snapshots.id = turns.snapshot_id
    """
    for project, turn, seq, snapshot, promoted, first, last in _all(connection, sql):
        inside = first is not None and int(str(first)) <= int(str(seq)) <= int(str(last))
        if (snapshot is not None and not inside) or (snapshot is not None) != (int(str(seq)) <= int(str(promoted))):
            held = f"snapshot {snapshot} ({first} to {last})"
            yield f"turn {turn} of {project} (number {seq}, promoted to {promoted}) is in {held}"


def _snapshots_do_not_overlap(connection: sqlite3.Connection) -> Finding:
    sql = "SELECT project_id, user_id, session_id, first_seq, last_seq FROM snapshots ORDER BY 1, 2, 3, 4"
    reached: dict[tuple[object, ...], int] = {}
    for *where, first, last in _all(connection, sql):
        if int(str(first)) <= reached.get(tuple(where), 0):
            yield f"two snapshots of {where} share turn {first}"
        reached[tuple(where)] = int(str(last))


def _pending_snapshots_have_their_job(connection: sqlite3.Connection) -> Finding:
    sql = "SELECT project_id, payload FROM jobs WHERE kind = 'extract'"
    waiting = {(project, json.loads(str(payload)).get("snapshot_id")) for project, payload in _all(connection, sql)}
    for project, snapshot in _all(connection, "SELECT project_id, id FROM snapshots WHERE state = 'pending'"):
        if (project, snapshot) not in waiting:
            yield f"snapshot {snapshot} of {project} is pending and no job will extract it"


def _what_belongs_to_a_memory_has_one(connection: sqlite3.Connection) -> Finding:
    memories = set(_all(connection, "SELECT project_id, id FROM memories"))
    for table, column in [
        ("memory_history", "memory_id"),
        ("memory_sources", "memory_id"),
        ("saves", "memory_id"),
        ("links", "source_id"),
        ("links", "target_id"),
    ]:
        for row in _all(connection, f"SELECT DISTINCT project_id, {column} FROM {table}"):
            if row not in memories:
                yield f"{table}.{column} names a memory that is gone: {row}"


def _images_have_their_bytes(connection: sqlite3.Connection) -> Finding:
    blobs = set(_all(connection, "SELECT project_id, id FROM blobs"))
    named = set(_all(connection, "SELECT project_id, blob_id FROM images"))
    turns = set(_all(connection, "SELECT project_id, id FROM turns"))
    for row in sorted(map(str, blobs ^ named)):
        yield f"bytes and image are not both there: {row}"
    parts = set(_all(connection, "SELECT project_id, turn_id FROM images WHERE turn_id <> ''"))
    for row in sorted(map(str, parts - turns)):
        yield f"an image is part of a turn that is gone: {row}"


def _slots_are_those_of_the_names(connection: sqlite3.Connection) -> Finding:
    sql = "SELECT project_id, id, kind, domain, name, slot FROM memories"
    for project, memory, kind, domain, name, slot in _all(connection, sql):
        if slot not in (memory, slot_of(str(kind), str(domain), str(name))):
            yield f"memory {memory} of {project} is in a slot that is neither its own nor its name's"


def _keys_are_below_the_next(connection: sqlite3.Connection) -> Finding:
    sql = """
        SELECT projects.project_id, next_key, max(documents.key) FROM projects JOIN documents USING (project_id)
        GROUP BY projects.project_id
    """
    for project, following, highest in _all(connection, sql):
        if int(str(highest)) >= int(str(following)):
            yield f"project {project} will give key {following} again: {highest} is in use"


def _positions_are_those_that_were_given(connection: sqlite3.Connection) -> Finding:
    feeds = {
        row[0]: row[1:] for row in _all(connection, "SELECT project_id, last_position, pruned_position FROM feeds")
    }
    sql = """
        SELECT project_id, min(position), max(position), count(position), count(DISTINCT position) FROM changes
        WHERE position IS NOT NULL GROUP BY project_id
    """
    for project, first, last, entries, positions in _all(connection, sql):
        given, pruned = (int(str(end)) for end in feeds.get(project, (0, 0)))
        if not pruned < int(str(first)) <= int(str(last)) <= given or entries != positions:
            yield f"feed of {project} goes from {first} to {last}; given are {given}, pruned {pruned}"


_RULES: tuple[Callable[[sqlite3.Connection], Finding], ...] = (
    _file_is_sound,
    _every_record_has_its_document,
    _postings_are_those_of_the_documents,
    _counts_are_those_of_the_documents,
    _vectors_belong_to_documents,
    _shared_vectors_are_packed_or_loose,
    _values_are_those_of_the_documents,
    _turn_numbers_are_their_sessions,
    _promoted_turns_are_in_a_snapshot,
    _snapshots_do_not_overlap,
    _pending_snapshots_have_their_job,
    _what_belongs_to_a_memory_has_one,
    _images_have_their_bytes,
    _slots_are_those_of_the_names,
    _keys_are_below_the_next,
    _positions_are_those_that_were_given,
)
