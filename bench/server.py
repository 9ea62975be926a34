"""The server over HTTP: turns a second beside a bare route, its slow end under half of its load, and what HTTP adds."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from bench import http_load
from bench.figures import Figure, Judged
from bench.http_load import Load
from bench.http_servers import PATH, started
from bench.options import Options
from bench.population import RICH_USERS, SESSION, populated, user
from bench.texts import Texts
from bench.timing import Times, seconds
from bench.turns import WORDS
from memoranda import Memory, MemoryRequestContext

CONNECTIONS = 8
_ROUNDS = 4
_QUESTIONS = 20


def measure(options: Options) -> Iterator[Figure]:
    """Yield what is promised of the server, each beside its floor."""
    length = 1.0 if options.quick else 3.0
    peak = yield from _rates(options, length)
    yield from _under_half_load(options, peak / 2, 3 * length)
    yield _overhead(options)
    yield from _reads(options)


def _turns(count: int = 2000) -> list[str]:
    texts = Texts(9).sentences(count, WORDS)
    return [
        json.dumps({"session_id": f"s{number % 40}", "user_id": f"u{number % 8}", "role": "user", "content": text})
        for number, text in enumerate(texts)
    ]


def _rates(options: Options, length: float) -> Generator[Figure, None, float]:
    """Measure both servers in turns; return our own rate."""
    bodies = _turns()
    with started("null") as port:
        null = http_load.run(Load(port, PATH, bodies, CONNECTIONS, length)).rate
    ours, floor = _in_turns(options.folder / "http.db", bodies, 0, length)
    yield Figure("load generator, null server", null, "/s", floor=ours, target=3.0, judged=Judged.RATIO, at_least=True)
    yield Figure(
        "record_turn over HTTP",
        ours,
        "/s",
        floor=floor,
        target=0.5,
        judged=Judged.RATIO,
        at_least=True,
        note=f"{CONNECTIONS} connections; floor: a bare route that validates the same bodies",
    )
    working, floor = _in_turns(options.folder / "http-worker.db", bodies, 2, length)
    yield Figure("  with the server's own worker", working, "/s", floor=floor, note="it embeds the turns meanwhile")
    return ours


def _in_turns(store: Path, bodies: Sequence[str], worker_threads: int, length: float) -> tuple[float, float]:
    """Return the rates of our server and of the bare one, driven one after the other several times."""
    taken: tuple[list[float], list[float]] = ([], [])
    with started("ours", str(store), str(worker_threads)) as ours, started("bare") as bare:
        for port in (ours, bare):
            http_load.run(Load(port, PATH, bodies, CONNECTIONS, 0.5))
        for _ in range(_ROUNDS):
            for port, found in zip((ours, bare), taken, strict=True):
                found.append(http_load.run(Load(port, PATH, bodies, CONNECTIONS, length)).rate)
    return sum(taken[0]) / _ROUNDS, sum(taken[1]) / _ROUNDS


def _under_half_load(options: Options, rate: float, length: float) -> Iterator[Figure]:
    with started("ours", str(options.folder / "http-paced.db"), "0") as port:
        http_load.run(Load(port, PATH, _turns(), CONNECTIONS, 0.5))
        answers = http_load.run(Load(port, PATH, _turns(), CONNECTIONS, length, rate))
    times = Times.of(answers.latencies)
    yield Figure(
        f"  p99 at half of that, {rate:.0f}/s", times.at(0.99), target=50.0, note=f"p50 {times.p50:.2f}; {times.tail}"
    )


def _overhead(options: Options) -> Figure:
    """Compare one connection, one turn after the other, with the same in process."""
    count, bodies = options.times(1500), _turns()
    with started("ours", str(options.folder / "http-one.db"), "0") as port:
        http_load.run(Load(port, PATH, bodies, 1, 0.5))
        over_http = Times.of(http_load.run(Load(port, PATH, bodies, 1, count / 500)).latencies)
    texts = [json.loads(body) for body in bodies[:count]]
    with Memory.open(options.folder / "in-process.db", worker=False) as memory:
        handles = [memory.bind(MemoryRequestContext(user_id=f"u{n}")) for n in range(8)]
        taken = [seconds(lambda n=n, t=t: _record(handles[n % 8], t)) for n, t in enumerate(texts)]  # type: ignore[misc]
    inside = Times.of(taken)
    note = f"HTTP p50 {over_http.p50:.2f}, in process {inside.p50:.2f}"
    return Figure("what HTTP adds to a turn", over_http.p50 - inside.p50, target=3.0, note=note)


def _record(memory: Memory, turn: dict[str, str]) -> None:
    memory.record_turn(role=turn["role"], content=turn["content"], session_id=turn["session_id"])


def _reads(options: Options) -> Iterator[Figure]:
    questions = Texts(77).questions(_QUESTIONS)
    searches = [
        {"type": "semantic", "query": question, "user_id": user(number * 7 % 100), "top_k": 50}
        for number, question in enumerate(questions)
    ]
    sources = [{"source": name, "mode": "hybrid"} for name in ("stm", "semantic", "episodic")]
    contexts = [
        {
            "query": question,
            "user_id": user(number % RICH_USERS),
            "session_id": SESSION,
            "max_tokens": 4000,
            "sources": sources,
        }
        for number, question in enumerate(questions)
    ]
    base = "/api/v1/memory"
    with started("ours", str(populated(options)), "0") as port:
        for name, path, asked in (
            (f"search over HTTP among {options.memories:,}", f"{base}/search", searches),
            ("context over HTTP", f"{base}/retrieval/context-from-sources", contexts),
        ):
            bodies = [json.dumps(each) for each in asked]
            http_load.run(Load(port, path, bodies, 1, 1.0))
            times = Times.of(http_load.run(Load(port, path, bodies, 1, 3.0)).latencies)
            yield Figure(
                name, times.p50, target=15.0, note=f"one connection, the questions' vectors known; {times.tail}"
            )
