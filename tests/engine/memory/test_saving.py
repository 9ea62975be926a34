"""Saving memories: natural keys, versions, repeats, idempotency, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memoranda.engine.drafts import UNSET, MemoryChanges, MemoryDraft, SaveStatus
from memoranda.engine.memory_reads import MemoryListing, NaturalName
from memoranda.engine.memory_service import SaveRequest
from memoranda.engine.records import MemoryStatus, VectorState
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from tests.engine.memory.world import MemoryWorld, day


def procedure(name: str = "deploy", *, update: bool = False, content: str = "push the button") -> MemoryDraft:
    return MemoryDraft(kind="procedural", content=content, name=name, user_id="ann", upsert=update)


def test_upsert_keeps_the_id_raises_the_version_and_closes_the_old_state(world: MemoryWorld) -> None:
    first = world.fact("likes tea", "drink", event_time=day(2)).record
    second = world.fact("likes coffee", "drink", event_time=day(4))
    assert (second.record.id, second.record.version, second.status) == (first.id, 2, SaveStatus.UPDATED)
    states = world.memories.history(first.id)
    assert [(state.content, state.valid_from, state.valid_to) for state in states] == [
        ("likes tea", day(2), day(4)),
        ("likes coffee", day(4), None),
    ]
    assert world.found("tea") == set()
    assert world.found("coffee") == {first.key}


def test_the_same_save_counts_as_a_repeat_and_makes_no_version(world: MemoryWorld) -> None:
    record = world.fact("likes tea", "drink", metadata={"n": 1}).record
    again = world.fact("likes tea", "drink", metadata={"n": 1})
    assert (again.status, again.record.version, again.record.occurrences) == (SaveStatus.REPEATED, 1, 2)
    assert [state.version for state in world.memories.history(record.id)] == [1]


def test_other_metadata_is_a_new_version_that_says_the_same(world: MemoryWorld) -> None:
    world.fact("likes tea", "drink", metadata={"n": 1})
    again = world.fact("likes tea", "drink", metadata={"n": 2}).record
    assert (again.version, again.occurrences, again.metadata) == (2, 2, {"n": 2})


def test_one_sentence_stated_six_times_is_one_memory_that_counts_them(world: MemoryWorld) -> None:
    for number in range(5):
        world.fact("Works at DGIA", "employer", session_id=f"s{number}")
    last = world.fact("works at  DGIA.", "employer", session_id="s5").record
    assert world.texts() == ["works at  DGIA."]
    assert last.occurrences == 6


def test_a_state_that_was_true_earlier_goes_into_the_history(world: MemoryWorld) -> None:
    record = world.fact("lives in Rome", "home", event_time=day(9)).record
    world.fact("lives in Oslo", "home", event_time=day(3))
    late = world.fact("lives in Kyiv", "home", event_time=day(6))
    assert late.record.content == "lives in Rome"
    states = world.memories.history(record.id)
    assert [(state.content, state.valid_from, state.valid_to) for state in states] == [
        ("lives in Oslo", day(3), day(6)),
        ("lives in Kyiv", day(6), day(9)),
        ("lives in Rome", day(9), None),
    ]
    assert world.found("Kyiv") == set()
    view = world.memories.get(record.id, as_of=day(7))
    assert view is not None
    assert view.record.content == "lives in Kyiv"


@pytest.mark.parametrize("arrival", [(1, 5, 9), (5, 1, 9), (5, 9, 1), (9, 1, 5), (9, 5, 1)])
def test_states_stand_in_the_order_of_their_times_however_they_arrive(
    world: MemoryWorld, arrival: Sequence[int]
) -> None:
    cities = {1: "Oslo", 5: "Rome", 9: "Oslo"}
    for date in arrival:
        record = world.fact(cities[date], "home", event_time=day(date)).record
    views = [world.memories.get(record.id, as_of=day(date)) for date in (1, 4, 5, 8, 9)]
    assert [view and view.record.content for view in views] == ["Oslo", "Oslo", "Rome", "Rome", "Oslo"]


def test_what_the_history_says_already_is_not_added_to_it_again(world: MemoryWorld) -> None:
    world.fact("lives in Rome", "home", event_time=day(9))
    world.fact("lives in Oslo", "home", event_time=day(3))
    again = world.fact("lives in Oslo", "home", event_time=day(4))
    assert (again.status, again.record.content, again.record.occurrences) == (SaveStatus.REPEATED, "lives in Rome", 1)
    assert len(world.memories.history(again.record.id)) == 2


def test_without_upsert_a_label_may_be_used_again_and_the_slot_wins_a_read(world: MemoryWorld) -> None:
    in_slot = world.fact("likes tea", "drink").record
    beside = world.fact("likes water", "drink", upsert=False).record
    assert beside.slot == beside.id
    key = NaturalName("semantic", "", "drink")
    for scope, expected in ((Scope(user_id="ann"), in_slot), (Scope(), beside)):
        found = world.memories.get_by_natural_key(key, scope)
        assert found is not None
        assert found.record.id == expected.id
    world.memories.delete(in_slot.id)
    found = world.memories.get_by_natural_key(key, Scope(user_id="ann"))
    assert found is not None
    assert found.record.id == beside.id


def test_owners_kinds_and_spellings_do_not_share_a_natural_key(world: MemoryWorld) -> None:
    for user in ("ann", "Ann", "änn", "an_n", "an%n"):
        for label in ("drink", "Drink", "dr%nk", "dr_nk"):
            world.fact(f"{user} {label}", label, user=user)
    world.memories.save(MemoryDraft("procedural", "pour it", "ann", name="drink"))
    assert len(world.texts()) == 21


def test_taxonomic_terms_are_keyed_by_domain_and_term_exactly(world: MemoryWorld) -> None:
    def define(domain: str, term: str, meaning: str) -> str:
        draft = MemoryDraft("taxonomic", meaning, "ann", domain=domain, name=term, visibility="org", upsert=True)
        return world.memories.save(draft).record.id

    assert define("a", "bc", "one") != define("ab", "c", "two")
    assert define("a", "bc", "three") == define("a", "bc", "four")
    assert world.memories.domains(Scope()) == ["a", "ab"]
    assert world.memories.domains(Scope(visibility="private")) == []


def test_a_second_procedure_is_a_conflict_unless_it_updates(world: MemoryWorld) -> None:
    first = world.memories.save(procedure()).record
    with pytest.raises(MemoryConflictError, match=r"'deploy' exists already.*update_existing=True") as caught:
        world.memories.save(procedure(content="other"))
    assert caught.value.code == "PROCEDURE_EXISTS"
    updated = world.memories.save(procedure(content="other", update=True)).record
    assert (updated.id, updated.version) == (first.id, 2)


def test_namespaces_are_compared_by_whole_segments_and_nothing_is_a_pattern(world: MemoryWorld) -> None:
    def put(namespace: str, text: str) -> None:
        draft = MemoryDraft("ticket", text, "ann", domain=namespace, name="k", upsert=True)
        world.memories.save(draft)

    for namespace, text in (
        ("users/john-doe/memories", "A"),
        ("users/john_doe/memories", "B"),
        ("tenant/acme", "C"),
        ("tenant/acme-corp", "D"),
        ("tenant/acme/sales", "E"),
        ("Tenant/acme", "F"),
    ):
        put(namespace, text)
    for prefix, expected in (
        ("users/john_doe", ["B"]),
        ("tenant/acme", ["C", "E"]),
        ("%", []),
        ("foo*", []),
        ("users", ["A", "B"]),
        ("tenant/acm", []),
    ):
        assert world.texts(MemoryListing(kind="ticket", below=prefix)) == expected
        assert world.texts(MemoryListing(kind="ticket", below=prefix, as_of=world.clock.now())) == expected


def test_identity_in_metadata_is_plain_data(world: MemoryWorld) -> None:
    record = world.fact("likes tea", metadata={"user_id": "bob", "k": 1}).record
    world.memories.update(record.id, MemoryChanges(metadata={"user_id": "bob"}))
    assert world.texts(MemoryListing(scope=Scope(user_id="bob"))) == []
    assert world.found("tea", user="bob") == set()
    view = world.memories.get(record.id, user_id="ann")
    assert view is not None
    assert (view.record.user_id, view.record.metadata) == ("ann", {"user_id": "bob"})


def test_the_same_idempotency_key_saves_once(world: MemoryWorld) -> None:
    draft = MemoryDraft("semantic", "likes tea", "ann", ttl_days=3)
    first = world.memories.save(draft, idempotency_key="k").record
    world.clock.advance(timedelta(hours=1))
    assert world.memories.save(draft, idempotency_key="k").record == first
    assert world.memories.save(MemoryDraft("semantic", "likes tea", "bob"), idempotency_key="k").record.id != first.id
    with pytest.raises(MemoryConflictError) as caught:
        world.memories.save(MemoryDraft("semantic", "likes rum", "ann"), idempotency_key="k")
    assert caught.value.code == "IDEMPOTENCY_CONFLICT"
    world.memories.delete(first.id)
    assert world.memories.save(draft, idempotency_key="k").record.id != first.id


def test_many_are_saved_in_one_transaction_or_not_at_all(world: MemoryWorld) -> None:
    tea, rum = MemoryDraft("semantic", "tea", "ann", name="a", upsert=True), MemoryDraft("semantic", "rum", "ann")
    saved = world.memories.save_many([SaveRequest(tea), SaveRequest(rum), SaveRequest(tea)])
    assert [written.status for written in saved] == [SaveStatus.CREATED, SaveStatus.CREATED, SaveStatus.REPEATED]
    bad = SaveRequest(MemoryDraft("semantic", "gin", "ann", visibility="secret"))
    with pytest.raises(MemoryBadRequestError, match="item 1: visibility 'secret'"):
        world.memories.save_many([SaveRequest(MemoryDraft("semantic", "ale", "ann")), bad])
    world.memories.save(procedure())
    with pytest.raises(MemoryConflictError):
        world.memories.save_many([SaveRequest(MemoryDraft("semantic", "ale", "ann")), SaveRequest(procedure())])
    assert world.texts() == ["tea", "rum", "push the button"]


def test_an_expired_record_makes_room_in_its_slot(world: MemoryWorld) -> None:
    first = world.fact("likes tea", "drink", ttl_days=1).record
    world.clock.advance(timedelta(days=2))
    assert world.memories.get(first.id) is None
    second = world.fact("likes tea", "drink")
    assert second.status is SaveStatus.CREATED
    assert second.record.id != first.id
    assert world.found("tea") == {second.record.key}


def test_an_update_changes_what_it_names_and_moves_the_index(world: MemoryWorld) -> None:
    record = world.fact("likes tea", "drink", metadata={"n": 1}).record
    world.clock.advance(timedelta(days=1))
    changes = MemoryChanges(content="likes rum", visibility="org", fields={"label": "liquor", "source": "chat"})
    updated = world.memories.update(record.id, changes, user_id="ann").record
    assert (updated.content, updated.name, updated.visibility, updated.version) == ("likes rum", "liquor", "org", 2)
    assert (updated.body, updated.metadata) == ({"source": "chat"}, {"n": 1})
    assert world.found("tea") == set()
    assert world.found("rum") == {record.key}
    assert world.fact("likes gin", "liquor").record.id == record.id
    assert world.fact("likes tea", "drink").record.id != record.id
    cleared = world.memories.update(record.id, MemoryChanges(metadata=None, ttl_days=UNSET)).record
    assert cleared.metadata is None


def test_an_update_to_a_taken_natural_key_is_a_conflict(world: MemoryWorld) -> None:
    world.fact("likes tea", "drink")
    other = world.fact("likes jazz", "music").record
    with pytest.raises(MemoryConflictError, match="named 'drink' already"):
        world.memories.update(other.id, MemoryChanges(name="drink"))


def test_another_users_private_memory_is_not_there(world: MemoryWorld) -> None:
    record = world.fact("likes tea").record
    assert world.memories.get(record.id, user_id="bob") is None
    assert world.memories.history(record.id, user_id="bob") == []
    with pytest.raises(MemoryNotFoundError):
        world.memories.update(record.id, MemoryChanges(content="x"), user_id="bob")
    with pytest.raises(MemoryNotFoundError):
        world.memories.delete(record.id, user_id="bob")
    shared = world.fact("likes rum", visibility="org").record
    assert world.memories.get(shared.id, user_id="bob") is not None


def test_a_memory_without_a_user_is_for_the_project(world: MemoryWorld) -> None:
    assert world.fact("the office is in Oslo", user=" ").record.visibility == "org"


def test_direct_saves_have_their_vector_at_once(embedding_world: MemoryWorld) -> None:
    assert embedding_world.fact("likes tea").has_embedding
    given = embedding_world.memories.save(MemoryDraft("semantic", "rum", "ann"), embedding=[1.0] * 8)
    assert given.has_embedding
    with pytest.raises(MemoryBadRequestError, match="expected 8 numbers"):
        embedding_world.memories.save(MemoryDraft("semantic", "rum", "ann"), embedding=[1.0])


def test_what_cannot_be_embedded_for_now_is_stored_and_embedded_later(embedding_world: MemoryWorld) -> None:
    world, embedder = embedding_world, embedding_world.background.embedder
    assert embedder is not None
    answer = embedder.answer

    def fail(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ConnectionError("down")

    embedder.answer = fail
    written = world.fact("likes tea")
    assert written.vector_state is VectorState.PENDING
    embedder.answer = answer
    world.clock.advance(timedelta(hours=1))
    world.background.drain()
    view = world.memories.get(written.record.id)
    assert view is not None
    assert view.has_embedding


def test_what_the_embedder_refuses_is_stored_without_a_vector_and_kept_as_a_failure(
    embedding_world: MemoryWorld,
) -> None:
    world, embedder = embedding_world, embedding_world.background.embedder
    assert embedder is not None

    def refuse(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ValueError("not this text")

    embedder.answer = refuse
    written = world.fact("likes tea")
    assert written.vector_state is VectorState.REFUSED
    assert world.found("tea") == {written.record.key}
    with world.background.read() as tx:
        failures = tx.failures.page(None, "", 10)
    assert [(failure.user_id, "not this text" in failure.reason) for failure in failures] == [("ann", True)]


def test_a_changed_text_has_a_new_vector_and_changed_metadata_keeps_the_old(embedding_world: MemoryWorld) -> None:
    world, embedder = embedding_world, embedding_world.background.embedder
    assert embedder is not None
    record = world.fact("likes tea").record
    before = world.rows("vectors")["vectors"]
    assert world.memories.update(record.id, MemoryChanges(metadata={"n": 1})).has_embedding
    assert world.rows("vectors")["vectors"] == before
    assert world.memories.update(record.id, MemoryChanges(content="likes rum")).has_embedding
    assert len(world.rows("vectors")["vectors"]) == 1
    assert world.rows("vectors")["vectors"] != before
    assert embedder.texts == ["likes tea", "likes rum"]


def test_superseding_keeps_both_records_and_ends_the_old(world: MemoryWorld) -> None:
    old = world.fact("lives in Rome", event_time=day(2)).record
    with world.background.write() as tx:
        new = world.background.writer.supersede(
            tx, old, MemoryDraft("semantic", "lives in Oslo", "ann", event_time=day(5))
        )
    assert world.texts() == ["lives in Oslo"]
    assert world.texts(MemoryListing(include_superseded=True)) == ["lives in Rome", "lives in Oslo"]
    view = world.memories.get(old.id)
    assert view is not None
    assert (view.record.status, view.record.valid_to, view.superseded_by) == (
        MemoryStatus.SUPERSEDED,
        day(5),
        new.record.id,
    )
    assert [state.content for state in world.memories.history(new.record.id)] == ["lives in Rome", "lives in Oslo"]
    assert world.found("Rome") == set()
    assert world.found("Rome", superseded=True) == {old.key}
    world.memories.delete(new.record.id)
    assert world.texts(MemoryListing(include_superseded=True)) == ["lives in Rome"]
    assert world.texts() == []


def test_long_text_is_saved_at_once_and_embedded_by_a_job(embedding_world: MemoryWorld) -> None:
    world, embedder = embedding_world, embedding_world.background.embedder
    assert embedder is not None
    asked = len(embedder.texts)
    written = world.fact("word " * 5_000, "long")
    assert written.vector_state is VectorState.PENDING
    assert len(embedder.texts) == asked
    world.background.drain()
    assert len(embedder.texts) > asked
