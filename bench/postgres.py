"""PostgreSQL, as the application role behind row-level security; floors are bare psycopg in the same run."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from multiprocessing.synchronize import Barrier

import numpy as np
import psycopg
from sqlalchemy import make_url

from bench.bare_postgres import BareTurns
from bench.figures import Figure, Judged
from bench.options import Options
from bench.texts import Texts
from bench.timing import Times, alternately, seconds
from memoranda import Memory, MemoryRequestContext
from memoranda.engine.ports import LegQuery
from memoranda.engine.records import SEMANTIC, IndexState
from memoranda.engine.scope import Scope
from memoranda.stores.postgres import PostgresStore
from memoranda.stores.postgres.administration import upgrade_schema
from memoranda.testing import postgres
from memoranda.testing.extractors import QuietExtractor
from memoranda.testing.samples import NOW

WORDS = 25
DIMENSION = 512
_WARM_UP = 100
_PROJECT = "bench"


@contextmanager
def _server() -> Iterator[tuple[str, str]]:
    """Yield the URLs of a database as its owner and as the application's role; commits are durable."""
    with postgres.wheel_server() as server, postgres.database(server) as owner:
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("CREATE ROLE bench_app LOGIN")
            upgrade_schema(owner, role="bench_app")
        try:
            yield owner, make_url(owner).set(username="bench_app").render_as_string(hide_password=False)
        finally:
            with psycopg.connect(owner, autocommit=True) as connection:
                connection.execute("DROP OWNED BY bench_app; DROP ROLE bench_app")


def measure(options: Options) -> Iterator[Figure]:
    """Yield what a turn costs with one and two clients, and what a search of a scope costs."""
    with _server() as (owner, app):
        yield _turn(app, options.times(2000))
        yield _two_clients(app, options.times(1500))
        yield from _searches(owner, app, options)


def _open(url: str) -> Memory:
    return Memory.open(url, project_id=_PROJECT, embedder=None, llm=QuietExtractor(), worker=False)


def _recorder(memory: Memory, user: str) -> Callable[[], object]:
    """Return a call that records a turn of a user: always of the same words, which the floor writes as well."""
    text = Texts(1).sentences(1, WORDS)[0]
    handle = memory.bind(MemoryRequestContext(user_id=user, session_id="one"))
    return lambda: handle.record_turn(role="user", content=text)


def _turn(url: str, count: int) -> Figure:
    with _open(url) as memory:
        _recorder(memory, "floor")()
        with closing(BareTurns(url, _PROJECT, "floor")) as bare:
            ours, floor = alternately([_recorder(memory, "ann"), bare.record], count, warm_up=_WARM_UP)
    note = f"{ours.tail}; floor {floor.tail}"
    return Figure("record_turn", ours.p50, floor=floor.p50, target=2.5, judged=Judged.RATIO, note=note)


def _client(url: str, user: str, bare: bool, count: int, start: Barrier) -> None:
    with _open(url) as memory:
        _recorder(memory, user)()
        with closing(BareTurns(url, _PROJECT, user)) as floor:
            record = floor.record if bare else _recorder(memory, f"{user} {bare}")
            for _ in range(_WARM_UP):
                record()
            start.wait()
            for _ in range(count):
                record()
            start.wait()


