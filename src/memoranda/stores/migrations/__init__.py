"""Schema creation and migration. Migrations are numbered and never edited once released."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from memoranda.stores.migrations.pg_parts import add_pg_parts
from memoranda.stores.schema import SCHEMA_VERSION, metadata


def create(connection: Connection) -> None:
    """Create the current schema in an empty database and record its version."""
    metadata.create_all(connection, checkfirst=False)
    add_pg_parts(connection)
    connection.execute(
        text(
            "CREATE TABLE alembic_version ("
            "version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:version)"), {"version": SCHEMA_VERSION})


def upgrade(connection: Connection, target: str = "head") -> None:
    """Run the migrations that are due, inside the caller's transaction."""
    # Alembic costs as much to import as opening a store does; it is needed only when a migration is due.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
