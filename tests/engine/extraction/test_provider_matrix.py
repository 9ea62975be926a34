"""Everything a provider can do wrong, played over HTTP: the turns stay, and nothing ends in a silent nothing.

Of each case: what is stored, when the provider is asked again, what is kept as a failure, and what ``status`` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memoranda import Memory, MemoryRequestContext, StatusReport
from memoranda.providers.openai_compatible import OpenAIChatModel, OpenAIEmbedder
from memoranda.testing import scripted_answers as answers
from memoranda.testing.clock import ManualClock
from memoranda.testing.scripted_answers import CHAT, DIMENSION, EMBEDDINGS, Step
from memoranda.testing.scripted_provider import ScriptedProvider

SAID = ("I moved to Lisbon in March.", "How do you like it?")
FACT = {
    "text": "Ann moved to Lisbon.",
    "record_type": "fact",
    "label": None,
    "turns": [1],
    "event_time": None,
    **{verdict: [] for verdict in ("supersedes", "refines", "repeats", "contradicts")},
}
NOTHING: dict[str, object] = {"summary": "", "semantic": [], "episodic": [], "procedural": [], "taxonomic": []}
GOOD = answers.reply_json({**NOTHING, "summary": "Ann moved.", "semantic": [FACT]})
EMPTY = answers.reply_json(NOTHING)
GOOD_TEXT = json.dumps({**NOTHING, "summary": "Ann moved.", "semantic": [FACT]})


@dataclass
class Scene:
    """An open store with two recorded turns, its clock and its provider."""

    memory: Memory
    clock: ManualClock
    provider: ScriptedProvider

    def work(self) -> StatusReport:
        """Do what is due, and check that the turns are as they were recorded."""
        self.memory.wait_until_idle()
        assert tuple(turn.content for turn in self.memory.list_turns("s").items) == SAID
        return self.memory.status()

    @property
    def asked(self) -> int:
        return self.provider.calls(CHAT)

    @property
    def known(self) -> list[str]:
        return sorted(entry.content for entry in self.memory.list_memories(kind="semantic").items)

    def asked_after(self, seconds: float) -> None:
        """Check that the provider is asked again after this time, and not before."""
        before = self.asked
        self.clock.advance(seconds=seconds - 1)
        self.work()
        assert self.asked == before
        self.clock.advance(seconds=1)
        self.work()
        assert self.asked > before


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as server:
        server.always(CHAT, GOOD)
        yield server


@contextmanager
def opened(path: Path, provider: ScriptedProvider, *, llm: object = None, embeds: bool = False) -> Iterator[Scene]:
    clock = ManualClock()
    embedder = OpenAIEmbedder("embed", base_url=provider.url, dimension=DIMENSION) if embeds else None
    with Memory.open(path, llm=llm or "openai/chat", embedder=embedder, worker=False, clock=clock) as memory:
        ann = memory.bind(MemoryRequestContext(user_id="ann", session_id="s"))
        for role, said in zip(("user", "assistant"), SAID, strict=True):
            ann.record_turn(role=role, content=said)
        yield Scene(ann, clock, provider)


@pytest.fixture
def scene(tmp_path: Path, provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Have the model of the provider by its name."""
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    with opened(tmp_path / "memory.db", provider) as made:
        yield made


# --- good answers


@dataclass(frozen=True)
class Good:
    """Answers out of which something comes, or rightly nothing, at once."""

    steps: tuple[Step, ...]
    stored: int = 1
    asked: int = 1
    bad_items: int = 0


def malformed(how: str) -> Step:
    return answers.malformed(how, GOOD_TEXT)


GOOD_CASES = {
    "good": Good((GOOD,)),
    "valid and empty": Good((EMPTY,), stored=0),
    "late": Good((answers.slow(0.2, GOOD),)),
    "no structured output": Good((answers.without_schemas(GOOD), GOOD), asked=2),
    "prose around it": Good((malformed("prose around it"),)),
    "code fence": Good((malformed("code fence"),)),
    "code fence never closed": Good((malformed("code fence never closed"),)),
    "trailing commas": Good((malformed("trailing commas"),)),
    "single backslashes": Good((malformed("single backslashes"),)),
    "control characters": Good((malformed("control characters"),)),
    "lone surrogate": Good((malformed("lone surrogate"),)),
    # Bare words in a list of facts are a fact; null and 17 are none.
    "half-good list": Good((malformed("half-good list"),), stored=2, bad_items=2),
    "truncated, then repaired": Good((malformed("truncated"), GOOD), asked=2),
    "wrong types, then repaired": Good((malformed("wrong types"), GOOD), asked=2),
    "empty, then repaired": Good((malformed("empty"), GOOD), asked=2),
    "no JSON, then repaired": Good((malformed("no JSON"), GOOD), asked=2),
    "truncated twice, then in halves": Good((malformed("truncated"),) * 2 + (GOOD, EMPTY), asked=4),
    "too long, then in halves": Good((answers.too_long(), GOOD, EMPTY), asked=3),
}


