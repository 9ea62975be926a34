"""Searches: words of any language, vectors, both; filters; what no longer holds; why a record was found."""

from __future__ import annotations

from typing import Any

import pytest

from memoranda.sdk.errors import MemoryBadRequestError, MemoryClientError
from memoranda.sdk.memory import Memory
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.memory_suite.base import NOTE, MemoryRules, OpenMemory, user

IN_MANY_SCRIPTS = (
    "我喜欢喝榛子拿铁和年糕汤",
    "東京で美味しいラーメンを食べた",
    "서울에서 김치를 먹었다",
    "ฉันชอบดื่มกาแฟในตอนเช้า",
    "步2 重跑gen-itgc后50条悬空引用清零",
)
HOSTILE_QUERIES = (
    "don't",
    "multi-agent",
    '"unbalanced',
    "a AND",
    "NOT",
    "NEAR(",
    "col:val",
    "sh | bash",
    "`",
    "(",
    "*",
    "the of",
    '""',
    "????",
    "word " * 1000,
    "{{ 7 * 7 }} %s %(x)s",
    "'; DROP TABLE memories;--",
    "\u202e\u0000\ud800",
    "a" * 5000,
)


class SearchRules(MemoryRules):
    """``search*``, ``discover_procedures`` and ``retrieve``."""

    @pytest.mark.parametrize(
        ("query", "expected"),
        [("拿铁", 0), ("年糕", 0), ("ラーメン", 1), ("東京", 1), ("김치", 2), ("กาแฟ", 3), ("悬空", 4), ("itgc", 4)],
    )
    def test_words_of_any_script_find_their_own_memory(self, alice: Memory, query: str, expected: int) -> None:
        ids = [alice.save_semantic(text=text, label=str(n)).id for n, text in enumerate(IN_MANY_SCRIPTS)]
        assert [chunk.id for chunk in alice.search_semantic(query, mode="text")] == [ids[expected]]

    @pytest.mark.parametrize("mode", ["text", "hybrid"])
    @pytest.mark.parametrize("query", HOSTILE_QUERIES, ids=range(len(HOSTILE_QUERIES)))
    def test_no_query_is_syntax(self, alice: Memory, query: str, mode: str) -> None:
        saved = alice.save_semantic(text="Don't use multi-agent for install.sh | bash (C++ NOT v2.0*)", label="advice")
        found = [chunk.id for chunk in alice.search_semantic(query, mode=mode)]
        assert set(found) <= {saved.id}
        if query in ("don't", "multi-agent", "sh | bash"):
            assert found == [saved.id]
        alice.build_context(query, enabled_sources={"stm", "semantic"})

    @pytest.mark.parametrize("query", ["", "  \n\t"])
    def test_a_blank_query_is_refused(self, alice: Memory, query: str) -> None:
        calls = (
            lambda: alice.search_semantic(query),
            lambda: alice.search(query),
            lambda: alice.retrieve(NOTE, query),
            lambda: alice.build_context(query),
        )
        for call in calls:
            with pytest.raises((MemoryClientError, MemoryBadRequestError)):
                call()

    def test_words_that_mean_nothing_find_nothing(self, alice: Memory) -> None:
        alice.save_semantic(text="the cat and the dog", label="x")
        assert alice.search_semantic("the and of", mode="text") == []

    def test_modes_say_which_leg_found_a_record(self, memory: Memory, alice: Memory) -> None:
        alice.save_semantic(text="green tea", label="drink")
        memory.wait_until_idle(promote=False)
        legs: dict[str, tuple[bool, bool]] = {}
        for mode in ("text", "semantic", "hybrid"):
            (chunk,) = alice.search_semantic("green tea", mode=mode, explain=True)
            assert chunk.explanation is not None
            legs[mode] = (chunk.explanation.text is not None, chunk.explanation.semantic is not None)
        assert legs == {"text": (True, False), "semantic": (False, True), "hybrid": (True, True)}
        (plain,) = alice.search_semantic("green tea")
        assert plain.explanation is None

    def test_a_keyword_hit_is_not_vetoed_by_its_vector(self, memory: Memory, alice: Memory) -> None:
        far = [0.0] * 63 + [1.0]
        saved = alice.save_procedure(procedure="zebra", description="d", content="zebra", embedding=far)
        near = [1.0] + [0.0] * 63
        found = alice.discover_procedures("zebra", similarity_threshold=0.9, query_embedding=near)
        assert [each["id"] for each in found] == [saved.id]

    def test_the_best_come_first_and_no_more_than_asked(self, alice: Memory) -> None:
        best = alice.save_semantic(text="tea tea tea", label="a")
        for number in range(9):
            alice.save_semantic(text=f"some words about tea and other things {number}", label=f"b{number}")
        found = alice.search_semantic("tea", mode="text", top_k=3)
        assert len(found) == 3
        assert found[0].id == best.id
        scores = [chunk.similarity_score or 0 for chunk in alice.search_semantic("tea", mode="text")]
        assert scores == sorted(scores, reverse=True)

    def test_what_was_superseded_is_found_on_request(self, alice: Memory) -> None:
        alice.save_semantic(text="likes tea", label="drink")
        alice.save_semantic(text="likes coffee", label="drink")
        assert alice.search_semantic("tea", mode="text") == []
        assert len(alice.search_semantic("coffee", mode="text", include_superseded=True)) == 1

    def test_sources_are_searched_one_by_one_and_merged(self, alice: Memory) -> None:
        ids = {
            alice.save_semantic(text="tea", label="a").id,
            alice.save_episode(title="tea", content="tea").id,
            alice.save_taxonomic(domain="d", term="tea", definition="tea").id,
            alice.save_procedure(procedure="tea", description="tea", content="tea").id,
        }
        every = ["semantic", "episodic", "taxonomic", "procedural"]
        assert {chunk.id for chunk in alice.search("tea", sources=every)} == ids
        assert len(alice.search("tea", sources=every, top_k=2)) == 2
        assert {chunk.source for chunk in alice.search("tea")} == {"semantic", "episodic"}
        assert alice.search("tea", sources=[]) == []

    def test_custom_memories_are_found_by_text_and_tags(self, alice: Memory) -> None:
        here = alice.save(NOTE, "green tea", tags={"place": "here"}, contextual_metadata={"k": 1})
        alice.save(NOTE, "green tea", tags={"place": "Here"})
        found = alice.retrieve(NOTE, "tea", tags={"place": "here"})
        assert [(each.id, each.tags, each.contextual_metadata) for each in found.results] == [
            (here.id, {"place": "here"}, {"k": 1})
        ]
        assert alice.retrieve(NOTE, "tea").count == 2

    def test_tags_and_domains_narrow(self, alice: Memory) -> None:
        both = alice.save_procedure(procedure="a", description="tea", content="tea", tags=["red", "blue"])
        alice.save_procedure(procedure="b", description="tea", content="tea", tags=["red"])
        assert [each["id"] for each in alice.discover_procedures("tea", tags=["red", "blue"])] == [both.id]
        for domain in ("food", "Food", "food/drink"):
            alice.save_taxonomic(domain=domain, term="tea", definition="a drink")
        assert len(alice.search_taxonomic("tea", domain="food")) == 1

    def test_without_an_embedder_words_still_find(self, open_memory: OpenMemory, options: dict[str, Any]) -> None:
        with open_memory(**{**options, "embedder": None}) as memory:
            alice = user(memory, "alice")
            saved = alice.save_semantic(text="green tea", label="drink")
            assert saved.has_embedding is False
            assert [chunk.id for chunk in alice.search_semantic("tea")] == [saved.id]
            assert [chunk.id for chunk in alice.search_semantic("tea", mode="semantic")] == [saved.id]

    def test_a_wrong_query_vector_is_refused(self, alice: Memory) -> None:
        for wrong in ([1.0], [0.0] * 64, [float("nan")] * 64):
            with pytest.raises((MemoryBadRequestError, ValueError)):
                alice.search_semantic("tea", query_embedding=wrong)

    def test_an_embedder_that_fails_degrades_a_search_to_text(
        self, memory: Memory, alice: Memory, embedder: HashedEmbedder
    ) -> None:
        saved = alice.save_semantic(text="green tea", label="drink")

        def fail(text: str) -> None:
            raise ConnectionError("the model is away")

        embedder.refuses = fail
        assert [chunk.id for chunk in alice.search_semantic("tea")] == [saved.id]
        assert alice.save_semantic(text="black tea", label="other").has_embedding is False


