"""The first schema.

Generated from ``stores/schema.py`` and frozen: a later change of the schema is a migration of its own.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "blobs",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("mime_type", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("digest", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=True,
    )
    op.create_table(
        "documents",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("record_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("source", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("state", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("visibility", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("length", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("values", sa.Text(), nullable=True),
        sa.Column("vector_state", KEY, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "key"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "documents_awaiting_vectors",
        "documents",
        ["project_id", "source", "user_id", "session_id", "key"],
        unique=False,
        sqlite_where=sa.text("vector_state = 'pending'"),
        postgresql_where=sa.text("vector_state = 'pending'"),
    )
    op.create_index("documents_by_record", "documents", ["project_id", "record_id"], unique=False)
    op.create_index(
        "documents_expiring",
        "documents",
        ["project_id", "expires_at"],
        unique=False,
        sqlite_where=sa.text("expires_at IS NOT NULL"),
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
    op.create_table(
        "failures",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("job_kind", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("failure_class", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("retryable", sa.BigInteger(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("lane", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("extractor", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("embedder", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("raw_reply", sa.Text(), nullable=True),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("snapshot_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("first_seen", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_seen", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=True,
    )
    op.create_index("failures_by_class", "failures", ["project_id", "failure_class", "id"], unique=False)
    op.create_table(
        "images",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("turn_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("blob_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("event_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index("images_by_turn", "images", ["project_id", "turn_id"], unique=False)
    op.create_index("images_by_user", "images", ["project_id", "user_id", "key"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("state", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("lane", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("dedupe_key", KEY, nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("run_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("lease_token", KEY, nullable=True),
        sa.Column("lease_until", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("extractor", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("embedder", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=True,
    )
    op.create_index("jobs_due", "jobs", ["project_id", "state", "run_at", "seq"], unique=False)
    op.create_index("jobs_in_lane", "jobs", ["project_id", "lane", "seq"], unique=False)
    op.create_index(
        "jobs_pending_once",
        "jobs",
        ["project_id", "dedupe_key"],
        unique=True,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_table(
        "links",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("source_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("target_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("relation", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("inverse", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("event_time", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index("links_by_source", "links", ["project_id", "source_id", "target_id", "relation"], unique=True)
    op.create_index("links_by_target", "links", ["project_id", "target_id"], unique=False)
    op.create_table(
        "memories",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("record_type", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("domain", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("name", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("slot", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("visibility", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("status", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.Column("occurrences", sa.BigInteger(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.Column("event_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("valid_from", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("valid_to", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("origin", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=True,
    )
    op.create_index("memories_by_key", "memories", ["project_id", "key"], unique=True)
    op.create_index("memories_by_name", "memories", ["project_id", "kind", "domain", "name", "user_id"], unique=False)
    op.create_index("memories_by_user", "memories", ["project_id", "user_id", "kind", "key"], unique=False)
    op.create_index(
        "memories_in_slot",
        "memories",
        ["project_id", "kind", "user_id", "slot"],
        unique=True,
        sqlite_where=sa.text("status = 'current'"),
        postgresql_where=sa.text("status = 'current'"),
    )
    op.create_table(
        "memory_history",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("memory_id", KEY, nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("valid_to", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("recorded_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "memory_id", "version"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "memory_sources",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("memory_id", KEY, nullable=False),
        sa.Column("source_type", KEY, nullable=False),
        sa.Column("source_id", KEY, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "memory_id", "source_type", "source_id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "memory_sources_by_source",
        "memory_sources",
        ["project_id", "source_type", "source_id", "memory_id"],
        unique=False,
    )
    op.create_table(
        "partition_counts",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("source", KEY, nullable=False),
        sa.Column("state", KEY, nullable=False),
        sa.Column("visibility", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("records", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("total_length", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("generation", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "source", "state", "visibility", "user_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "postings",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("source", KEY, nullable=False),
        sa.Column("state", KEY, nullable=False),
        sa.Column("term", KEY, nullable=False),
        sa.Column("visibility", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tf", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("length", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.PrimaryKeyConstraint("project_id", "source", "state", "term", "visibility", "user_id", "key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "profiles",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("information", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "subject", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index("profiles_by_key", "profiles", ["project_id", "key"], unique=True)
    op.create_table(
        "projects",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("org_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("config", sa.Text(), nullable=True),
        sa.Column("analyser", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("embedder_model", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("embedder_fingerprint", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column(
            "embedder_dimension", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False
        ),
        sa.Column("next_key", sa.BigInteger(), server_default=sa.text("1"), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "record_values",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("type", KEY, nullable=False),
        sa.Column("text_value", KEY, nullable=False),
        sa.Column("number_value", sa.Float(), autoincrement=False, nullable=False),
        sa.Column("source", KEY, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "key", "name", "type", "text_value", "number_value"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "saves",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("idempotency_key", KEY, nullable=False),
        sa.Column("memory_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("digest", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "user_id", "idempotency_key"),
        sqlite_with_rowid=False,
    )
    op.create_index("saves_by_memory", "saves", ["project_id", "memory_id"], unique=False)
    op.create_table(
        "sessions",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("session_id", KEY, nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("promoted_seq", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("first_turn_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_turn_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("extraction_policy", sa.Text(), nullable=True),
        sa.Column("runtime_config", sa.Text(), nullable=True),
        sa.Column("runtime_state", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("project_id", "user_id", "session_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("sessions_by_id", "sessions", ["project_id", "session_id", "user_id"], unique=False)
    op.create_index(
        "sessions_unpromoted",
        "sessions",
        ["project_id", "last_turn_at"],
        unique=False,
        sqlite_where=sa.text("last_seq > promoted_seq"),
        postgresql_where=sa.text("last_seq > promoted_seq"),
    )
    op.create_table(
        "snapshots",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("last_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_count", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reason", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("state", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("topics", sa.Text(), nullable=True),
        sa.Column("extractor", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "snapshots_in_session", "snapshots", ["project_id", "user_id", "session_id", "first_seq"], unique=True
    )
    op.create_table(
        "tombstones",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, nullable=True),
        sa.Column("snapshot_id", KEY, nullable=True),
        sa.Column("upto_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "turns",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("turn_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("role", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("content", sa.Text(), nullable=True),
        sa.Column("parts", sa.Text(), nullable=True),
        sa.Column("model_name", sa.Text(), nullable=True),
        sa.Column("tool_calls", sa.Text(), nullable=True),
        sa.Column("tool_call_id", sa.Text(), nullable=True),
        sa.Column("tool_name", sa.Text(), nullable=True),
        sa.Column("is_error", sa.BigInteger(), server_default=sa.text("0"), autoincrement=False, nullable=False),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("idempotency_key", KEY, nullable=True),
        sa.Column("event_time", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("created_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("snapshot_id", KEY, nullable=True),
        sa.PrimaryKeyConstraint("project_id", "id"),
        sqlite_with_rowid=True,
    )
    op.create_index(
        "turns_idempotency",
        "turns",
        ["project_id", "user_id", "session_id", "idempotency_key"],
        unique=True,
        sqlite_where=sa.text("idempotency_key IS NOT NULL"),
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index("turns_in_session", "turns", ["project_id", "user_id", "session_id", "turn_seq"], unique=True)
    op.create_table(
        "vectors",
        sa.Column("project_id", KEY, nullable=False),
        sa.Column("source", KEY, nullable=False),
        sa.Column("state", KEY, nullable=False),
        sa.Column("visibility", KEY, nullable=False),
        sa.Column("user_id", KEY, nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("model", KEY, nullable=False),
        sa.Column("piece", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("session_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("agent_id", KEY, server_default=sa.text("''"), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), autoincrement=False, nullable=True),
        sa.Column("scale", sa.Float(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "source", "state", "visibility", "user_id", "key", "model", "piece"),
        sqlite_with_rowid=False,
    )
