"""What callers give themselves: ids, ends of lifetimes, states, searched texts; and changes of turns and links."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memoranda.engine.config import ProjectConfig
from memoranda.engine.drafts import MemoryChanges, MemoryDraft
from memoranda.engine.engine import MemoryEngine, Providers
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.indexing import INDEX_TEXTS
from memoranda.engine.links import LinkChanges, LinkDraft
from memoranda.engine.memory_reads import MemoryListing
from memoranda.engine.records import SEMANTIC, Identity, MemoryStatus, VectorState
from memoranda.engine.retrieval.plan import SearchRequest, SourcePlan
from memoranda.engine.scope import Scope
from memoranda.engine.turns import TurnChanges, TurnDraft
from memoranda.providers.tokens import estimate_tokens
from memoranda.sdk.errors import MemoryBadRequestError, MemoryConflictError, MemoryNotFoundError
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import ManualClock
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.integrity import check

DAY = timedelta(days=1)
ALICE = Identity("alice", "agent", "s")
EVERYTHING = MemoryListing(scope=Scope(user_id="alice"), include_superseded=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(tmp_path: Path, clock: ManualClock) -> Iterator[MemoryEngine]:
    """An engine without a worker; what it leaves behind is sound."""
    store = SqliteStore.open(tmp_path / "memory.db")
    providers = Providers(clock, estimate_tokens, LocalExtractor(), embedder=HashedEmbedder())
    engine = MemoryEngine(store, "p", providers, config=ProjectConfig(), worker=False)
    yield engine
    engine.close()
    store.close()
    assert check(tmp_path / "memory.db") == []


def found(engine: MemoryEngine, query: str, source: str = "stm") -> list[str]:
    request = SearchRequest(query, Scope(user_id="alice"), [SourcePlan(source)], include_superseded=True)
    return [hit.id for hit in engine.searcher.search(request).hits if hit.score > 0]


def draft(content: str, **fields: object) -> MemoryDraft:
    return MemoryDraft(SEMANTIC, content, "alice", **fields)  # type: ignore[arg-type]  # fields of a draft


# --- turns


def test_a_turn_has_the_id_of_its_caller_once(engine: MemoryEngine) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "one", id="t1", parts={"a": 1})])
    with pytest.raises(MemoryConflictError, match="t1"):
        engine.turns.record([TurnDraft(Identity("bob", "", "s"), "user", "two", id="t1")])
    stored = engine.turns.get("t1")
    assert stored is not None
    assert (stored.content, stored.parts, stored.user_id) == ("one", {"a": 1}, "alice")


def test_a_turn_that_has_ended_gives_its_id_free(engine: MemoryEngine, clock: ManualClock) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "one", id="t1", expires_at=clock.now() + DAY)])
    clock.advance(DAY)
    assert engine.turns.record([TurnDraft(ALICE, "user", "two", id="t1")])[0].turn.content == "two"


def test_a_changed_turn_is_found_by_what_it_says_now(engine: MemoryEngine, clock: ManualClock) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "trains", id="t1", metadata={"k": 1})])
    engine.background.wait_until_idle(promote=False)
    changed = engine.turns.update("t1", TurnChanges(content="boats", expires_at=clock.now() + DAY))
    assert (changed.content, changed.metadata, changed.turn_seq) == ("boats", {"k": 1}, 1)
    assert found(engine, "boats") == ["t1"]
    engine.background.wait_until_idle(promote=False)
    with engine.store.read("p") as tx:
        assert [row.vector_state for row in tx.search.documents([changed.key])] == [VectorState.PRESENT]
    clock.advance(DAY)
    assert found(engine, "boats") == []
    with pytest.raises(MemoryNotFoundError):
        engine.turns.update("t1", TurnChanges(content="x"))


def test_new_metadata_leaves_the_index_of_a_turn_alone(engine: MemoryEngine) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "trains", id="t1")])
    engine.background.wait_until_idle(promote=False)
    changed = engine.turns.update("t1", TurnChanges(metadata={"k": 2}))
    assert changed.metadata == {"k": 2}
    with engine.store.read("p") as tx:
        assert [row.vector_state for row in tx.search.documents([changed.key])] == [VectorState.PRESENT]


def test_a_turn_goes_alone_where_that_is_said(engine: MemoryEngine) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "My name is Anna.", id="t1")])
    engine.background.wait_until_idle()
    assert len(engine.memories.page(EVERYTHING).views) == 1
    assert engine.deletion.delete_turn("t1", keep_derived=True).turns == 1
    assert len(engine.memories.page(EVERYTHING).views) == 1
    engine.deletion.delete_session("s")
    assert engine.memories.page(EVERYTHING).views == ()


# --- memories


def test_a_memory_has_what_its_caller_says(engine: MemoryEngine, clock: ManualClock) -> None:
    ends = clock.now() + DAY
    written = engine.memories.save(draft("x", id="m1", expires_at=ends, valid=False, may_be_blank=True)).record
    assert (written.id, written.expires_at, written.status) == ("m1", ends, MemoryStatus.SUPERSEDED)
    with pytest.raises(MemoryConflictError, match="m1"):
        engine.memories.save(draft("y", id="m1"))
    with pytest.raises(MemoryBadRequestError, match="blank"):
        engine.memories.save(draft("y", id=" "))
    clock.advance(DAY)
    assert engine.memories.save(draft("y", id="m1")).record.status is MemoryStatus.CURRENT


def test_a_memory_is_found_by_the_texts_that_stand_for_it(engine: MemoryEngine) -> None:
    engine.memories.save(draft("4711", id="m1", body={INDEX_TEXTS: ["the code", "of the door"]}))
    assert found(engine, "door code", SEMANTIC) == ["m1"]
    engine.memories.update("m1", MemoryChanges(fields={INDEX_TEXTS: None}))
    assert found(engine, "4711", SEMANTIC) == ["m1"]


def test_a_state_by_hand_outlasts_links(engine: MemoryEngine) -> None:
    for name in ("new", "old"):
        engine.memories.save(draft(name, id=name))
    engine.memories.update("old", MemoryChanges(valid=False))
    link = engine.links.add(LinkDraft("new", "old", "supersedes"))
    engine.links.delete(link.id)
    assert status(engine, "old") is MemoryStatus.SUPERSEDED
    engine.memories.update("old", MemoryChanges(valid=True))
    engine.memories.update("old", MemoryChanges(valid=True))
    assert status(engine, "old") is MemoryStatus.CURRENT


def status(engine: MemoryEngine, memory_id: str) -> MemoryStatus:
    view = engine.memories.get(memory_id)
    assert view is not None
    return view.record.status


# --- links


def test_a_link_of_the_callers_own_ends_nothing(engine: MemoryEngine) -> None:
    for name in ("one", "two"):
        engine.memories.save(draft(name, id=name))
    with pytest.raises(MemoryBadRequestError, match="unknown"):
        engine.links.add(LinkDraft("one", "two", "causes"))
    link = engine.links.add(LinkDraft("one", "two", "causes", id="l", inverse="is caused by", free=True))
    assert (link.id, link.inverse) == ("l", "is caused by")
    assert engine.links.get("l") == link
    assert status(engine, "two") is MemoryStatus.CURRENT
    with pytest.raises(MemoryConflictError, match="'l'"):
        engine.links.add(LinkDraft("two", "one", "causes", id="l", free=True))


def test_a_changed_link_changes_what_its_target_is(engine: MemoryEngine) -> None:
    for name in ("one", "two"):
        engine.memories.save(draft(name, id=name))
    link = engine.links.add(LinkDraft("one", "two", "supports"))
    assert engine.links.update(link.id, LinkChanges(relation="supersedes")).inverse == "superseded_by"
    assert status(engine, "two") is MemoryStatus.SUPERSEDED
    engine.links.update(link.id, LinkChanges(relation="contradicts", metadata={"k": 1}))
    assert status(engine, "two") is MemoryStatus.CURRENT
    with pytest.raises(MemoryNotFoundError):
        engine.links.update("nobody", LinkChanges())


# --- deletion


def test_an_agent_is_deleted_with_all_that_names_it(engine: MemoryEngine) -> None:
    engine.profiles.put("agent", "agent", "sells tickets")
    engine.turns.record([TurnDraft(ALICE, "user", "one")])
    engine.turns.record([TurnDraft(Identity("alice", "other", "s2"), "user", "kept")])
    engine.turns.record([TurnDraft(Identity("alice", "agent", "s2"), "user", "two")])
    engine.memories.save(draft("x", agent_id="agent", session_id="s"))
    engine.memories.save(draft("kept", agent_id="other"))
    counts = engine.deletion.delete_agent("agent")
    assert (counts.turns, counts.memories, counts.profiles) == (2, 1, 1)
    with engine.store.read("p") as tx:
        assert [turn.content for turn in tx.turns.newest(Scope(), None, None, 9, engine.clock.now())] == ["kept"]
        assert [session.session_id for session in tx.sessions.query(Scope())] == ["s2"]
    with pytest.raises(MemoryBadRequestError, match="blank"):
        engine.deletion.delete_agent(" ")


def test_a_session_is_deleted_with_what_was_written_in_it_where_that_is_said(engine: MemoryEngine) -> None:
    engine.turns.record([TurnDraft(ALICE, "user", "one")])
    engine.memories.save(draft("x", id="m", session_id="s"))
    engine.deletion.delete_session("s")
    assert engine.memories.get("m") is not None
    engine.deletion.delete_session("s", written=True)
    assert engine.memories.get("m") is None
