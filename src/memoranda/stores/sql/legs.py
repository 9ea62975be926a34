"""The scope predicate of a search: which partitions are read, and which of their rows are candidates.

Partitions (source, state, visibility, user) are key ranges and set the statistics. Everything narrower (session, agent,
lifetime, deletion, filters) only marks candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, bindparam, exists, or_, select

from memoranda.engine.ports import LegQuery, Narrowing
from memoranda.stores.schema import documents, memories, record_values, turns
from memoranda.stores.sql.codec import to_micros
from memoranda.stores.sql.filters import filter_clause
from memoranda.stores.sql.hidden import not_hidden
from memoranda.stores.sql.statement import in_list, list_parameters, list_size

Shape = tuple[int, int, bool, bool, bool, bool]
"""(states, visibilities, user, session, agent, hides): what a leg's statement depends on, narrowing apart."""


USUAL_SHAPES: tuple[Shape, ...] = ((1, 4, True, False, False, False), (1, 1, False, False, False, False))
"""What is current: of one user in all visibilities, and of everybody in one."""


def shape_of(query: LegQuery, *, hides: bool) -> Shape:
    scope = query.scope
    return (
        list_size(len(query.states)),
        list_size(len(scope.visibilities())),
        scope.user_id is not None,
        scope.session_id is not None,
        scope.agent_id is not None,
        hides,
    )


def parameters_of(query: LegQuery) -> dict[str, object]:
    """Return the parameters of ``partitions`` and ``candidate``."""
    scope = query.scope
    named = {"user_id": scope.user_id, "session_id": scope.session_id, "agent_id": scope.agent_id}
    return {
        "source": query.source,
        "now": to_micros(query.now),
        **list_parameters("state", [state.value for state in query.states]),
        **list_parameters("visibility", scope.visibilities()),
        **{name: value for name, value in named.items() if value is not None},
    }


def partitions(table: Table, shape: Shape) -> Iterator[ColumnElement[bool]]:
    """Return the conditions that address the partitions of a query as key ranges."""
    states, visibilities, user, *_ = shape
    yield table.c.project_id == bindparam("project_id")
    yield table.c.source == bindparam("source")
    yield in_list(table.c.state, "state", states)
    yield in_list(table.c.visibility, "visibility", visibilities)
    if user:
        yield table.c.user_id == bindparam("user_id")


def candidate(table: Table, shape: Shape) -> Iterator[ColumnElement[bool]]:
    """Return the narrower conditions that hold for every query of this shape."""
    *_, session, agent, hides = shape
    yield or_(table.c.expires_at.is_(None), table.c.expires_at > bindparam("now"))
    if session:
        yield table.c.session_id == bindparam("session_id")
    if agent:
        yield table.c.agent_id == bindparam("agent_id")
    if hides:
        yield not_hidden(table)


def _memory(table: Table, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    same = (memories.c.project_id == table.c.project_id, memories.c.key == table.c.key)
    return exists(select(1).select_from(memories).where(*same, *conditions))


def _turn(table: Table, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    # Turns are found by id, which the documents have.
    entry = documents.alias("entry")
    same = (entry.c.project_id == table.c.project_id, entry.c.key == table.c.key)
    joined = entry.join(turns, and_(turns.c.project_id == entry.c.project_id, turns.c.id == entry.c.record_id))
    return exists(select(1).select_from(joined).where(*same, *conditions))


def _value(table: Table, name: str, parameter: str) -> ColumnElement[bool]:
    values = record_values.c
    return exists(
        select(1)
        .select_from(record_values)
        .where(
            values.project_id == table.c.project_id,
            values.source == table.c.source,
            values.name == name,
            values.type == "string",
            values.text_value == bindparam(parameter),
            values.key == table.c.key,
        )
    )


def narrowed(table: Table, narrowing: Narrowing, parameters: dict[str, object]) -> Iterator[ColumnElement[Any]]:
    """Return the conditions of a query's own filters; their parameters are added to ``parameters``."""
    if narrowing.record_types:
        parameters |= list_parameters("record_type", narrowing.record_types)
        yield _memory(table, in_list(memories.c.record_type, "record_type", list_size(len(narrowing.record_types))))
    if narrowing.valid_at is not None:
        parameters["valid_at"] = to_micros(narrowing.valid_at)
        ends = or_(memories.c.valid_to.is_(None), memories.c.valid_to > bindparam("valid_at"))
        yield _memory(table, and_(memories.c.valid_from <= bindparam("valid_at"), ends))
    if narrowing.said_by is not None:
        parameters["said_by"] = to_micros(narrowing.said_by)
        yield _turn(table, turns.c.event_time <= bindparam("said_by"))
    if narrowing.domain is not None:
        parameters["domain"] = narrowing.domain
        yield _value(table, "$domain", "domain")
    for number, tag in enumerate(narrowing.tags):
        parameters[f"tag{number}"] = tag
        yield _value(table, "$tag", f"tag{number}")
    if narrowing.keys is not None:
        parameters |= list_parameters("only", narrowing.keys or (-1,))
        yield in_list(table.c.key, "only", list_size(len(narrowing.keys or (-1,))))
    if narrowing.where is not None:
        yield filter_clause(narrowing.where, table, parameters)