class FilterRules(MemoryRules):
    """Metadata filters through the front door."""

    @pytest.mark.parametrize(
        ("condition", "matches"),
        [
            ({"metadata.ok": True}, True),
            ({"metadata.ok": False}, False),
            ({"metadata.n": {"$gte": 3, "$lt": 5}}, False),
            ({"metadata.n": {"$gte": 3, "$lte": 5}}, True),
            ({"metadata.tag": "a,b"}, True),
            ({"metadata.tag": "a"}, False),
            ({"metadata.tag": "a_b"}, False),
            ({"metadata.x": None}, True),
            ({"metadata.owner": "o'brien"}, True),
            ({"metadata.owner": {"$in": ["' OR 1=1 --", "%"]}}, False),
            ({"$or": [{"metadata.n": 4}, {"metadata.ok": True}]}, True),
            ({"$nor": [{"metadata.n": 5}]}, False),
        ],
        ids=str,
    )
    def test_a_filter_takes_what_it_says(self, alice: Memory, condition: dict[str, Any], matches: bool) -> None:
        metadata = {"ok": True, "n": 5, "tag": "a,b", "x": None, "owner": "o'brien", "it's": "kept"}
        saved = alice.save_procedure(procedure="p", description="tea", content="tea", metadata=metadata)
        turn = alice.record_turn(role="user", content="tea", metadata=metadata)
        listed = [item.id for item in alice.list_memories(metadata_filter=condition).items]
        found = [each["id"] for each in alice.discover_procedures("tea", metadata_filter=condition)]
        context = alice.build_context(
            "tea", metadata_filter=condition, enabled_sources={"stm", "procedural"}, include_memories=True
        )
        in_context = {chunk.id for chunk in context.selected_memories or []}
        expected = [saved.id] if matches else []
        assert (listed, found, in_context) == (expected, expected, {saved.id, turn.id} if matches else set())
        entry = alice.get_memory(saved.id)
        assert entry is not None
        assert entry.metadata == metadata

    @pytest.mark.parametrize(
        ("condition", "named"),
        [
            ({"metadata.n": {"$regex": "x"}}, r"\$regex"),
            ({"$where": "1"}, r"\$where"),
            ({"metadata.unknown": 1}, "unknown"),
            ({"n": 1}, "'n'"),
            ({"metadata.n": "five"}, "five"),
            ({"user_id": "bob"}, "user_id"),
            ({"metadata.it's": "kept"}, "it's"),
            ({"metadata.n": {}}, "metadata.n"),
        ],
        ids=str,
    )
    def test_a_filter_that_cannot_be_run_is_refused_by_name(
        self, alice: Memory, condition: dict[str, Any], named: str
    ) -> None:
        calls = (
            lambda: alice.list_memories(metadata_filter=condition),
            lambda: alice.discover_procedures("tea", metadata_filter=condition),
            lambda: alice.build_context("tea", metadata_filter=condition),
        )
        for call in calls:
            with pytest.raises(MemoryBadRequestError, match=named):
                call()
