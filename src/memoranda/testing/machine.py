"""A random caller who drives the engine and the model side by side and compares every read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, product
from typing import Any, ClassVar, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memoranda.sdk.errors import MemoryAPIError, MemoryConflictError, MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.sdk.models import RetrievalMode
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.testing.clock import ManualClock
from memoranda.testing.extractors import QuietExtractor
from memoranda.testing.model import Expected, MemoryModel, ModelMemory, SaveSpec
from memoranda.testing.text_model import has_ended

CUSTOM = "note"
CONFIG: dict[str, Any] = {"memory": {"custom_memory_types": [{"name": CUSTOM, "collection": "notes"}]}}

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

Opener: TypeAlias = Callable[..., Memory]


def _days(ttl: timedelta | None) -> float | None:
    return None if ttl is None else ttl / timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Saving:
    """One save, with user, session and name as places in the cast."""

    kind: str
    user: int
    content: str
    name: int = 0
    session: int = 0
    domain: str = "food"
    visibility: str = "private"
    replaces: bool = True
    metadata: dict[str, object] | None = None
    ttl: timedelta | None = None


savings = st.builds(
    Saving,
    kind=st.sampled_from(KINDS),
    user=places,
    content=contents,
    name=places,
    session=places,
    domain=st.sampled_from(DOMAINS),
    visibility=st.sampled_from(VISIBILITIES),
    replaces=st.sampled_from([True, True, True, False]),
    metadata=st.sampled_from([None, None, {"user_id": "bob", "n": 1}]),
    ttl=lifetimes,
)


class MemoryMachine(RuleBasedStateMachine):
    """Subclass it with ``open_memory``, which opens a new, empty store with the arguments of ``Memory.open``."""

    open_memory: ClassVar[Opener]
    """Takes ``config``, ``clock``, ``llm``, ``embedder`` and ``worker``."""

    @initialize(cast=casts, first=st.lists(savings, min_size=5, max_size=12))
    def start(self, cast: tuple[list[str], list[str], list[str]], first: list[Saving]) -> None:
        self.users, self.sessions, self.names = cast
        self.clock = ManualClock()
        self.memory = type(self).open_memory(
            config=CONFIG, clock=self.clock, llm=QuietExtractor(), embedder=None, worker=False
        )
        self.model = MemoryModel(self.clock.now())
        self.moments: list[datetime] = [self.clock.now()]
        self.gone: list[str] = ["nobody"]
        self.steps = 0
        for saving in first:
            self._save_one(saving)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()

    def _user(self, place: int | None) -> str | None:
        return None if place is None else self.users[place]

    def _session(self, place: int | None) -> str | None:
        return None if place is None else self.sessions[place]

    def _as(self, user: str | None, session: str | None = None) -> Memory:
        return self.memory.bind(MemoryRequestContext(user_id=user, session_id=session))

    # --- writing

    @rule(turns=st.lists(st.tuples(places, places, contents, st.sampled_from([None, None, "k", "K"]), lifetimes)))
    def record_turns(self, turns: list[tuple[int, int, str, str | None, timedelta | None]]) -> None:
        for user, session, content, key, ttl in turns:
            self._record(self.users[user], self.sessions[session], content, key, None if key else ttl)

    def _record(self, user: str, session: str, content: str, key: str | None, ttl: timedelta | None) -> None:
        known, handle = self.model.keyed_turn(user, session, key), self._as(user, session)
        if known is not None and known.content != content:
            with raises(MemoryConflictError, "IDEMPOTENCY_CONFLICT"):
                handle.record_turn(role="user", content=content, idempotency_key=key)
            return
        result = handle.record_turn(role="user", content=content, idempotency_key=key, ttl_days=_days(ttl))
        if known is not None:
            assert (result.id, result.turn_seq) == (known.id, known.seq)
            return
        ends = None if ttl is None else self.clock.now() + ttl
        turn = self.model.add_turn(result.id, user, session, content, key=key, expires_at=ends)
        assert result.turn_seq == turn.seq

    @rule(some=st.lists(savings, min_size=2, max_size=6))
    def save(self, some: list[Saving]) -> None:
        for saving in some:
            self._save_one(saving)

    def _save_one(self, saving: Saving) -> None:
        spec = self._spec(saving)
        outcome, found = self.model.expected(spec)
        if outcome is Expected.CONFLICT:
            with raises(MemoryConflictError):
                self._save(spec)
            return
        memory_id = self._save(spec)
        assert found is None or memory_id == found.id
        assert found is not None or memory_id not in self.model.memories
        self.model.save(memory_id, spec)

    def _spec(self, saving: Saving) -> SaveSpec:
        """Return a save without what its kind does not have."""
        kind, replaces = saving.kind, saving.replaces
        named = kind != "episodic" and (kind != CUSTOM or replaces)
        return SaveSpec(
            kind=kind,
            user=self.users[saving.user],
            content=saving.content,
            name=self.names[saving.name] if named else "",
            domain=saving.domain if kind == "taxonomic" or (kind == CUSTOM and replaces) else "",
            visibility=saving.visibility,
            session=self.sessions[saving.session] if kind == "episodic" else "",
            extra="title" if kind in ("episodic", "procedural") else "",
            metadata=saving.metadata,
            ttl=saving.ttl,
            replaces=kind == "taxonomic" or (replaces and kind != "episodic"),
        )

    def _save(self, spec: SaveSpec) -> str:
        handle = self._as(spec.user, spec.session)
        shared: dict[str, Any] = {"visibility": spec.visibility, "ttl_days": _days(spec.ttl)}
        metadata = None if spec.metadata is None else dict(spec.metadata)
        match spec.kind:
            case "semantic":
                result: Any = handle.save_semantic(
                    text=spec.content, label=spec.name, upsert=spec.replaces, metadata=metadata, **shared
                )
            case "episodic":
                result = handle.save_episode(title=spec.extra, content=spec.content, metadata=metadata, **shared)
            case "taxonomic":
                result = handle.save_taxonomic(
                    domain=spec.domain, term=spec.name, definition=spec.content, metadata=metadata, **shared
                )
            case "procedural":
                result = handle.save_procedure(
                    procedure=spec.name,
                    description=spec.extra,
                    content=spec.content,
                    update_existing=spec.replaces,
                    metadata=metadata,
                    **shared,
                )
            case _:
                named: dict[str, Any] = {"namespace": spec.domain, "key": spec.name} if spec.name else {}
                result = handle.save(CUSTOM, spec.content, contextual_metadata=metadata, **named, **shared)
        return str(result.id)

    @rule(data=st.data(), reader=readers, content=contents)
    def update_memory(self, data: st.DataObject, reader: int | None, content: str) -> None:
        memory_id, user = self._any_memory(data), self._user(reader)
        memory = self._seen(memory_id, user)
        if memory is None:
            with raises(MemoryNotFoundError):
                self._as(user).update_memory(memory_id, content=content)
            return
        entry = self._as(user).update_memory(memory_id, content=content)
        self.model.update(memory, _with_content(memory.spec, content))
        assert (entry.id, entry.version, entry.content) == (memory_id, memory.version, content)

    # --- deleting

    @rule(data=st.data(), reader=readers)
    def delete_memory(self, data: st.DataObject, reader: int | None) -> None:
        memory_id, user = self._any_memory(data), self._user(reader)
        if self._seen(memory_id, user) is None:
            with raises(MemoryNotFoundError):
                self._as(user).delete_memory(memory_id)
            return
        assert self._as(user).delete_memory(memory_id).memories == 1
        del self.model.memories[memory_id]
        self.gone.append(memory_id)

    @rule(data=st.data(), reader=readers)
    def delete_turn(self, data: st.DataObject, reader: int | None) -> None:
        turn_id, user = data.draw(st.sampled_from(["nobody", *self.model.turns])), self._user(reader)
        turn = self.model.turns.get(turn_id)
        if turn is not None and has_ended(turn.expires_at, self.model.now):
            return
        if turn is None or user not in (None, turn.user):
            with raises(MemoryNotFoundError):
                self._as(user).delete_turn(turn_id)
            return
        assert self._as(user).delete_turn(turn_id).turns == 1
        del self.model.turns[turn_id]

    @rule(reader=readers, session=places)
    def delete_session(self, reader: int | None, session: int) -> None:
        user, name = self._user(reader), self.sessions[session]
        assert self.memory.delete_session(name, user_id=user).turns == self.model.delete_session(user, name)

    @rule(user=places)
    def delete_user(self, user: int) -> None:
        report = self.memory.delete_user(self.users[user])
        assert (report.turns, report.memories) == self.model.delete_user(self.users[user])

    # --- time

    @rule(hours=st.sampled_from([1, 23, 24, 100]))
    def let_time_pass(self, hours: int) -> None:
        self.model.now = self.clock.advance(timedelta(hours=hours))
        self.moments.append(self.model.now)

    @rule()
    def run_background_work(self) -> None:
        self.memory.wait_until_idle(promote=False)
        self.model.remove_ended()

    # --- reading

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
            found = self._as(user).get_turn(turn.id)
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
        user, moment = self._user(reader), data.draw(st.sampled_from(self.moments))
        handle = self._as(user)
        for memory_id in [*self.model.memories, *self.gone]:
            found, expected = handle.get_memory(memory_id), self._seen(memory_id, user)
            assert (None if found is None else _entry(found)) == (None if expected is None else _model_entry(expected))
            states = [] if expected is None else self.model.history(expected, user)
            assert [state.content for state in handle.history(memory_id)] == states
            past = handle.get_memory(memory_id, as_of=moment)
            then = None if expected is None else self.model.at(expected, moment, user)
            assert (None if past is None else (past.version, past.content)) == then

    @rule(reader=readers)
    def get_by_name(self, reader: int | None) -> None:
        user = self._user(reader)
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
        handle = self._as(user)
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
        user, name = self._user(reader), self._session(session)
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

    # --- parts

    def _any_memory(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([*self.model.memories, self.gone[-1]]))

    def _seen(self, memory_id: str, user: str | None) -> ModelMemory | None:
        memory = self.model.memories.get(memory_id)
        return memory if memory is not None and self.model.may_see(memory, user) else None


@contextmanager
def raises(error: type[MemoryAPIError], code: str | None = None) -> Iterator[None]:
    """Require that the block raises this error (and code)."""
    try:
        yield
    except error as found:
        if code not in (None, found.code):
            raise AssertionError(f"{found.code} instead of {code}") from found
        return
    raise AssertionError(f"{error.__name__} was expected")


def _with_content(spec: SaveSpec, content: str) -> SaveSpec:
    values = {name: getattr(spec, name) for name in SaveSpec.__slots__}
    return SaveSpec(**{**values, "content": content})


def _entry(item: Any) -> tuple[object, ...]:
    return (item.id, item.kind, item.content, item.user_id, item.visibility, item.version, item.occurrences)


def _model_entry(memory: ModelMemory) -> tuple[object, ...]:
    spec = memory.spec
    return (memory.id, spec.kind, spec.content, spec.user, spec.visibility, memory.version, memory.occurrences)