@pytest.mark.parametrize("case", GOOD_CASES.values(), ids=GOOD_CASES)
def test_good_answers_are_stored_at_once(scene: Scene, case: Good) -> None:
    scene.provider.script(CHAT, *case.steps)
    status = scene.work()
    assert (len(scene.known), scene.asked) == (case.stored, case.asked)
    assert status.failures == ({"content": case.bad_items} if case.bad_items else {})
    assert (status.queue.get("extract"), status.breakers) == (None, [])
    for failure in scene.memory.list_failures().items:
        assert (failure.retryable, bool(failure.raw_reply)) == (False, True)


# --- troubles that pass


@dataclass(frozen=True)
class Passing:
    """A trouble that may pass: asked again ``after`` seconds; ``breaker`` when the provider says so itself."""

    step: Step
    after: float
    breaker: str | None = None


def _rate_limited(retry_after: str | None, after: float) -> Passing:
    return Passing(answers.rate_limited(retry_after), after, breaker=None if retry_after is None else "rate_limit")


PASSING_CASES = {
    **{f"HTTP {status}": Passing(answers.outage(status), 2) for status in (500, 502, 503, 529)},
    "429 with Retry-After 7": _rate_limited("7", 7),
    "429 with Retry-After 90": _rate_limited("90", 90),
    "429 without Retry-After": _rate_limited(None, 30),
    "connection reset": Passing(answers.reset(), 2),
    "a proxy's page": Passing(answers.raw(b"<html>Bad gateway</html>"), 2),
    "HTTP 401": Passing(answers.unauthorised(401), 120),
    "HTTP 403": Passing(answers.unauthorised(403), 120),
    "HTTP 404": Passing(answers.unknown_model(), 120),
}


@pytest.mark.parametrize("case", PASSING_CASES.values(), ids=PASSING_CASES)
def test_troubles_that_pass_are_waited_for(scene: Scene, case: Passing) -> None:
    scene.provider.script(CHAT, case.step)
    status = scene.work()
    assert (status.queue["extract"], status.failures, scene.known) == ({"pending": 1}, {}, [])
    assert [each.failure_class for each in status.breakers] == ([case.breaker] if case.breaker else [])

    scene.asked_after(case.after)
    status = scene.work()
    assert (scene.known, scene.asked) == ([FACT["text"]], 2)
    assert (status.failures, status.breakers, status.queue.get("extract")) == ({}, [], None)


def test_a_provider_that_hangs_is_given_up_and_asked_again(tmp_path: Path, provider: ScriptedProvider) -> None:
    provider.script(CHAT, answers.hang())
    with opened(tmp_path / "m.db", provider, llm=OpenAIChatModel("m", base_url=provider.url, timeout=0.3)) as scene:
        status = scene.work()
        assert (status.queue["extract"], status.failures) == ({"pending": 1}, {})
        scene.asked_after(2)
        assert scene.known == [FACT["text"]]


def test_a_host_that_no_resolver_knows_is_an_outage(tmp_path: Path, provider: ScriptedProvider) -> None:
    model = OpenAIChatModel("m", base_url=answers.UNRESOLVABLE_URL)
    with opened(tmp_path / "m.db", provider, llm=model) as scene:
        for _ in range(6):
            status = scene.work()
            scene.clock.advance(seconds=60)
        [breaker] = status.breakers
        assert (breaker.job_kind, breaker.failure_class) == ("extract", "transient")
        assert (status.queue["extract"], status.failures) == ({"pending": 1}, {})


def test_keys_that_are_rotated_late_lose_nothing(scene: Scene) -> None:
    scene.provider.always(CHAT, answers.unauthorised())
    for _ in range(40):
        status = scene.work()
        scene.clock.advance(seconds=60)
    assert (status.queue["extract"], status.failures, scene.asked) == ({"pending": 1}, {}, 5)
    [breaker] = status.breakers
    assert breaker.failure_class == "credentials"
    assert "sk-scripted" not in breaker.reason

    scene.provider.always(CHAT, GOOD)
    for _ in range(31):
        scene.clock.advance(seconds=60)
        status = scene.work()
    assert (scene.known, scene.asked, status.breakers) == ([FACT["text"]], 6, [])


def test_an_outage_without_end_is_kept_as_a_failure_and_retried(scene: Scene) -> None:
    scene.provider.always(CHAT, answers.outage())
    while not scene.work().failures:
        scene.clock.advance(seconds=1800)
    [failure] = scene.memory.list_failures().items
    assert (failure.failure_class, failure.retryable, scene.work().queue.get("extract")) == ("transient", True, None)

    scene.provider.always(CHAT, GOOD)
    assert scene.memory.retry_failures() == 1
    status = scene.work()
    assert (scene.known, status.failures, status.breakers) == ([FACT["text"]], {}, [])


