"""What the demonstration finds in the store, and whether it is what a person may expect. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Final

import memoranda
from memoranda.cli.ingest import Extent, IngestReport, Place, memories_of
from memoranda.cli.options import SOURCES
from memoranda.cli.reading import Question, ask, context_text

_PAGE: Final = 500
_TOKENS: Final = 800
KINDS: Final = ("semantic", "episodic", "procedural", "taxonomic")


@dataclass(frozen=True, slots=True)
class Quiz:
    """A question that the conversation answers, where to look, and the words that its context must have for it."""

    user_id: str
    text: str
    sources: tuple[str, ...]
    expected: tuple[str, ...]


QUIZZES: Final = (
    Quiz("nora", "Where does Nora live, and who does she work for?", ("semantic", "episodic"), ("Porto", "Tideline")),
    Quiz(
        "nora", "How do we deploy the pricing service?", ("procedural", "taxonomic", "stm"), ("smoke tests", "canary")
    ),
    Quiz("jonas", "Wogegen bin ich allergisch?", ("semantic", "stm"), ("Haselnüsse",)),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk of a context and where it came from."""

    source: str
    content: str
    origin: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A quiz with the context that was assembled for it; `missing` are the words that it should have and has not."""

    quiz: Quiz
    context: str
    tokens: int
    pieces: tuple[Piece, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """What one user found of another: it should never exist."""

    reader: str
    owner: str
    content: str


@dataclass(frozen=True, slots=True)
class Privacy:
    """Everything that each user has, asked for by every user; `found_by_owner` shows that the questions are good."""

    asked: int
    found_by_owner: int
    leaks: tuple[Leak, ...]
    example: Stranger


@dataclass(frozen=True, slots=True)
class Stranger:
    """A quiz put by a user whom it does not concern: what was found, and the words of the answer among it."""

    quiz: Quiz
    reader: str
    pieces: int
    revealed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One claim of the demonstration and whether it holds."""

    claim: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """All that the demonstration shows."""

    report: IngestReport
    status: memoranda.StatusReport
    places: tuple[Place, ...]
    memories: tuple[memoranda.MemoryEntry, ...]
    histories: tuple[tuple[memoranda.MemoryEntry, ...], ...]
    answers: tuple[Answer, ...]
    privacy: Privacy
    seconds: float
    checks: tuple[Check, ...] = field(default=())

    def of_kind(self, kind: str) -> list[memoranda.MemoryEntry]:
        """Return the current memories of one kind."""
        return [entry for entry in self.memories if entry.kind == kind and entry.status == "current"]

    def as_json(self) -> dict[str, object]:
        """Return a summary for a script."""
        return {
            "ok": all(check.holds for check in self.checks),
            "checks": [asdict(check) for check in self.checks],
            "turns": self.report.turns,
            "recorded": self.report.recorded,
            "repeated": self.report.repeated,
            "failures": self.report.failures,
            "put_off": self.report.put_off,
            "learned": {kind: [entry.content for entry in self.of_kind(kind)] for kind in KINDS},
            "changed": [list(states) for states in self.histories],
            "questions": [asdict(answer) for answer in self.answers],
            "privacy": asdict(self.privacy),
            "seconds": round(self.seconds, 2),
        }


def look(memory: memoranda.Memory, report: IngestReport, extent: Extent, started: float) -> Findings:
    """Read everything that is shown from the store, and check it."""
    places = tuple(sorted(extent.places))
    users = sorted({user for user, _ in places})
    turns = {turn.id: turn for place in places for turn in _turns_of(memory, place)}
    memories = tuple(entry for user in users for entry in memories_of(memory, user) if entry.user_id == user)
    found = Findings(
        report=report,
        status=memory.status(),
        places=places,
        memories=memories,
        histories=tuple(_histories(memory, memories)),
        answers=tuple(_answer(memory, quiz, turns) for quiz in QUIZZES),
        privacy=_privacy(memory, users, [entry for entry in memories if entry.status == "current"]),
        seconds=monotonic() - started,
    )
    return checked(found, len(turns))


