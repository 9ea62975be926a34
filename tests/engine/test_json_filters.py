"""Conditions on undeclared metadata, in their plain form."""

from __future__ import annotations

import pytest

from memoranda.engine.json_filters import JsonEquals, JsonHolds, NoMetadata, json_equal, json_matches


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ([1, [2]], (1, (2,)), True),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": True}, {"a": 1}, False),
        ([], {}, False),
    ],
)
def test_equality_is_that_of_json(one: object, other: object, equal: bool) -> None:
    assert json_equal(one, other) is equal
    assert json_equal(other, one) is equal


def test_a_path_leads_through_objects_only() -> None:
    asked = JsonEquals(("a", "b"), 1)
    assert [json_matches(asked, {"a": each}) for each in ({"b": 1}, {"b": 2}, [1], "b", None, {})] == [True] + [
        False
    ] * 5


def test_none_is_a_value_and_not_an_absent_key() -> None:
    assert json_matches(JsonEquals(("a",), None), {"a": None})
    assert not json_matches(JsonEquals(("a",), None), {})


def test_only_a_list_holds_items() -> None:
    asked = JsonHolds(("a",), 1)
    held: list[object] = [[2, 1], [1.0], [True], [[1]], 1, "1"]
    assert [json_matches(asked, {"a": each}) for each in held] == [True, True, False, False, False, False]


def test_what_is_ours_does_not_count_as_metadata() -> None:
    records: list[dict[str, object]] = [{}, {"$agent_memory": {}}, {"a": None}]
    found = [json_matches(NoMetadata(), each) for each in records]
    assert found == [True, True, False]
