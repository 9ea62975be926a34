"""A random caller who drives the engine and the model side by side and compares every read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from memoranda.sdk.errors import MemoryAPIError, MemoryAuthError, MemoryConflictError, MemoryNotFoundError
from memoranda.sdk.memory import Memory
from memoranda.testing.clock import ManualClock
from memoranda.testing.extractors import QuietExtractor
from memoranda.testing.machine_reading import (
    CUSTOM,
    DOMAINS,
    KINDS,
    VISIBILITIES,
    ReadingMachine,
    casts,
    contents,
    lifetimes,
    places,
    readers,
)
from memoranda.testing.model import Expected, MemoryModel, SaveSpec
from memoranda.testing.text_model import has_ended

CONFIG: dict[str, Any] = {"memory": {"custom_memory_types": [{"name": CUSTOM, "collection": "notes"}]}}

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


class MemoryMachine(ReadingMachine):
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

    # --- writing

    @rule(turns=st.lists(st.tuples(places, places, contents, st.sampled_from([None, None, "k", "K"]), lifetimes)))
    def record_turns(self, turns: list[tuple[int, int, str, str | None, timedelta | None]]) -> None:
        for user, session, content, key, ttl in turns:
            self._record(self.users[user], self.sessions[session], content, key, None if key else ttl)

    def _record(self, user: str, session: str, content: str, key: str | None, ttl: timedelta | None) -> None:
        known, handle = self.model.keyed_turn(user, session, key), self.as_user(user, session)
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
        handle = self.as_user(spec.user, spec.session)
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
        memory_id, user = self._any_memory(data), self.user_at(reader)
        memory = self.seen(memory_id, user)
        if memory is None:
            with raises(MemoryNotFoundError):
                self.as_user(user).update_memory(memory_id, content=content)
            return
        if user not in (None, memory.spec.user):
            with raises(MemoryAuthError, "NOT_OWNER"):
                self.as_user(user).update_memory(memory_id, content=content)
            return
        entry = self.as_user(user).update_memory(memory_id, content=content)
        self.model.update(memory, _with_content(memory.spec, content))
        assert (entry.id, entry.version, entry.content) == (memory_id, memory.version, content)

    # --- deleting

    @rule(data=st.data(), reader=readers)
    def delete_memory(self, data: st.DataObject, reader: int | None) -> None:
        memory_id, user = self._any_memory(data), self.user_at(reader)
        memory = self.seen(memory_id, user)
        if memory is None:
            with raises(MemoryNotFoundError):
                self.as_user(user).delete_memory(memory_id)
            return
        if user not in (None, memory.spec.user):
            with raises(MemoryAuthError, "NOT_OWNER"):
                self.as_user(user).delete_memory(memory_id)
            return
        assert self.as_user(user).delete_memory(memory_id).memories == 1
        del self.model.memories[memory_id]
        self.gone.append(memory_id)

    @rule(data=st.data(), reader=readers)
    def delete_turn(self, data: st.DataObject, reader: int | None) -> None:
        turn_id, user = data.draw(st.sampled_from(["nobody", *self.model.turns])), self.user_at(reader)
        turn = self.model.turns.get(turn_id)
        if turn is not None and has_ended(turn.expires_at, self.model.now):
            return
        if turn is None or user not in (None, turn.user):
            with raises(MemoryNotFoundError):
                self.as_user(user).delete_turn(turn_id)
            return
        assert self.as_user(user).delete_turn(turn_id).turns == 1
        del self.model.turns[turn_id]

    @rule(reader=readers, session=places)
    def delete_session(self, reader: int | None, session: int) -> None:
        user, name = self.user_at(reader), self.sessions[session]
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

    # --- parts

    def _any_memory(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from([*self.model.memories, self.gone[-1]]))


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