def _rate(url: str, count: int, *, bare: bool) -> float:
    """Return how many turns a second two processes record together."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    clients = [
        context.Process(target=_client, args=(url, f"client {number} {bare}", bare, count, start))
        for number in range(2)
    ]
    for client in clients:
        client.start()
    start.wait()
    began = time.perf_counter()
    start.wait()
    taken = time.perf_counter() - began
    for client in clients:
        client.join()
    return 2 * count / taken


def _two_clients(url: str, count: int) -> Figure:
    floor, ours = _rate(url, count, bare=True), _rate(url, count, bare=False)
    return Figure(
        "turns a second, two processes", ours, "/s", floor=floor, target=0.4, judged=Judged.RATIO, at_least=True
    )


_FILL = """
INSERT INTO vectors (project_id, source, state, visibility, user_id, key, model, piece, scale, data)
SELECT 'bench', 'semantic', 'c', 'private', 'user ' || key %% 100, key, 'm', 0, %s, data
FROM unnest(%s::bigint[], %s::bytea[]) AS made (key, data)
"""


def _searches(owner: str, app: str, options: Options) -> Iterator[Figure]:
    rows = options.times(100_000)
    random = np.random.default_rng(5)
    with psycopg.connect(owner, autocommit=True) as connection:
        for first in range(0, rows, 5000):
            made = random.integers(-127, 128, (min(5000, rows - first), DIMENSION)).astype(np.int8)
            keys = list(range(first + 1, first + 1 + len(made)))
            connection.execute(_FILL, (1 / (73.6 * DIMENSION**0.5), keys, [row.tobytes() for row in made]))
        connection.execute("VACUUM ANALYZE")
    yield _vectors(app, random, rows, options.times(300))
    yield from _texts(app, owner, options)


_NEAREST = (
    "SELECT key FROM vectors WHERE project_id = 'bench' AND source = 'semantic' AND state = 'c' "
    "AND visibility IN ('private', 'org', 'shared') AND user_id = %s AND model = 'm' "
    "ORDER BY scale * (codes <#> %s::halfvec) LIMIT 10"
)


def _vectors(app: str, random: np.random.Generator, rows: int, count: int) -> Figure:
    asked = [random.normal(size=DIMENSION).tolist() for _ in range(count + _WARM_UP)]
    query = LegQuery(Scope(user_id="user 7"), SEMANTIC, (IndexState.CURRENT,), NOW)
    # The bare statement is given its parameter ready-made.
    mine, theirs = iter(asked), iter([str(vector) for vector in asked])
    same = 0
    with closing(PostgresStore.open(app)) as store, psycopg.connect(app, autocommit=True) as bare:

        def ours() -> list[int]:
            with store.read(_PROJECT) as tx:
                return [found.key for found in tx.search.vectors(query, "m", next(mine), 10)]

        def floor() -> list[int]:
            bare.execute("BEGIN; SET LOCAL memoranda.project = 'bench'")
            found = bare.execute(_NEAREST, ("user 7", next(theirs))).fetchall()
            bare.execute("COMMIT")
            return [int(row[0]) for row in found]

        for _ in range(_WARM_UP):
            same += ours() == floor()
        taken, bared = alternately([ours, floor], count)
    return Figure(
        f"vector search, {rows // 100} of {rows}",
        taken.p50,
        floor=bared.p50,
        target=round(bared.p50 + 1.5, 2),
        note=f"{taken.tail}; exact, as ranked by half precision in {same} of {_WARM_UP}",
    )


def _texts(app: str, owner: str, options: Options) -> Iterator[Figure]:
    texts = Texts(3)
    with _open(app) as memory:
        for user in range(10):
            handle = memory.bind(MemoryRequestContext(user_id=f"reader {user}", session_id="s"))
            for _ in range(max(1, options.times(1000) // 250)):
                handle.record_turns([{"role": "user", "content": text} for text in texts.sentences(250, WORDS)])
            for number, text in enumerate(texts.sentences(options.times(200), WORDS)):
                handle.save_semantic(label=f"memory {number}", text=text)
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        handle = memory.bind(MemoryRequestContext(user_id="reader 5", session_id="s"))
        questions = texts.sentences(options.times(300) + 20, 6)
        three = partial(handle.build_context, enabled_sources={"stm", "semantic", "episodic"})
        for name, call, target in (
            ("text search, a user's memories", partial(handle.search_semantic, mode="text"), 5.0),
            ("context of three sources, no embedding", three, 10.0),
        ):
            asked = [partial(call, question) for question in questions]
            taken = Times.of([seconds(ask) for ask in asked][20:])
            yield Figure(name, taken.p50, target=target, note=taken.tail)
