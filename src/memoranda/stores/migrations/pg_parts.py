"""What the first schema has on PostgreSQL alone: vectors as pgvector compares them, and the wall between projects."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text

# A vector is stored once, as bytes like in every database; the database derives from them what pgvector compares. Half
# precision keeps whole numbers of a byte exactly. Bound when it is made, the function needs no search path.
_VECTORS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    """
    CREATE FUNCTION memoranda_codes(data bytea) RETURNS halfvec LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ARRAY(
        SELECT (get_byte(data, place) + 128) % 256 - 128 FROM generate_series(0, length(data) - 1) AS place
    )::integer[]::halfvec
    """,
    "ALTER TABLE vectors ADD COLUMN codes halfvec GENERATED ALWAYS AS (memoranda_codes(data)) STORED",
    # Vectors do not get smaller.
    "ALTER TABLE vectors ALTER COLUMN data SET STORAGE EXTERNAL",
)

PROJECT_SETTING = "memoranda.project"
"""The setting that names the project of a transaction."""

EVERY_PROJECT = " "
"""What the setting is where projects are looked through for work: no project's id, for none is blank.

It opens nothing but ``_DIRECTORY``, for reading.
"""

WALLED = (
    "blobs", "breakers", "changes", "documents", "failures", "feeds", "images", "jobs", "links", "loose_vectors",
    "memories", "memory_history", "memory_sources", "partition_counts", "postings", "profiles", "projects",
    "record_values", "saves", "sessions", "snapshots", "tombstones", "turns", "usage", "vector_packs", "vectors",
)  # fmt: skip
"""The tables with a wall; what a later migration adds builds its own."""

_DIRECTORY = ("changes", "failures", "jobs", "projects")


def _walls() -> Iterator[str]:
    for table in WALLED:
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"
        yield (
            f"CREATE POLICY {table}_of_project ON {table} "
            f"USING (project_id = (SELECT current_setting('{PROJECT_SETTING}', true)))"
        )
    for table in _DIRECTORY:
        yield (
            f"CREATE POLICY {table}_for_workers ON {table} FOR SELECT "
            f"USING ((SELECT current_setting('{PROJECT_SETTING}', true)) = '{EVERY_PROJECT}')"
        )


def add_pg_parts(connection: Connection) -> None:
    """Add them; nothing on other databases."""
    if connection.dialect.name == "postgresql":
        for statement in (*_VECTORS, *_walls()):
            connection.execute(text(statement))
