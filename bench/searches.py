"""Searches and contexts of one user among 100,000 memories, and reads of what the whole organisation sees."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from bench.figures import Figure
from bench.fresh import seconds_in_fresh_process
from bench.options import Options
from bench.population import DIMENSION, RICH_USERS, SESSION, populated, user
from bench.texts import Texts, unit_vectors
from bench.timing import Times, alternately
from memoranda import Memory, MemorySource, RetrievalMode, SourceSpec

_QUESTIONS = 200
_OPENED = """
from memoranda import Memory, RetrievalMode
memory = Memory.open({path!r}, worker=False)
vector = {vector!r}
{extra}
"""
_ORG_SEARCH = "memory.search_semantic({question!r}, visibility='org', query_embedding=vector)"
_USER_SEARCH = "memory.search_semantic('what was said', user_id='user-050', query_embedding=vector)"

Ask = Callable[[str, list[float], int], object]


def measure(options: Options) -> Iterator[Figure]:
    """Yield the reads with a target, each with its parts beside it."""
    scope = options.memories_a_user
    with Memory.open(populated(options), worker=False) as memory:
        questions = _Questions(options)
        ask = questions.put(lambda q, v, n: _search(memory, q, v, n, None))
        (first,) = alternately([ask], options.users)
        hybrid, text, semantic, context = alternately(
            [
                ask,
                questions.put(lambda q, v, n: _search(memory, q, v, n, RetrievalMode.TEXT)),
                questions.put(lambda q, v, n: _search(memory, q, v, n, RetrievalMode.SEMANTIC)),
                questions.put(lambda q, v, n: _context(memory, q, v, n)),
            ],
            options.times(500),
            warm_up=30,
        )
        yield _figure(f"hybrid search in {scope:,} of {options.memories:,}", hybrid, 3.0)
        yield _figure("  first question of each user", first)
        yield _figure("  by text alone", text)
        yield _figure("  by vector alone", semantic)
        yield _figure("context over three sources", context, 8.0)
        yield from _organisation(options, memory, questions)


class _Questions:
    """Endless questions with their vectors, a different one for each measurement."""

    def __init__(self, options: Options) -> None:
        self._texts = Texts(77).questions(_QUESTIONS)
        self._vectors: list[list[float]] = unit_vectors(_QUESTIONS, DIMENSION, 77).tolist()
        self._users = options.users

    def put(self, ask: Ask) -> Callable[[], object]:
        """Return a call that asks the next question of the next user each time."""
        numbers = itertools.count()

        def call() -> object:
            number = next(numbers)
            place = number % _QUESTIONS
            return ask(self._texts[place], self._vectors[place], number)

        return call

    def first(self) -> tuple[str, list[float]]:
        return self._texts[0], self._vectors[0]


def _search(memory: Memory, question: str, vector: list[float], number: int, mode: RetrievalMode | None) -> object:
    return memory.search_semantic(question, user_id=user(number % 100), query_embedding=vector, mode=mode)


def _context(memory: Memory, question: str, vector: list[float], number: int) -> object:
    sources = [SourceSpec(source=name) for name in (MemorySource.STM, MemorySource.SEMANTIC, MemorySource.EPISODIC)]
    return memory.build_context_from_sources(
        question,
        sources,
        user_id=user(number % RICH_USERS),
        session_id=SESSION,
        max_tokens=4000,
        query_embedding=vector,
    )


def _organisation(options: Options, memory: Memory, questions: _Questions) -> Iterator[Figure]:
    shared = options.memories // 10
    first, after_another = _first_reads(options, questions)
    yield _figure(f"first read of {shared:,} org memories, new process", first, 12.0)
    yield _figure("  after a read of one user", after_another)
    hybrid, text, semantic = alternately(
        [
            questions.put(lambda q, v, _: memory.search_semantic(q, visibility="org", query_embedding=v)),
            questions.put(
                lambda q, v, _: memory.search_semantic(q, visibility="org", query_embedding=v, mode=RetrievalMode.TEXT)
            ),
            questions.put(
                lambda q, v, _: memory.search_semantic(
                    q, visibility="org", query_embedding=v, mode=RetrievalMode.SEMANTIC
                )
            ),
        ],
        options.times(300),
        warm_up=10,
    )
    yield _figure(f"read of {shared:,} org memories, cached", hybrid, 4.0)
    yield _figure("  by text alone", text)
    yield _figure("  by vector alone", semantic)


def _first_reads(options: Options, questions: _Questions) -> list[Times]:
    question, vector = questions.first()
    path = str(populated(options))
    statement = _ORG_SEARCH.format(question=question)

    def first(extra: str) -> float:
        return seconds_in_fresh_process(statement, before=_OPENED.format(path=path, vector=vector, extra=extra))

    taken = [(first(""), first(_USER_SEARCH)) for _ in range(options.times(15) + 1)]
    return [Times.of(column) for column in zip(*taken[1:], strict=True)]


def _figure(name: str, times: Times, target: float | None = None) -> Figure:
    return Figure(name, times.p50, target=target, note=times.tail)
