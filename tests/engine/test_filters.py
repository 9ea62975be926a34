"""The filter grammar: what is accepted, what is refused and why, and which records a filter takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.filters import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_LIST,
    RESERVED_KEYS,
    And,
    Bound,
    Comparison,
    Filter,
    FilterError,
    Not,
    Operator,
    Or,
    Range,
    ValueType,
    matches,
    metadata_value,
    parse_filter,
    typed_value,
    typed_values,
)

DECLARED = {
    "tier": "string",
    "n": "number",
    "ok": "boolean",
    "due": "date",
    "tag": "string",
    "x": "string",
    "o'brien": "string",
    "profile.city": "string",
}
RECORD = {
    "ok": True,
    "n": 5,
    "tag": "a,b",
    "x": None,
    "o'brien": "it's",
    "due": "2026-03-01",
    "profile": {"city": "Pau"},
}
TIER_IS_GOLD = Comparison("tier", ValueType.STRING, Operator.EQUALS, "gold")


def takes(raw: dict[str, object], metadata: dict[str, object] | None = None, agent_id: str = "") -> bool:
    return matches(parse_filter(raw, DECLARED), RECORD if metadata is None else metadata, agent_id)


def parsed(raw: object) -> Filter | None:
    try:
        return parse_filter(raw, DECLARED)  # type: ignore[arg-type]
    except FilterError:
        return None


def refusal(raw: object) -> FilterError:
    with pytest.raises(FilterError) as refused:
        parse_filter(raw, DECLARED)  # type: ignore[arg-type]  # the point of half of these tests
    return refused.value


def test_the_tree_is_typed_and_small() -> None:
    assert parse_filter({"metadata.tier": "gold"}, DECLARED) == TIER_IS_GOLD
    assert parse_filter({}, DECLARED) == And(())
    assert parse_filter({"$nor": [{"metadata.tier": "gold"}]}, DECLARED) == Not(Or((TIER_IS_GOLD,)))
    assert parse_filter({"metadata.tier": {"$ne": "gold"}}, DECLARED) == Not(TIER_IS_GOLD)
    assert parse_filter({"metadata.tier": "gold", "agent_id": "a"}, DECLARED) == And(
        (TIER_IS_GOLD, Comparison("agent_id", ValueType.STRING, Operator.EQUALS, "a"))
    )


def test_bounds_on_one_key_are_one_range() -> None:
    assert parse_filter({"metadata.n": {"$gte": 3, "$lt": 5}}, DECLARED) == Range(
        "n", ValueType.NUMBER, Bound(3.0, True), Bound(5.0, False)
    )
    tighter = parse_filter({"metadata.n": {"$gt": 3, "$gte": 3, "$lte": 7, "$lt": 9}}, DECLARED)
    assert tighter == Range("n", ValueType.NUMBER, Bound(3.0, False), Bound(7.0, True))


@pytest.mark.parametrize(
    ("raw", "taken"),
    [
        ({"metadata.ok": True}, True),
        ({"metadata.ok": False}, False),
        ({"metadata.n": {"$gte": 3, "$lt": 5}}, False),
        ({"metadata.n": {"$gte": 3, "$lte": 5}}, True),
        ({"metadata.n": {"$gt": 5}}, False),
        ({"metadata.n": 5.0}, True),
        ({"metadata.n": {"$eq": 5}}, True),
        ({"metadata.n": {"$ne": 5}}, False),
        ({"metadata.tag": "a,b"}, True),
        ({"metadata.tag": "a"}, False),
        ({"metadata.tag": "A,B"}, False),
        ({"metadata.x": None}, True),
        ({"metadata.x": {"$ne": None}}, False),
        ({"metadata.x": {"$exists": False}}, True),
        ({"metadata.tier": None}, True),
        ({"metadata.tag": None}, False),
        ({"metadata.tier": {"$exists": True}}, False),
        ({"metadata.tag": {"$exists": True, "$ne": "c"}}, True),
        ({"metadata.o'brien": "it's"}, True),
        ({"metadata.o'brien": "its"}, False),
        ({"metadata.tier": {"$ne": "gold"}}, True),
        ({"metadata.tag": {"$in": ["z", "a,b"]}}, True),
        ({"metadata.tag": {"$in": []}}, False),
        ({"metadata.tag": {"$nin": []}}, True),
        ({"metadata.tag": {"$nin": ["a,b"]}}, False),
        ({"metadata.tier": {"$nin": ["gold"]}}, True),
        ({"metadata.tier": {"$in": ["gold", None]}}, True),
        ({"metadata.tag": {"$in": [None, "q"]}}, False),
        ({"metadata.due": {"$gte": "2026-03-01T00:00:00Z"}}, True),
        ({"metadata.due": {"$gt": "2026-03-01T00:00:00"}}, False),
        ({"metadata.due": {"$lt": "2026-03-01T00:00:00-05:00"}}, True),
        ({"metadata.profile.city": "Pau"}, True),
        ({"$and": [{"metadata.ok": True}, {"metadata.n": 5}]}, True),
        ({"$or": [{"metadata.ok": False}, {"metadata.n": 5}]}, True),
        ({"$nor": [{"metadata.ok": False}, {"metadata.n": 6}]}, True),
        ({"$nor": [{"metadata.ok": True}, {"metadata.n": 6}]}, False),
        ({"$or": [{"$and": [{"metadata.n": 1}]}, {"$nor": [{"metadata.ok": False}]}]}, True),
        ({"metadata.ok": True, "metadata.n": 6}, False),
        ({}, True),
    ],
)
def test_a_filter_takes_the_records_it_describes(raw: dict[str, object], taken: bool) -> None:
    assert takes(raw) is taken


def test_the_agent_is_always_filterable() -> None:
    assert takes({"agent_id": "planner"}, agent_id="planner")
    assert not takes({"agent_id": "planner"}, agent_id="Planner")
    assert takes({"agent_id": None}, agent_id="")
    assert takes({"agent_id": {"$in": ["a", "b"]}}, agent_id="b")
    assert not takes({"agent_id": "mine"}, {"agent_id": "mine"}, agent_id="other")  # identity is not metadata


def test_a_list_holds_each_of_its_items() -> None:
    record: dict[str, object] = {"tag": ["red", "blue"], "n": [1, 9]}

    assert takes({"metadata.tag": "blue"}, record)
    assert not takes({"metadata.tag": {"$ne": "blue"}}, record)
    assert not takes({"metadata.n": {"$gt": 2, "$lt": 8}}, record)  # one item must be within


def test_a_value_of_another_type_counts_as_absent() -> None:
    assert takes({"metadata.n": None}, {"n": "five"})
    assert not takes({"metadata.n": {"$exists": True}}, {"n": True})
    assert not takes({"metadata.ok": True}, {"ok": 1})


def test_an_undeclared_key_is_refused_with_the_accepted_paths() -> None:
    for key in ("tier", "metadata.missing", "publishing.state", "metadata.Tier", "metadata.", ""):
        error = refusal({key: "gold"})
        assert error.code == "FILTER_KEY_UNDECLARED"
        assert "agent_id, metadata.due, metadata.n" in str(error)
        assert repr(key) in str(error)


@pytest.mark.parametrize("name", sorted(RESERVED_KEYS))
def test_reserved_names_are_refused(name: str) -> None:
    assert refusal({name: "v"}).code == "FILTER_KEY_RESERVED"
    assert refusal({f"metadata.{name}": "v"}).code == "FILTER_KEY_RESERVED"


@pytest.mark.parametrize(
    "raw",
    [
        {"metadata.n": {"$regex": "x"}},
        {"$where": []},
        {"metadata.n": {"$gt": 1, "$not": {}}},
        {"metadata.n": {"gt": 1}},
        {"$not": {"metadata.n": 1}},
    ],
)
def test_an_unknown_operator_is_refused_by_name(raw: dict[str, object]) -> None:
    error = refusal(raw)

    assert error.code == "FILTER_OPERATOR_UNKNOWN"
    assert any(repr(name) in str(error) for name in ("$regex", "$where", "$not", "gt"))


@pytest.mark.parametrize(
    "condition",
    [
        {"metadata.n": "5"},
        {"metadata.n": True},
        {"metadata.n": float("nan")},
        {"metadata.n": 10**400},
        {"metadata.ok": 1},
        {"metadata.ok": "true"},
        {"metadata.tier": 5},
        {"metadata.tier": ["gold"]},
        {"metadata.tier": "\ud800"},
        {"metadata.due": "tomorrow"},
        {"metadata.due": 5},
        {"metadata.tier": {"$gt": "a"}},
        {"metadata.ok": {"$lte": True}},
        {"agent_id": {"$gte": "a"}},
        {"metadata.n": {"$gt": None}},
        {"metadata.n": {"$in": 5}},
        {"metadata.n": {"$in": [1, "2"]}},
        {"metadata.n": {"$exists": 1}},
        {"metadata.n": {"$exists": None}},
    ],
    ids=repr,
)
def test_a_value_of_the_wrong_type_is_refused(condition: dict[str, object]) -> None:
    assert refusal(condition).code == "FILTER_VALUE_TYPE"


@pytest.mark.parametrize(
    "raw",
    [[], "x", None, {1: 2}, {"$and": {}}, {"$or": []}, {"$nor": [1]}, {"metadata.n": {}}, {"$and": [None]}],
    ids=repr,
)
def test_a_filter_of_the_wrong_shape_is_refused(raw: object) -> None:
    assert refusal(raw).code == "FILTER_SHAPE"


def test_depth_and_size_are_bounded() -> None:
    deep: dict[str, object] = {"metadata.n": 1}
    for _ in range(MAX_DEPTH - 1):
        deep = {"$and": [deep]}
    assert takes(deep, {"n": 1})

    conditions = [{"metadata.n": 1, "metadata.ok": True}] * (MAX_CONDITIONS // 2)
    assert not takes({"$or": [*conditions]}, {})
    for raw in (
        {"$and": [deep]},
        {"$or": [*conditions, {"metadata.n": 1}]},
        {"metadata.n": {"$in": [1] * (MAX_LIST + 1)}},
        {"$or": [{"metadata.n": 1}] * (MAX_LIST + 1)},
    ):
        assert refusal(raw).code == "FILTER_TOO_LARGE"


def test_long_values_are_shortened_in_messages() -> None:
    assert len(str(refusal({"metadata.n": "x" * 10_000}))) < 300


def test_dates_are_whole_microseconds_and_naive_ones_are_utc() -> None:
    east = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))

    assert typed_value("1970-01-01T00:00:00.000001", "date") == 1
    assert typed_value("1969-12-31", "date") == -86_400_000_000
    assert typed_value(datetime(2026, 1, 1), "date") == typed_value(datetime(2026, 1, 1, tzinfo=UTC), "date")  # noqa: DTZ001
    assert typed_value(east, "date") == typed_value("2026-01-01T00:00:00Z", "date")


@pytest.mark.parametrize(
    ("value", "value_type", "expected"),
    [
        ("Gold ", "string", "Gold "),
        (5, "number", 5.0),
        (True, "number", None),
        (float("inf"), "number", None),
        (False, "boolean", False),
        (0, "boolean", None),
        (None, "string", None),
        ({"a": 1}, "string", None),
        ("soon", "date", None),
    ],
)
def test_values_are_normalised_or_not_filterable(value: object, value_type: str, expected: object) -> None:
    found = typed_value(value, value_type)

    assert found == expected
    assert type(found) is type(expected)


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="colour"):
        typed_value("x", "colour")


def test_typed_values_are_distinct_and_skip_what_does_not_fit() -> None:
    assert typed_values(["a", 1, "a", None, "b"], "string") == ("a", "b")
    assert typed_values("a", "string") == ("a",)
    assert typed_values(None, "string") == ()


def test_a_dotted_name_is_found_flat_and_nested() -> None:
    assert metadata_value({"profile": {"city": "Pau"}}, "profile.city") == "Pau"
    assert metadata_value({"profile.city": "Pau"}, "profile.city") == "Pau"
    assert metadata_value({"profile": "Pau"}, "profile.city") is None
    assert metadata_value({}, "tier") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("2026-01-01"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["$and", "$or", "$nor", "$gt", "$in", "$ne", "$exists", "$nin", "metadata.n", "metadata.tier", "$x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.dictionaries(st.sampled_from(sorted(DECLARED)), JSON))
def test_any_json_is_a_filter_or_a_filter_error(raw: object, metadata: dict[str, object]) -> None:
    tree = parsed(raw)

    if tree is not None:
        assert matches(Not(tree), metadata, "") is not matches(tree, metadata, "")


NUMBERS = st.integers(-5, 5)


@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(["$gt", "$gte"]), st.sampled_from(["$lt", "$lte"]))
def test_a_range_is_both_of_its_bounds(value: int, low: int, high: int, lower: str, upper: str) -> None:
    fused = takes({"metadata.n": {lower: low, upper: high}}, {"n": value})
    apart = takes({"$and": [{"metadata.n": {lower: low}}, {"metadata.n": {upper: high}}]}, {"n": value})
    expected = (value > low if lower == "$gt" else value >= low) and (value < high if upper == "$lt" else value <= high)

    assert fused == apart == expected
