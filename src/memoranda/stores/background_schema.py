"""The part of the schema that background work and its readers stand on: jobs, what became of them, the change feed."""

from __future__ import annotations

from sqlalchemy import Column, Index

from memoranda.stores.columns import KEY, partial_index
from memoranda.stores.columns import int_column as _int
from memoranda.stores.columns import key_column as _key
from memoranda.stores.columns import project_column as _project
from memoranda.stores.columns import table as _table
from memoranda.stores.columns import text_column as _text

jobs = _table(
    "jobs",
    _project(),
    _key("id", primary=True),
    _int("seq"),
    _key("kind"),
    _key("state"),
    _key("lane"),
    Column("dedupe_key", KEY),
    _text("payload"),
    _int("attempts", default=0),
    _int("run_at"),
    Column("lease_token", KEY),
    _int("lease_until", optional=True),
    _key("extractor"),
    _key("embedder"),
    _text("last_error", optional=True),
    _key("user_id"),
    _key("session_id"),
    _int("created_at"),
    _int("updated_at"),
    Index("jobs_due", "project_id", "state", "run_at", "seq"),
    Index("jobs_in_lane", "project_id", "lane", "seq"),
    partial_index(
        "jobs_pending_once",
        "project_id",
        "dedupe_key",
        unique=True,
        where="state = 'pending'",
    ),
    clustered=False,
)

failures = _table(
    "failures",
    _project(),
    _key("id", primary=True),
    _key("job_kind"),
    _key("failure_class"),
    _text("reason"),
    _int("attempts"),
    _int("retryable", default=1),
    _text("payload"),
    _key("lane"),
    _key("extractor"),
    _key("embedder"),
    _text("raw_reply", optional=True),
    _key("user_id"),
    _key("session_id"),
    _key("snapshot_id"),
    _int("first_seen"),
    _int("last_seen"),
    Index("failures_by_class", "project_id", "failure_class", "id"),
    clustered=False,
)

# What changed, in the order of ``position``, which a worker gives after commit.
changes = _table(
    "changes",
    _project(),
    _key("id", primary=True),
    _int("position", optional=True),
    _key("entity"),
    _key("entity_id"),
    _key("operation"),
    _key("user_id"),
    _int("at"),
    partial_index(
        "changes_by_position",
        "project_id",
        "position",
        unique=True,
        where="position IS NOT NULL",
    ),
    partial_index(
        "changes_unassigned",
        "project_id",
        "id",
        where="position IS NULL",
    ),
    partial_index(
        "changes_of_user",
        "project_id",
        "user_id",
        "id",
        where="user_id <> ''",
    ),
)

# How far positions have been given and pruned; whoever gives them locks the row, whoever writes entries does not.
feeds = _table("feeds", _project(), _int("last_position", default=0), _int("pruned_position", default=0))

# Providers that have not answered since they failed last; while ``next_probe`` is set their jobs wait for it.
breakers = _table(
    "breakers",
    _project(),
    _key("kind", primary=True),
    _key("provider", primary=True),
    _int("failures"),
    _int("since"),
    _key("failure_class"),
    _text("reason"),
    _int("next_probe", optional=True),
)

# What models cost. The row without a job is the sum of its day, so that a cap is checked by reading one row a model.
usage = _table(
    "usage",
    _project(),
    _key("day", primary=True),
    _key("job_id", primary=True),
    _key("model", primary=True),
    _int("calls", default=0),
    _int("input_tokens", default=0),
    _int("output_tokens", default=0),
)
