"""One relational schema for all databases (design.md section 4, design-storage.md).

Every primary key, unique key and index is led by ``project_id``, but for the key of the table that is read before a
project is known (``CONTROL_TABLES``); no foreign key crosses a project. Times are integer microseconds since the Unix
epoch, UTC; JSON is text in UTF-8; an absent identity is the empty string.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary

from memoranda.stores.background_schema import breakers, changes, failures, feeds, jobs, usage
from memoranda.stores.columns import KEY, metadata, partial_index
from memoranda.stores.columns import identity_columns as _identity
from memoranda.stores.columns import int_column as _int
from memoranda.stores.columns import key_column as _key
from memoranda.stores.columns import project_column as _project
from memoranda.stores.columns import table as _table
from memoranda.stores.columns import text_column as _text
from memoranda.stores.pack_schema import loose_vectors, vector_packs

__all__ = [
    "CONTROL_TABLES",
    "KEY",
    "SCHEMA_VERSION",
    "blobs",
    "breakers",
    "changes",
    "documents",
    "failures",
    "feeds",
    "images",
    "jobs",
    "links",
    "loose_vectors",
    "memories",
    "memory_history",
    "memory_sources",
    "metadata",
    "partition_counts",
    "postings",
    "profiles",
    "projects",
    "record_values",
    "saves",
    "service_accounts",
    "sessions",
    "snapshots",
    "tombstones",
    "turns",
    "usage",
    "vector_packs",
    "vectors",
]

SCHEMA_VERSION = "0001"

CONTROL_TABLES = frozenset({"service_accounts"})
"""Tables of the control plane: small, found by another key than the project's, whole on each machine of a cluster."""

projects = _table(
    "projects",
    _project(),
    _key("org_id"),
    _int("created_at"),
    _text("config", optional=True),
    _text("pending_config", optional=True),
    _key("analyser"),
    _key("embedder_model"),
    _key("embedder_fingerprint"),
    _int("embedder_dimension", default=0),
    _text("filling", optional=True),
    _text("rebuilding", optional=True),
    _int("next_key", default=1),
)

sessions = _table(
    "sessions",
    _project(),
    _key("user_id", primary=True),
    _key("session_id", primary=True),
    _key("agent_id"),
    _int("last_seq", default=0),
    _int("promoted_seq", default=0),
    _int("first_turn_at"),
    _int("last_turn_at"),
    _int("created_at"),
    _int("updated_at"),
    _text("metadata", optional=True),
    _text("extraction_policy", optional=True),
    _text("runtime_config", optional=True),
    _text("runtime_state", optional=True),
    _text("summary", optional=True),
    Index("sessions_by_id", "project_id", "session_id", "user_id"),
    partial_index(
        # Not by time: the entry would move with every turn.
        "sessions_unpromoted",
        "project_id",
        "user_id",
        "session_id",
        where="last_seq > promoted_seq",
    ),
)

turns = _table(
    "turns",
    _project(),
    _key("id", primary=True),
    _int("key"),
    *_identity(),
    _int("turn_seq"),
    _key("role"),
    _text("content", optional=True),
    _text("parts", optional=True),
    _text("model_name", optional=True),
    _text("tool_calls", optional=True),
    _text("tool_call_id", optional=True),
    _text("tool_name", optional=True),
    _int("is_error", default=0),
    _text("metadata", optional=True),
    Column("idempotency_key", KEY),
    _int("event_time"),
    _int("created_at"),
    _int("updated_at"),
    _int("expires_at", optional=True),
    Column("snapshot_id", KEY),
    Index("turns_in_session", "project_id", "user_id", "session_id", "turn_seq", unique=True),
    partial_index(
        "turns_idempotency",
        "project_id",
        "user_id",
        "session_id",
        "idempotency_key",
        unique=True,
        where="idempotency_key IS NOT NULL",
    ),
    partial_index(
        "turns_in_snapshot",
        "project_id",
        "snapshot_id",
        where="snapshot_id IS NOT NULL",
    ),
    clustered=False,
)

snapshots = _table(
    "snapshots",
    _project(),
    _key("id", primary=True),
    *_identity(),
    _int("first_seq"),
    _int("last_seq"),
    _int("message_count"),
    _key("reason"),
    _key("state"),
    _text("summary", optional=True),
    _text("topics", optional=True),
    _key("extractor"),
    _int("created_at"),
    _int("updated_at"),
    _int("expires_at", optional=True),
    Index("snapshots_in_session", "project_id", "user_id", "session_id", "first_seq", unique=True),
)

memories = _table(
    "memories",
    _project(),
    _key("id", primary=True),
    _int("key"),
    _key("kind"),
    _key("record_type"),
    _key("domain"),
    _key("name"),
    _key("slot"),
    _text("content"),
    _text("body", optional=True),
    *_identity(),
    _key("visibility"),
    _text("metadata", optional=True),
    _key("status"),
    _int("version", default=1),
    _int("occurrences", default=1),
    _int("event_time"),
    _int("valid_from"),
    _int("valid_to", optional=True),
    _int("expires_at", optional=True),
    _key("origin"),
    _text("provenance", optional=True),
    _int("created_at"),
    _int("updated_at"),
    Index("memories_by_key", "project_id", "key", unique=True),
    Index("memories_by_name", "project_id", "kind", "domain", "name", "user_id"),
    Index("memories_by_user", "project_id", "user_id", "kind", "key"),
    partial_index(
        "memories_in_slot",
        "project_id",
        "kind",
        "user_id",
        "slot",
        unique=True,
        where="status = 'current'",
    ),
    clustered=False,
)

