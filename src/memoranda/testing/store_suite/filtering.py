"""Filters on declared keys, any metadata, tags and domains: joined to the candidates before any cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from memoranda.engine.filters import And, Filter, Not, Or, matches, metadata_value, parse_filter, typed_values
from memoranda.engine.json_filters import JsonEquals, JsonHolds, NoMetadata
from memoranda.engine.ports import LegQuery, MemoryQuery, Narrowing, Store
from memoranda.engine.records import SEMANTIC, STM, IndexedValue, IndexState, MemoryRecord, Turn
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe
from memoranda.testing.store_suite.base import StoreRules

DECLARED: Final[Mapping[str, str]] = {
    "ok": "boolean",
    "n": "number",
    "tag": "string",
    "o'brien": "string",
    "when": "date",
    "a.b": "string",
}
DOCUMENTS: Final[tuple[Mapping[str, object], ...]] = (
    {"ok": True, "n": 5, "tag": "a,b", "x": None, "o'brien": "it's"},
    {"ok": False, "n": 3.5, "tag": "A,B", "when": "2026-01-05T09:00:00Z"},
    {"n": 0, "tag": "", "when": "2026-01-05T10:00:00+01:00", "a": {"b": "deep"}},
    {"n": [1, 9], "tag": ["red", "blue"]},
    {"ok": None, "n": "5", "tag": 5, "a.b": "flat"},
    {"n": -2, "tag": "%", "o'brien": "'; DROP TABLE turns;--"},
    {},
)
FILTERS: Final[tuple[Mapping[str, object], ...]] = (
    {},
    {"metadata.ok": True},
    {"metadata.ok": {"$ne": True}},
    {"metadata.ok": None},
    {"metadata.n": 5},
    {"metadata.n": {"$gte": 3, "$lt": 5}},
    {"metadata.n": {"$gt": 1, "$lt": 9}},
    {"metadata.n": {"$lte": 0}},
    {"metadata.n": {"$exists": True}},
    {"metadata.n": {"$exists": False}},
    {"metadata.n": {"$in": [0, 9]}},
    {"metadata.n": {"$nin": [0, 9]}},
    {"metadata.n": {"$in": []}},
    {"metadata.tag": "a,b"},
    {"metadata.tag": ""},
    {"metadata.tag": "%"},
    {"metadata.tag": {"$in": ["red", "A,B"]}},
    {"metadata.o'brien": "it's"},
    {"metadata.o'brien": "'; DROP TABLE turns;--"},
    {"metadata.when": "2026-01-05T09:00:00+00:00"},
    {"metadata.when": {"$lt": "2026-01-05T09:30:00Z"}},
    {"metadata.a.b": {"$in": ["deep", "flat"]}},
    {"agent_id": "agent-0"},
    {"agent_id": {"$ne": "agent-0"}},
    {"agent_id": {"$exists": False}},
    {"$or": [{"metadata.n": 5}, {"metadata.tag": "%"}]},
    {"$nor": [{"metadata.n": 5}, {"metadata.tag": "%"}]},
    {"$and": [{"metadata.n": {"$gte": 1}}, {"metadata.tag": {"$ne": "blue"}}]},
)
# Metadata that nobody declared: what a path, a quoted key or a loose equality would get wrong.
LOOSE: Final[tuple[Mapping[str, object] | None, ...]] = (
    None,
    {},
    {"$agent_memory": {"scope": "user"}},
    {"a": 1, "b": "x"},
    {"a": 1.0},
    {"a": True},
    {"a": "1"},
    {"a": None},
    {"a": {"b": {"c": 2}}},
    {"a": {"b": ["red", 1, None]}},
    {"a": [1, 2]},
    {"a": [2, 1]},
    {"a": [1, 2, 3]},
    {"a": [{"y": 2, "x": 1.0}, []]},
    {"a": [True, "2"]},
    {"a": {}},
    {"a": "{"},
    {"a": {"0": "k"}},
    {"a": ["k"]},
    {"a.b": 1, 'q"uo\\te': {"'; DROP": "%s ? :x"}},
    {"日本": "é", "big": 2**70, "small": -0.5, "line": "a\nb"},
)
CONDITIONS: Final[tuple[Filter, ...]] = (
    NoMetadata(),
    Not(NoMetadata()),
    JsonEquals(("a",), 1),
    JsonEquals(("a",), 1.0),
    Not(JsonEquals(("a",), 1)),
    JsonEquals(("a",), True),
    JsonEquals(("a",), "1"),
    JsonEquals(("a",), None),
    Not(JsonEquals(("a",), None)),
    JsonEquals(("a",), {}),
    JsonEquals(("a",), []),
    JsonEquals(("a",), "{"),
    JsonEquals(("a",), [1, 2]),
    JsonEquals(("a",), [{"x": 1, "y": 2}, []]),
    JsonEquals(("a",), {"b": {"c": 2}}),
    JsonEquals(("a", "b", "c"), 2),
    JsonEquals(("a", "b"), ["red", 1, None]),
    JsonEquals(("a", "0"), "k"),
    JsonEquals(("a.b",), 1),
    JsonEquals(('q"uo\\te', "'; DROP"), "%s ? :x"),
    JsonEquals(("日本",), "é"),
    JsonEquals(("big",), 2**70),
    JsonEquals(("small",), -0.5),
    JsonEquals(("line",), "a\nb"),
    JsonEquals(("$agent_memory", "scope"), "user"),
    JsonHolds(("a",), 1),
    JsonHolds(("a",), True),
    JsonHolds(("a",), "2"),
    Not(JsonHolds(("a",), 2)),
    JsonHolds(("a", "b"), None),
    And((JsonHolds(("a",), 1), JsonHolds(("a",), 3))),
    Or((JsonHolds(("a", "b"), "red"), JsonEquals(("b",), "x"))),
)


def values_of(metadata: Mapping[str, object]) -> tuple[IndexedValue, ...]:
    """Return a document's filterable values, as the engine writes them."""
    return tuple(
        IndexedValue(name, kind, value)
        for name, kind in DECLARED.items()
        for value in typed_values(metadata_value(metadata, name), kind)
    )


