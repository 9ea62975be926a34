"""What a random caller reads: every answer is compared with the model's."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise, product
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memoranda.sdk.memory import Memory
from memoranda.sdk.models import RetrievalMode
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.testing.clock import ManualClock
from memoranda.testing.model import MemoryModel, ModelMemory

CUSTOM = "note"

# Ids that a careless comparison takes for each other: case, composed and decomposed accents, separators, wildcards,
# spaces around, prefixes.
USERS = ("alice", "Alice", "jöhn-doe", "jo\u0308hn-doe", "john_doe", "john%doe", "a", " a", "alice/1")
SESSIONS = ("s1", "S1", "s_1", "s%1", " s1")
NAMES = ("tea", "Tea", "te_", "té", "te\u0301", "a/b")
DOMAINS = ("food", "Food")
CONTENTS = (
    "Green tea in the morning",
    "Coffee, never tea",
    "The deploy runs on Fridays",
    "Running late for the Oslo train",
    "我喜欢喝榛子拿铁",
    "100% \"quoted\" -- NEAR(a b) * 'x'",
)
QUERIES = ("tea", "coffee tea", "Fridays deploy running", "榛子", "100% NEAR(", "Oslo zebra", "tea*")
VISIBILITIES = ("private", "org", "shared")
KINDS = ("semantic", "episodic", "taxonomic", "procedural", CUSTOM)

contents = st.sampled_from(CONTENTS)
lifetimes = st.sampled_from([None, None, None, timedelta(days=1), timedelta(days=5)])
# Places in the cast of a run: few, so that they meet.
places = st.sampled_from([0, 0, 0, 0, 1, 1, 2])
readers = st.none() | places
casts = st.tuples(
    st.lists(st.sampled_from(USERS), min_size=3, max_size=3, unique=True),
    st.lists(st.sampled_from(SESSIONS), min_size=3, max_size=3, unique=True),
    st.lists(st.sampled_from(NAMES), min_size=3, max_size=3, unique=True),
)


class ReadingMachine(RuleBasedStateMachine):
    """Reads the engine and the model side by side; a subclass opens the store and writes to both."""

    users: list[str]
    sessions: list[str]
    names: list[str]
    memory: Memory
    model: MemoryModel
    clock: ManualClock
    moments: list[datetime]
    """Times that were the present once."""
    gone: list[str]
    """Ids of memories that are no more."""
    steps: int

    def user_at(self, place: int | None) -> str | None:
        return None if place is None else self.users[place]

    def session_at(self, place: int | None) -> str | None:
        return None if place is None else self.sessions[place]

    def as_user(self, user: str | None, session: str | None = None) -> Memory:
        return self.memory.bind(MemoryRequestContext(user_id=user, session_id=session))

    def _read_turns(self, user: str | None, name: str | None) -> None:
        seen: list[str] = []
        cursor = None
        while not seen or cursor is not None:
            page = self.memory.list_turns(name, user_id=user, limit=3, cursor=cursor)
            seen += [item.id for item in page.items] or ["(empty page)"]
            cursor = page.next_cursor
        expected = [turn.id for turn in self.model.visible_turns(user, name)]
        assert seen == (expected or ["(empty page)"])
        for turn in self.model.turns.values():
            found = self.as_user(user).get_turn(turn.id)
            assert (found is not None) == (turn in self.model.visible_turns(user, None))
            assert found is None or (found.content, found.turn_seq) == (turn.content, turn.seq)

    def _list_memories(self, user: str | None) -> None:
        for kind, visibility in [*product((None, *KINDS), (None,)), *product((None,), VISIBILITIES)]:
            page = self.memory.list_memories(kind=kind, user_id=user, visibility=visibility, limit=1000)
            expected = self.model.visible(kind, user, visibility)
            assert [_entry(item) for item in page.items] == [_model_entry(each) for each in expected]
        for visibility in (None, *VISIBILITIES):
            assert self.memory.list_domains(visibility) == self.model.domains(visibility)

    @rule(reader=readers, data=st.data())
    def get_memories_now_and_then(self, reader: int | None, data: st.DataObject) -> None:
        user, moment = self.user_at(reader), data.draw(st.sampled_from(self.moments))
        handle = self.as_user(user)
        for memory_id in [*self.model.memories, *self.gone]:
            found, expected = handle.get_memory(memory_id), self.seen(memory_id, user)
            assert (None if found is None else _entry(found)) == (None if expected is None else _model_entry(expected))
            states = [] if expected is None else self.model.history(expected, user)
            assert [state.content for state in handle.history(memory_id)] == states
            past = handle.get_memory(memory_id, as_of=moment)
            then = None if expected is None else self.model.at(expected, moment, user)
            assert (None if past is None else (past.version, past.content)) == then

    @rule(reader=readers)
    def get_by_name(self, reader: int | None) -> None:
        user = self.user_at(reader)
        for name in self.names:
            found = {
                ("semantic", ""): self.memory.get_semantic(name, user_id=user),
                ("procedural", ""): self.memory.get_procedure(name, user_id=user),
                **{
                    ("taxonomic", domain): self.memory.get_taxonomic_term(domain, name, user_id=user)
                    for domain in DOMAINS
                },
            }
            for (kind, domain), entry in found.items():
                expected = self.model.named(kind, name, domain, user)
                assert (entry and entry["id"]) == (expected and expected.id)

    def _search(self, query: str, user: str | None, visibility: str | None) -> None:
        handle = self.as_user(user)
        options: dict[str, Any] = {"visibility": visibility, "mode": RetrievalMode.TEXT, "top_k": 100}
        for kind in sorted({memory.spec.kind for memory in self.model.memories.values()}):
            expected = self.model.search(query, kind, user, visibility)
            if kind == CUSTOM:
                found = [each.id for each in handle.retrieve(CUSTOM, query, **options).results]
            else:
                chunks = handle.search(query, sources=[kind], user_id=user, **options)
                found = [chunk.id for chunk in chunks]
                given = {chunk.id: round(chunk.similarity_score or 0, 9) for chunk in chunks}
                assert given == {key: round(score, 9) for key, score in expected.items()}
            assert set(found) == expected.keys()
            assert all(one >= two - 1e-9 for one, two in pairwise(expected[key] for key in found))

    @rule(query=st.sampled_from(QUERIES), reader=readers, session=st.none() | places)
    def build_context_of_turns(self, query: str, reader: int | None, session: int | None) -> None:
        user, name = self.user_at(reader), self.session_at(session)
        context = self.memory.build_context(
            query, user_id=user, session_id=name, enabled_sources={"stm"}, include_memories=True
        )
        selected = {chunk.id for chunk in context.selected_memories or []}
        assert selected <= {turn.id for turn in self.model.visible_turns(user, name)}

    @invariant()
    def reads_agree(self) -> None:
        """Compare, after every step, what one of the readers finds; who it is and what for goes round."""
        status = self.memory.status()
        assert status.turns == len(self.model.turns)
        assert sum(status.memories.values()) == len(self.model.memories)
        turn, self.steps = self.steps, self.steps + 1
        user = (None, *self.users)[turn % 4]
        self._list_memories(user)
        self._read_turns(user, (None, *self.sessions)[turn % 3])
        self._search(QUERIES[turn % len(QUERIES)], user, (None, *VISIBILITIES)[turn % 4 if turn % 2 else 0])

    def seen(self, memory_id: str, user: str | None) -> ModelMemory | None:
        memory = self.model.memories.get(memory_id)
        return memory if memory is not None and self.model.may_see(memory, user) else None


def _entry(item: Any) -> tuple[object, ...]:
    return (item.id, item.kind, item.content, item.user_id, item.visibility, item.version, item.occurrences)


def _model_entry(memory: ModelMemory) -> tuple[object, ...]:
    spec = memory.spec
    return (memory.id, spec.kind, spec.content, spec.user, spec.visibility, memory.version, memory.occurrences)
