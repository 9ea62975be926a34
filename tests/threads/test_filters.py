"""The filter grammar of the thread API."""

from __future__ import annotations

import pytest

from memoranda.engine.filters import And, FilterError, Not, Or, keys_in, matches
from memoranda.engine.json_filters import JsonEquals, JsonHolds, NoMetadata
from memoranda.threads.filters import list_filter, parse_metadata_filter, search_filter
from memoranda.threads.not_set import NOT_SET


def test_keys_combine_with_and() -> None:
    found = parse_metadata_filter({"a": 1, "b": "x"})
    assert found == And((JsonEquals(("a",), 1), JsonEquals(("b",), "x")))
    assert keys_in(found) == frozenset()


def test_a_dictionary_leads_into_a_nested_object() -> None:
    assert parse_metadata_filter({"a": {"b": {"c": None}}}) == JsonEquals(("a", "b", "c"), None)


def test_a_list_is_one_exact_value() -> None:
    assert parse_metadata_filter({"a": [1, {"b": 2}]}) == JsonEquals(("a",), [1, {"b": 2}])


def test_operators_at_one_field_combine_with_and() -> None:
    found = parse_metadata_filter({"a": {"$array_contains": "x", "$array_contains_any": ["y", 2]}})
    assert found == And((JsonHolds(("a",), "x"), Or((JsonHolds(("a",), "y"), JsonHolds(("a",), 2)))))


def test_a_list_of_contained_values_asks_for_all() -> None:
    assert parse_metadata_filter({"a": {"$array_contains": [1, 2]}}) == And(
        (JsonHolds(("a",), 1), JsonHolds(("a",), 2))
    )


@pytest.mark.parametrize(
    ("operand", "child"),
    [
        ("x", JsonEquals(("a",), "x")),
        ({"$array_contains": 1}, JsonHolds(("a",), 1)),
        ({"$not": 1}, Not(JsonEquals(("a",), 1))),
        ({"b": 1}, JsonEquals(("a", "b"), 1)),
    ],
    ids=["value", "operator", "not", "nested"],
)
def test_a_negation_takes_a_value_or_operators(operand: object, child: object) -> None:
    assert parse_metadata_filter({"a": {"$not": operand}}) == Not(child)  # type: ignore[arg-type]


def test_a_negation_takes_records_without_the_field_and_negated_membership_what_is_no_list() -> None:
    unequal = parse_metadata_filter({"a": {"$not": 1}})
    assert [matches(unequal, each, "") for each in ({}, {"a": 2}, {"a": 1})] == [True, True, False]
    without = parse_metadata_filter({"a": {"$not": {"$array_contains": 1}}})
    assert [matches(without, each, "") for each in ({}, {"a": 1}, {"a": [2]}, {"a": [1]})] == [True, True, True, False]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ([], "FILTER_SHAPE"),
        ("a", "FILTER_SHAPE"),
        ({1: 2}, "FILTER_SHAPE"),
        ({"a": {"$not": 1, "b": 2}}, "FILTER_SHAPE"),
        ({"a": {"$array_contains": 1, "$gt": 2}}, "FILTER_SHAPE"),
        ({"a": {"$gt": 2}}, "FILTER_OPERATOR_UNKNOWN"),
        ({"$not": {"a": 1}}, "FILTER_OPERATOR_UNKNOWN"),
        ({"a": {"$array_contains": []}}, "FILTER_VALUE_TYPE"),
        ({"a": {"$array_contains_any": []}}, "FILTER_VALUE_TYPE"),
        ({"a": {"$array_contains_any": 1}}, "FILTER_VALUE_TYPE"),
        ({"a": {"$array_contains": {"b": 1}}}, "FILTER_VALUE_TYPE"),
        ({"a": {"$array_contains": [[1]]}}, "FILTER_VALUE_TYPE"),
        ({"a": {1, 2}}, "FILTER_VALUE_TYPE"),
        ({"a": float("nan")}, "FILTER_VALUE_TYPE"),
        pytest.param({"a": [object()]}, "FILTER_VALUE_TYPE", id="any object"),
        ({"a": list(range(500))}, "FILTER_TOO_LARGE"),
        ({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": {"k": 1}}}}}}}}}}}, "FILTER_TOO_LARGE"),
    ],
    ids=str,
)
def test_what_is_no_filter_is_a_value_error_that_says_why(raw: object, code: str) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        parse_metadata_filter(raw)  # type: ignore[arg-type]
    assert isinstance(caught.value, FilterError)
    assert caught.value.code == code


def test_what_is_ours_can_be_asked_for() -> None:
    found = parse_metadata_filter({"$agent_memory": {"scope": "user"}})
    assert found == JsonEquals(("$agent_memory", "scope"), "user")


def test_none_is_no_filter_in_a_search_and_no_metadata_in_a_listing() -> None:
    assert search_filter(None) is None
    assert list_filter(None) == NoMetadata()
    assert search_filter(NOT_SET) is list_filter(NOT_SET) is None
    assert search_filter({"a": 1}) == list_filter({"a": 1}) == JsonEquals(("a",), 1)


def test_the_empty_filter_takes_everything() -> None:
    assert matches(parse_metadata_filter({}), {"a": 1}, "")