class FilterRules(StoreRules):
    """``Narrowing.where``, ``tags`` and ``domain``, and the same filter on a listing of memories."""

    @pytest.fixture
    def records(self, scribe: Scribe) -> list[MemoryRecord]:
        return [
            scribe.memory(
                "tea",
                metadata=dict(metadata),
                values=values_of(metadata),
                agent_id="" if number % 3 == 2 else f"agent-{number % 3}",
            )
            for number, metadata in enumerate(DOCUMENTS)
        ]

    @pytest.mark.parametrize("raw", FILTERS, ids=str)
    def test_a_filter_finds_what_the_grammar_says(
        self, store: Store, records: list[MemoryRecord], raw: Mapping[str, object]
    ) -> None:
        where = parse_filter(raw, DECLARED)
        expected = [record.key for record in records if matches(where, record.metadata or {}, record.agent_id)]
        asked = LegQuery(Scope(), SEMANTIC, (IndexState.CURRENT,), NOW, Narrowing(where=where))
        with store.read(PROJECT) as tx:
            found = tx.search.text(asked, ("tea",))
            listed = tx.memories.query(MemoryQuery(Scope(), NOW, where=where))
            newest = tx.search.listing(asked, 100)
        candidates = [key for key, candidate in zip(found.keys, found.candidates, strict=True) if candidate]
        assert (candidates, list(newest)[::-1], [each.key for each in listed]) == (expected, expected, expected)
        assert found.records == len(records)

    @pytest.fixture
    def loose(self, scribe: Scribe) -> list[MemoryRecord]:
        return [scribe.memory("tea", metadata=None if each is None else dict(each)) for each in LOOSE]

    @pytest.fixture
    def loose_turns(self, scribe: Scribe) -> list[Turn]:
        return [scribe.turn("tea", metadata=None if each is None else dict(each)) for each in LOOSE]

    @pytest.mark.parametrize("where", CONDITIONS, ids=str)
    def test_a_condition_on_any_key_reads_the_metadata_of_memories(
        self, store: Store, loose: list[MemoryRecord], where: Filter
    ) -> None:
        expected = [record.key for record in loose if matches(where, record.metadata or {}, "")]
        asked = LegQuery(Scope(), SEMANTIC, (IndexState.CURRENT,), NOW, Narrowing(where=where))
        with store.read(PROJECT) as tx:
            found = tx.search.text(asked, ("tea",))
            listed = [each.key for each in tx.memories.query(MemoryQuery(Scope(), NOW, where=where))]
        candidates = [key for key, candidate in zip(found.keys, found.candidates, strict=True) if candidate]
        assert (candidates, listed) == (expected, expected)

    @pytest.mark.parametrize("where", CONDITIONS, ids=str)
    def test_a_condition_on_any_key_reads_the_metadata_of_turns(
        self, store: Store, loose_turns: list[Turn], where: Filter
    ) -> None:
        expected = [turn.key for turn in loose_turns if matches(where, turn.metadata or {}, "")]
        asked = LegQuery(Scope(), STM, (IndexState.CURRENT,), NOW, Narrowing(where=where))
        with store.read(PROJECT) as tx:
            assert sorted(tx.search.listing(asked, 100)) == expected

    def test_all_tags_must_be_there(self, store: Store, scribe: Scribe) -> None:
        both = scribe.memory("x", values=[IndexedValue("$tag", "string", tag) for tag in ("red", "blue")])
        scribe.memory("x", values=[IndexedValue("$tag", "string", "red")])
        scribe.memory("x", values=[IndexedValue("tag", "string", "red"), IndexedValue("tag", "string", "blue")])
        asked = LegQuery(Scope(), SEMANTIC, (IndexState.CURRENT,), NOW, Narrowing(tags=("red", "blue")))
        with store.read(PROJECT) as tx:
            assert list(tx.search.listing(asked, 9)) == [both.key]

    def test_a_domain_is_compared_whole(self, store: Store, scribe: Scribe) -> None:
        domains = ("acme", "Acme", "acme-corp", "acme/sub", "%", "acme ")
        records = {domain: scribe.memory("x", values=[IndexedValue("$domain", "string", domain)]) for domain in domains}
        for domain, record in records.items():
            asked = LegQuery(Scope(), SEMANTIC, (IndexState.CURRENT,), NOW, Narrowing(domain=domain))
            with store.read(PROJECT) as tx:
                assert list(tx.search.listing(asked, 9)) == [record.key], domain

    def test_values_can_be_replaced(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("tea", values=values_of({"tag": "old", "n": 1}))
        entry = scribe.entry_of_memory(record)
        with store.write(PROJECT) as tx:
            tx.index.replace_values([replace(entry, values=values_of({"tag": "new"}))])
        assert self._tagged(store, "old") == []
        assert self._tagged(store, "new") == [record.key]

    def test_values_go_with_their_record(self, store: Store, scribe: Scribe) -> None:
        record = scribe.memory("tea", values=values_of({"tag": "old"}))
        with store.write(PROJECT) as tx:
            tx.index.remove([record.key])
            tx.index.add([scribe.entry_of_memory(record)])
        assert self._tagged(store, "old") == []

    def _tagged(self, store: Store, value: str) -> list[int]:
        where = parse_filter({"metadata.tag": value}, DECLARED)
        asked = LegQuery(Scope(), SEMANTIC, (IndexState.CURRENT,), NOW, Narrowing(where=where))
        with store.read(PROJECT) as tx:
            return list(tx.search.listing(asked, 9))