# --- what the same request will always meet


@dataclass(frozen=True)
class Lasting:
    """A reply that would be the same again: kept as a failure of class ``content`` after so many requests."""

    steps: tuple[Step, ...]
    said: str = ""
    asked: int = 1
    raw: bool = field(default=False)


def _twice(how: str) -> Lasting:
    said = answers.MALFORMED[how](GOOD_TEXT)
    return Lasting((malformed(how),) * 2, asked=2, raw=bool(said.strip()))


LASTING_CASES = {
    "content filter of the prompt": Lasting((answers.content_filter(),), "filtered"),
    "content filter of the reply": Lasting((answers.filtered(),), "filter"),
    "refusal": Lasting((answers.refusal("I would rather not."),), "I would rather not."),
    "another HTTP 4xx": Lasting((answers.error(422, "unprocessable"),), "unprocessable"),
    **{f"{how}, twice": _twice(how) for how in ("wrong types", "empty", "blank", "null", "no JSON")},
}


@pytest.mark.parametrize("case", LASTING_CASES.values(), ids=LASTING_CASES)
def test_what_cannot_change_is_kept_as_a_failure(scene: Scene, case: Lasting) -> None:
    scene.provider.script(CHAT, *case.steps)
    status = scene.work()
    assert (status.failures, status.queue.get("extract"), status.breakers) == ({"content": 1}, None, [])
    assert (scene.known, scene.asked) == ([], case.asked)
    [failure] = scene.memory.list_failures().items
    assert (failure.retryable, failure.attempts, failure.session_id) == (True, 1, "s")
    assert case.said in failure.reason
    assert bool(failure.raw_reply) or not case.raw

    scene.clock.advance(seconds=86_400)
    scene.work()
    assert scene.asked == case.asked, "nobody asks again by himself"
    assert scene.memory.retry_failures() == 1
    status = scene.work()
    assert (scene.known, status.failures) == ([FACT["text"]], {})


# --- embeddings


@pytest.fixture
def embedding(tmp_path: Path, provider: ScriptedProvider) -> Iterator[Scene]:
    """Have an embedder of the provider too."""
    model = OpenAIChatModel("chat", base_url=provider.url)
    with opened(tmp_path / "memory.db", provider, llm=model, embeds=True) as made:
        yield made


EMBEDDING_TROUBLES = {
    "HTTP 503": (answers.outage(), 2.0, None),
    "429 with Retry-After 45": (answers.rate_limited("45"), 45.0, "rate_limit"),
    "HTTP 401": (answers.unauthorised(), 120.0, None),
    "connection reset": (answers.reset(), 2.0, None),
}


@pytest.mark.parametrize(("step", "after", "breaker"), EMBEDDING_TROUBLES.values(), ids=EMBEDDING_TROUBLES)
def test_vectors_come_later_and_words_find_meanwhile(
    embedding: Scene, step: Step, after: float, breaker: str | None
) -> None:
    embedding.provider.always(EMBEDDINGS, step)
    status = embedding.work()
    assert (embedding.known, status.failures) == ([FACT["text"]], {})
    assert sum(status.queue["embed"].values()) == 2
    assert {each.failure_class for each in status.breakers} == ({breaker} if breaker else set())
    [found] = embedding.memory.search_semantic("Lisbon", user_id="ann")
    assert found.content == FACT["text"]

    embedding.provider.always(EMBEDDINGS, answers.vectors())
    embedding.clock.advance(seconds=after)
    status = embedding.work()
    assert (status.queue.get("embed"), status.failures, status.breakers) == (None, {}, [])
    assert embedding.memory.list_memories(kind="semantic").items[0].has_embedding


@pytest.mark.parametrize(
    "step",
    [answers.wrong_length(0), answers.bad_item(lambda text: "Lisbon" in text)],
    ids=["one vector too short", "one text refused"],
)
def test_one_bad_text_of_a_batch_costs_itself_alone(embedding: Scene, step: Step) -> None:
    embedding.provider.script(EMBEDDINGS, step)
    embedding.provider.always(EMBEDDINGS, answers.bad_item(lambda text: "Lisbon in March" in text))
    status = embedding.work()
    assert (status.failures, status.queue.get("embed")) == ({"content": 1}, None)
    [failure] = embedding.memory.list_failures().items
    assert (failure.job_kind, failure.retryable) == ("embed", True)
    assert embedding.known == [FACT["text"]]

    embedding.provider.always(EMBEDDINGS, answers.vectors())
    assert embedding.memory.retry_failures() == 1
    assert embedding.work().failures == {}
