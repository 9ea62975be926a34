"""Saves: natural keys, versions, history, many at once, idempotency, identity."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.memory_suite.base import NOTE, MemoryRules, user


class SaveRules(MemoryRules):
    """``save_*``, ``save``, ``save_many``, ``update_memory``."""

    def test_a_second_save_of_a_label_is_a_new_version(self, alice: Memory, clock: ManualClock) -> None:
        first = alice.save_semantic(text="Lives in Oslo", label="home")
        clock.advance(timedelta(days=1))
        second = alice.save_semantic(text="Lives in Bergen", label="home")
        assert second.id == first.id
        entry = alice.get_memory(first.id)
        assert entry is not None
        assert (entry.version, entry.content) == (2, "Lives in Bergen")
        assert [state.content for state in alice.history(first.id)] == ["Lives in Oslo", "Lives in Bergen"]

    def test_a_past_state_is_read_as_of_its_time(self, alice: Memory, clock: ManualClock) -> None:
        start = clock.now()
        saved = alice.save_semantic(text="Lives in Oslo", label="home")
        clock.advance(timedelta(days=10))
        alice.save_semantic(text="Lives in Bergen", label="home")
        for days, expected in [(-1, None), (0, "Lives in Oslo"), (9, "Lives in Oslo"), (10, "Lives in Bergen")]:
            moment = start + timedelta(days=days)
            entry = alice.get_memory(saved.id, as_of=moment)
            named = alice.get_semantic("home", as_of=moment)
            listed = alice.list_memories(as_of=moment).items
            assert (entry and entry.content) == expected
            assert (named and named["content"]) == expected
            assert [item.content for item in listed] == ([expected] if expected else [])

    def test_a_save_about_an_earlier_time_goes_into_the_history(self, alice: Memory, clock: ManualClock) -> None:
        saved = alice.save_semantic(text="Lives in Bergen", label="home")
        alice.save_semantic(text="Lives in Oslo", label="home", timestamp=clock.now() - timedelta(days=100))
        entry = alice.get_memory(saved.id)
        past = alice.get_memory(saved.id, as_of=clock.now() - timedelta(days=50))
        assert entry is not None
        assert past is not None
        assert (entry.content, past.content) == ("Lives in Bergen", "Lives in Oslo")

    def test_the_same_statement_again_counts(self, alice: Memory) -> None:
        saved = [alice.save_semantic(text="Likes tea", label="tea").id for _ in range(3)]
        entry = alice.get_memory(saved[0])
        assert entry is not None
        assert (set(saved), entry.occurrences, entry.version) == ({saved[0]}, 3, 1)

    def test_without_upsert_there_are_two(self, alice: Memory) -> None:
        one = alice.save_semantic(text="Likes tea", label="tea", upsert=False)
        two = alice.save_semantic(text="Likes tea", label="tea", upsert=False)
        assert one.id != two.id
        assert len(alice.list_memories().items) == 2

    def test_a_second_procedure_is_a_conflict_unless_it_updates(self, alice: Memory) -> None:
        given: dict[str, Any] = {"procedure": "deploy", "description": "how"}
        first = alice.save_procedure(content="one", **given)
        with pytest.raises(MemoryConflictError) as caught:
            alice.save_procedure(content="two", **given)
        assert caught.value.code == "PROCEDURE_EXISTS"
        assert alice.save_procedure(content="two", update_existing=True, **given).id == first.id
        found = alice.get_procedure("deploy")
        assert found is not None
        assert found["content"] == "two"

    def test_names_are_compared_byte_for_byte(self, alice: Memory) -> None:
        names = ("tea", "Tea", "tea ", "té", "te\u0301", "t_a", "t%")
        ids = {name: alice.save_semantic(text=f"about {name!r}", label=name).id for name in names}
        assert len(set(ids.values())) == len(names)
        for name in names:
            found = alice.get_semantic(name)
            assert found is not None
            assert found["id"] == ids[name]

    def test_namespaces_are_compared_by_whole_segments(self, alice: Memory) -> None:
        namespaces = ("users/john-doe/memories", "users/john_doe/memories", "tenant/acme", "tenant/acme-corp", "%")
        ids = {name: alice.save(NOTE, f"in {name}", namespace=name, key="k").id for name in namespaces}
        assert len(set(ids.values())) == len(namespaces)
        for name in namespaces:
            assert alice.save(NOTE, f"in {name}, again", namespace=name, key="k").id == ids[name]
        assert alice.save(NOTE, "x", namespace="tenant/acme", key="K").id not in ids.values()

    def test_identity_is_never_read_from_metadata(self, memory: Memory, alice: Memory, bob: Memory) -> None:
        saved = alice.save_semantic(text="likes tea", label="tea", metadata={"user_id": "bob", "k": 1})
        alice.update_memory(saved.id, metadata={"user_id": "bob", "visibility": "org"})
        entry = alice.get_memory(saved.id)
        assert entry is not None
        assert (entry.user_id, entry.visibility) == ("alice", "private")
        assert entry.metadata == {"user_id": "bob", "visibility": "org"}
        assert bob.search_semantic("tea") == []
        assert bob.get_memory(saved.id) is None
        turn = alice.record_turn(role="user", content="tea", metadata={"user_id": "bob", "session_id": "s9"})
        assert bob.get_turn(turn.id) is None

    def test_all_metadata_is_kept(self, alice: Memory) -> None:
        metadata = {"title": 1, "summary": [True], "participants": None, "deep": {"a": {"b": 1.5}}, "": "empty"}
        saved = alice.save_episode(title="t", content="c", metadata=metadata)
        entry = alice.get_memory(saved.id)
        assert entry is not None
        assert entry.metadata == metadata

    def test_one_key_is_one_save(self, alice: Memory) -> None:
        first = alice.save_episode(title="t", content="c", idempotency_key="k")
        assert alice.save_episode(title="t", content="c", idempotency_key="k").id == first.id
        with pytest.raises(MemoryConflictError) as caught:
            alice.save_episode(title="t", content="other", idempotency_key="k")
        assert caught.value.code == "IDEMPOTENCY_CONFLICT"
        assert len(alice.list_memories().items) == 1

    def test_a_key_of_a_save_that_has_ended_is_free_again(self, alice: Memory, clock: ManualClock) -> None:
        first = alice.save_episode(title="t", content="c", idempotency_key="k", ttl_days=1)
        clock.advance(timedelta(days=2))
        second = alice.save_episode(title="t", content="c", idempotency_key="k")
        assert second.id != first.id
        assert [item.id for item in alice.list_memories().items] == [second.id]

    def test_many_saves_report_each(self, alice: Memory) -> None:
        items: list[dict[str, Any]] = [
            {"kind": "semantic", "text": "likes tea", "label": "tea"},
            {"kind": "semantic", "text": "likes tea", "label": "tea"},
            {"kind": "semantic", "text": "likes coffee", "label": "tea"},
            {"kind": "episodic", "title": "t", "content": "c"},
            {"kind": "custom", "memory_type": NOTE, "content": "n"},
        ]
        results = alice.save_many(items)
        assert [result.status for result in results] == ["created", "repeated", "updated", "created", "created"]
        assert [result.index for result in results] == [0, 1, 2, 3, 4]

    def test_many_saves_are_all_or_none(self, alice: Memory) -> None:
        items = [
            {"kind": "procedural", "procedure": "p", "description": "d", "content": "one"},
            {"kind": "procedural", "procedure": "p", "description": "d", "content": "two"},
        ]
        with pytest.raises(MemoryConflictError):
            alice.save_many(items)
        assert alice.list_memories().items == []

    def test_an_update_changes_what_is_given(self, alice: Memory, clock: ManualClock) -> None:
        saved = alice.save_procedure(
            procedure="p", description="d", content="c", tags=["a"], metadata={"k": 1}, ttl_days=9
        )
        entry = alice.update_memory(saved.id, fields={"description": "new"})
        assert (entry.version, entry.content, entry.metadata) == (2, "c", {"k": 1})
        assert (entry.body["description"], entry.body["tags"]) == ("new", ["a"])
        assert alice.update_memory(saved.id, metadata=None, ttl_days=None).metadata is None
        clock.advance(timedelta(days=100))
        assert alice.get_memory(saved.id) is not None

    def test_an_updated_text_is_what_is_found(self, memory: Memory, alice: Memory) -> None:
        saved = alice.save_semantic(text="likes tea", label="drink")
        alice.update_memory(saved.id, content="likes coffee")
        memory.wait_until_idle(promote=False)
        for mode in ("text", "hybrid"):
            assert alice.search_semantic("tea", mode="text") == []
            assert [chunk.id for chunk in alice.search_semantic("coffee", mode=mode)] == [saved.id]

    def test_updating_what_is_not_there_says_so(self, alice: Memory) -> None:
        with pytest.raises(MemoryNotFoundError):
            alice.update_memory("nobody", content="x")

    @pytest.mark.parametrize("text", ["", "  \n"])
    def test_a_blank_text_is_refused(self, alice: Memory, text: str) -> None:
        with pytest.raises(MemoryBadRequestError):
            alice.save_semantic(text=text, label="x")

    def test_an_unknown_custom_type_is_refused_with_those_declared(self, alice: Memory) -> None:
        with pytest.raises(MemoryBadRequestError, match=NOTE):
            alice.save("unknown", "x")

    def test_a_callers_vector_is_used_and_checked(self, alice: Memory, embedder: HashedEmbedder) -> None:
        vector = [1.0] + [0.0] * (embedder.dimension - 1)
        saved = alice.save_semantic(text="likes tea", label="tea", embedding=vector)
        assert saved.has_embedding
        assert embedder.calls == []
        (chunk,) = alice.search_semantic("anything", mode="semantic", query_embedding=vector)
        assert (chunk.id, round(chunk.similarity_score or 0, 2)) == (saved.id, 1.0)
        for wrong in ([1.0], [0.0] * embedder.dimension):
            with pytest.raises((MemoryBadRequestError, ValueError)):
                alice.save_semantic(text="x", label="y", embedding=wrong)

    def test_a_memory_of_the_organisation_is_seen_by_all(self, memory: Memory, alice: Memory) -> None:
        alice.save_taxonomic(domain="ops", term="SEV1", definition="the worst incident")
        bob = user(memory, "bob")
        assert bob.search_taxonomic("incident") == []
        assert [chunk.content for chunk in memory.search_taxonomic("incident", visibility="org")] != []
        assert memory.list_domains("org") == ["ops"]