memory_history = _table(
    "memory_history",
    _project(),
    _key("memory_id", primary=True),
    _int("version", primary=True),
    _text("state"),
    _int("valid_from"),
    _int("valid_to", optional=True),
    _int("recorded_at"),
)

memory_sources = _table(
    "memory_sources",
    _project(),
    _key("memory_id", primary=True),
    _key("source_type", primary=True),
    _key("source_id", primary=True),
    Index("memory_sources_by_source", "project_id", "source_type", "source_id", "memory_id"),
)

saves = _table(
    "saves",
    _project(),
    _key("user_id", primary=True),
    _key("idempotency_key", primary=True),
    _key("memory_id"),
    _key("digest"),
    _int("created_at"),
    Index("saves_by_memory", "project_id", "memory_id"),
)

links = _table(
    "links",
    _project(),
    _key("id", primary=True),
    _key("source_id"),
    _key("target_id"),
    _key("relation"),
    _key("inverse"),
    _text("metadata", optional=True),
    _int("event_time", optional=True),
    _int("created_at"),
    Index("links_by_source", "project_id", "source_id", "target_id", "relation", unique=True),
    Index("links_by_target", "project_id", "target_id"),
)

profiles = _table(
    "profiles",
    _project(),
    _key("subject", primary=True),
    _key("id", primary=True),
    _int("key"),
    _text("information"),
    _text("metadata", optional=True),
    _int("created_at"),
    _int("updated_at"),
    Index("profiles_by_key", "project_id", "key", unique=True),
)

blobs = _table(
    "blobs",
    _project(),
    _key("id", primary=True),
    _key("mime_type"),
    _key("digest"),
    Column("data", LargeBinary, nullable=False),
    _int("created_at"),
    clustered=False,
)

images = _table(
    "images",
    _project(),
    _key("id", primary=True),
    _int("key"),
    *_identity(),
    _key("turn_id"),
    _key("blob_id"),
    _text("description", optional=True),
    _text("metadata", optional=True),
    _int("event_time"),
    _int("created_at"),
    _int("updated_at"),
    _int("expires_at", optional=True),
    Index("images_by_turn", "project_id", "turn_id"),
    Index("images_by_user", "project_id", "user_id", "key"),
)

documents = _table(
    "documents",
    _project(),
    _int("key", primary=True),
    _key("record_id"),
    _key("source"),
    _key("state"),
    _key("visibility"),
    *_identity(),
    _int("expires_at", optional=True),
    _int("length"),
    _text("terms"),
    _text("values", optional=True),
    _key("vector_state"),
    partial_index(
        "documents_expiring",
        "project_id",
        "expires_at",
        where="expires_at IS NOT NULL",
    ),
    partial_index(
        "documents_awaiting_vectors",
        "project_id",
        "source",
        "user_id",
        "session_id",
        "key",
        where="vector_state = 'pending'",
    ),
)

postings = _table(
    "postings",
    _project(),
    _key("source", primary=True),
    _key("state", primary=True),
    _key("term", primary=True),
    _key("visibility", primary=True),
    _key("user_id", primary=True),
    _int("key", primary=True),
    _int("tf"),
    _int("length"),
    _key("session_id"),
    _key("agent_id"),
    _int("expires_at", optional=True),
)

partition_counts = _table(
    "partition_counts",
    _project(),
    _key("source", primary=True),
    _key("state", primary=True),
    _key("visibility", primary=True),
    _key("user_id", primary=True),
    _int("records", default=0),
    _int("total_length", default=0),
    _int("generation", default=0),
)

vectors = _table(
    "vectors",
    _project(),
    _key("source", primary=True),
    _key("state", primary=True),
    _key("visibility", primary=True),
    _key("user_id", primary=True),
    _int("key", primary=True),
    _key("model", primary=True),
    Column("piece", Integer, primary_key=True, autoincrement=False),
    _key("session_id"),
    _key("agent_id"),
    _int("expires_at", optional=True),
    Column("scale", Float, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# Led by the record: a filter asks about candidates of a scope, and an index led by value would read everybody's.
record_values = _table(
    "record_values",
    _project(),
    _int("key", primary=True),
    _key("name", primary=True),
    _key("type", primary=True),
    _key("text_value", primary=True),
    Column("number_value", Float, primary_key=True, autoincrement=False),
    _key("source"),
)

tombstones = _table(
    "tombstones",
    _project(),
    _key("id", primary=True),
    _key("user_id"),
    Column("session_id", KEY),
    Column("snapshot_id", KEY),
    _int("upto_key"),
    _int("created_at"),
)

# Looked up by client id with each request, before its project is known.
service_accounts = _table(
    "service_accounts",
    _key("client_id", primary=True),
    _key("project_id"),
    _text("name"),
    _text("description"),
    _text("roles"),
    _text("secret_hash"),
    _int("secret_expires_at"),
    _text("previous_hash", optional=True),
    _int("previous_expires_at", optional=True),
    _int("is_active", default=1),
    _text("ip_access_list"),
    _int("created_at"),
    _int("updated_at"),
    Index("service_accounts_of_project", "project_id", "client_id"),
)
