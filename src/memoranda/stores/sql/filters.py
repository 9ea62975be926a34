"""The filter tree as one SQL condition on a table of records; ``engine.filters.matches`` is its model."""

from __future__ import annotations

from sqlalchemy import BindParameter, ColumnElement, FromClause, and_, bindparam, exists, false, not_, or_, select, true

from memoranda.engine.filters import (
    AGENT_KEY,
    And,
    Bound,
    Comparison,
    Filter,
    Not,
    Operator,
    Or,
    Range,
    Scalar,
    ValueType,
)
from memoranda.engine.json_filters import JsonEquals, JsonHolds, NoMetadata
from memoranda.stores.schema import record_values
from memoranda.stores.sql.json_conditions import JsonCondition
from memoranda.stores.sql.json_metadata import metadata_of


def filter_clause(node: Filter, table: FromClause, parameters: dict[str, object]) -> ColumnElement[bool]:
    """Return the condition of a filter on a table with ``project_id``, ``key`` and ``agent_id``.

    Conditions on keys that nobody declared read the record's own metadata, so that the table has either ``metadata`` or
    ``source``, as the index has.
    The filter's values are added to ``parameters``: the condition depends on the filter and is not to be kept.
    """
    return _Clauses(table, parameters).of(node)


class _Clauses:
    """Builds the conditions of one filter, numbering its parameters."""

    def __init__(self, table: FromClause, parameters: dict[str, object]) -> None:
        self._table = table
        self._parameters = parameters

    def of(self, node: Filter) -> ColumnElement[bool]:
        match node:
            case And(children):
                return and_(true(), *(self.of(child) for child in children))
            case Or(children):
                return or_(false(), *(self.of(child) for child in children))
            case Not(child):
                return not_(self.of(child))
            case Comparison(key, value_type, operator, wanted):
                return self._comparison(key, value_type, operator, wanted)
            case Range(key, value_type, low, high):
                return self._exists(key, value_type, *self._bounds(low, high))
            case JsonEquals() | JsonHolds() | NoMetadata():
                return JsonCondition(metadata_of(self._table), node)

    def _comparison(
        self, key: str, value_type: ValueType, operator: Operator, wanted: Scalar | tuple[Scalar, ...] | None
    ) -> ColumnElement[bool]:
        column = self._table.c.agent_id if key == AGENT_KEY else _column(value_type)
        values = wanted if isinstance(wanted, tuple) else (wanted,)
        condition: ColumnElement[bool]
        if operator is Operator.EXISTS:
            condition = true()
        elif values:
            condition = column.in_([self._parameter(value) for value in values])
        else:
            condition = false()
        if key == AGENT_KEY:
            # An absent agent is the empty string, and absence equals nothing.
            return and_(column != "", condition)
        return self._exists(key, value_type, condition)

    def _exists(self, key: str, value_type: ValueType, *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
        values = record_values.c
        return exists(
            select(1)
            .select_from(record_values)
            .where(
                values.project_id == self._table.c.project_id,
                values.key == self._table.c.key,
                values.name == self._parameter(key),
                values.type == self._parameter(value_type.value),
                *conditions,
            )
        )

    def _bounds(self, low: Bound | None, high: Bound | None) -> list[ColumnElement[bool]]:
        number = record_values.c.number_value
        conditions: list[ColumnElement[bool]] = []
        if low is not None:
            wanted = self._parameter(low.value)
            conditions.append(number >= wanted if low.inclusive else number > wanted)
        if high is not None:
            wanted = self._parameter(high.value)
            conditions.append(number <= wanted if high.inclusive else number < wanted)
        return conditions

    def _parameter(self, value: object) -> BindParameter[object]:
        name = f"filter{len(self._parameters)}"
        self._parameters[name] = float(value) if isinstance(value, int | float) else value
        return bindparam(name)


def _column(value_type: ValueType) -> ColumnElement[object]:
    return record_values.c.text_value if value_type is ValueType.STRING else record_values.c.number_value