def _turns_of(memory: memoranda.Memory, place: Place) -> Iterator[memoranda.TurnEntry]:
    cursor: str | None = None
    while True:
        page = memory.list_turns(place[1], user_id=place[0], limit=_PAGE, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _histories(
    memory: memoranda.Memory, memories: Sequence[memoranda.MemoryEntry]
) -> Iterator[tuple[memoranda.MemoryEntry, ...]]:
    """Yield what a current memory says with what it said before, the most eventful first."""
    current = (entry for entry in memories if entry.status == "current")
    states = [tuple(memory.history(entry.id)) for entry in current]
    changed = [each for each in states if len({state.content for state in each}) > 1]
    yield from sorted(changed, key=lambda each: (-len(each), each[0].valid_from, each[0].id))


def _answer(memory: memoranda.Memory, quiz: Quiz, turns: dict[str, memoranda.TurnEntry]) -> Answer:
    asked = Question(query=quiz.text, sources=quiz.sources, user_id=quiz.user_id, max_tokens=_TOKENS, format="jinja2")
    response = ask(memory, asked)
    text = context_text(response)
    pieces = tuple(_piece(memory, chunk, turns) for chunk in response.selected_memories or ())
    missing = tuple(word for word in quiz.expected if word not in text)
    return Answer(quiz, text, response.metadata.token_count, pieces, missing)


def _piece(memory: memoranda.Memory, chunk: memoranda.MemoryChunk, turns: dict[str, memoranda.TurnEntry]) -> Piece:
    if chunk.id in turns:
        return Piece(chunk.source, chunk.content, turn_place(turns[chunk.id]))
    entry = memory.get_memory(chunk.id)
    said = [turns[turn_id] for turn_id in (entry.provenance.get("turn_ids", ()) if entry else ()) if turn_id in turns]
    origin = "; ".join(turn_place(turn) for turn in said) or f"said {chunk.timestamp:%Y-%m-%d}"
    return Piece(chunk.source, chunk.content, origin)


def turn_place(turn: memoranda.TurnEntry) -> str:
    """Say which turn it is."""
    return f"turn {turn.turn_seq} of {turn.user_id}'s session {turn.session_id}"


def _privacy(memory: memoranda.Memory, users: Sequence[str], memories: Sequence[memoranda.MemoryEntry]) -> Privacy:
    """Ask for each memory in its own words, once as its owner and once as every other user."""
    found = 0
    leaked: list[Leak] = []
    for entry in memories:
        for reader in users:
            response = ask(memory, Question(query=entry.content, sources=SOURCES, user_id=reader))
            leaked += leaks(reader, response)
            found += reader == entry.user_id and entry.id in _ids(response)
    quiz = QUIZZES[-1]
    return Privacy(
        len(memories), found, tuple(leaked), _stranger(memory, quiz, next(u for u in users if u != quiz.user_id))
    )


def _ids(response: memoranda.ContextResponse) -> set[str]:
    """Return what was found; what only repeats another chunk was found, too."""
    repeated = {str(item["id"]) for item in response.metadata.dropped or () if item["reason"] == "duplicate"}
    return repeated | {chunk.id for chunk in response.selected_memories or ()}


def leaks(reader: str, response: memoranda.ContextResponse) -> Iterator[Leak]:
    """Yield what of a response is private to somebody else."""
    for chunk in response.selected_memories or ():
        facts = chunk.metadata or {}
        owner = facts.get("user_id")
        if owner not in (None, reader) and facts.get("visibility", "private") == "private":
            yield Leak(reader, str(owner), chunk.content)


def _stranger(memory: memoranda.Memory, quiz: Quiz, reader: str) -> Stranger:
    response = ask(memory, Question(query=quiz.text, sources=SOURCES, user_id=reader))
    text = context_text(response)
    return Stranger(
        quiz, reader, len(response.selected_memories or ()), tuple(word for word in quiz.expected if word in text)
    )


def checked(found: Findings, turns: int) -> Findings:
    """Return the findings with every claim of the demonstration checked against them."""
    closed = [state for states in found.histories for state in states if state.valid_to is not None]
    learners = {entry.user_id for entry in found.memories}
    checks = (
        Check("every turn of the conversation can be read back", turns >= found.report.turns),
        Check("no background work failed", not found.report.failures and not found.report.put_off),
        Check("something was learned of every kind", all(found.of_kind(kind) for kind in KINDS)),
        Check("something was learned from every user", {user for user, _ in found.places} <= learners),
        Check("a fact that changed is kept with the time in which it held", bool(closed)),
        Check("every question's context holds its answer", not any(answer.missing for answer in found.answers)),
        Check("what a user knows is found by that user", found.privacy.found_by_owner == found.privacy.asked > 0),
        Check(
            "nothing of one user reaches the other",
            not found.privacy.leaks and not found.privacy.example.revealed and found.privacy.example.pieces > 0,
        ),
    )
    return Findings(**{name: getattr(found, name) for name in found.__slots__ if name != "checks"}, checks=checks)
