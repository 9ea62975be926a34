"""A load generator in a process of its own: raw HTTP over keep-alive connections, requests encoded beforehand."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_LENGTH = b"content-length:"
_PATIENCE = 30.0
"""How long to await the last answers, in seconds."""


@dataclass(frozen=True, slots=True)
class Load:
    """What to send: the bodies in turn, over so many connections, for so long.

    Without a ``rate`` each connection sends as soon as it is answered. With one, requests are due at even intervals and
    are timed from when they were due, whether or not they could be sent then.
    """

    port: int
    path: str
    bodies: Sequence[str]
    connections: int = 8
    seconds: float = 3.0
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """How many requests a second were answered, and how long each took, in seconds."""

    rate: float
    latencies: tuple[float, ...]


def run(load: Load) -> Answers:
    """Drive a server on this machine from another process. Raises ``RuntimeError`` for an answer that is not a 200."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.http_load"],
        input=json.dumps(asdict(load)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the load generator failed:\n{done.stderr.strip()}")
    found = json.loads(done.stdout)
    return Answers(found["rate"], tuple(found["latencies"]))


def _encoded(load: Load) -> list[bytes]:
    head = f"POST {load.path} HTTP/1.1\r\nhost: 127.0.0.1:{load.port}\r\ncontent-type: application/json\r\n"
    bodies = [body.encode() for body in load.bodies]
    return [f"{head}content-length: {len(body)}\r\n\r\n".encode() + body for body in bodies]


class _Course:
    """One run over all connections: what is sent next and when, and what was measured."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._requests = _encoded(load)
        self._sent = 0
        self._over = False
        self.latencies: list[float] = []
        self.failure: bytes | None = None
        self.idle: deque[_Connection] = deque()
        self.answered = asyncio.Event()
        """Set when the time is over and no connection awaits an answer."""
        self._due: deque[float] = deque()
        self.started = time.perf_counter()
        self.ends = self.started + load.seconds

    def next(self) -> tuple[bytes, float] | None:
        """Return a request and when it counts from; None when there is none to send now."""
        now = time.perf_counter()
        if self._load.rate is None:
            if now >= self.ends:
                self._over = True
                return None
            since = now
        elif self._due:
            since = self._due.popleft()
        else:
            return None
        self._sent += 1
        return self._requests[self._sent % len(self._requests)], since

    def rest(self, connection: _Connection) -> None:
        """Take a connection that has nothing to send now."""
        self.idle.append(connection)
        if self._over and len(self.idle) == self._load.connections:
            self.answered.set()

    async def keep_pace(self, rate: float) -> None:
        """Make requests due at even intervals, and hand them to connections that are free."""
        number = 0
        while (due := self.started + number / rate) < self.ends:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            while due <= time.perf_counter() and due < self.ends:
                self._due.append(due)
                number += 1
                due = self.started + number / rate
            while self._due and self.idle:
                self.idle.popleft().send()
        self._over = True
        if len(self.idle) == self._load.connections:
            self.answered.set()


class _Connection(asyncio.Protocol):
    def __init__(self, course: _Course) -> None:
        self._course = course
        self._since = 0.0
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def send(self) -> None:
        found = self._course.next()
        if found is None or self._transport is None:
            self._course.rest(self)
            return
        request, self._since = found
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0 or len(self._buffer) < head + 4 + _length(self._buffer[:head]):
            return
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self._course.failure = self._buffer
        self._buffer = b""
        self._course.latencies.append(time.perf_counter() - self._since)
        self.send()


def _length(head: bytes) -> int:
    lower = head.lower()
    start = lower.find(_LENGTH) + len(_LENGTH)
    return int(lower[start:].partition(b"\r\n")[0])


async def _drive(load: Load) -> Answers:
    loop, course = asyncio.get_running_loop(), _Course(load)
    made = [
        (await loop.create_connection(lambda: _Connection(course), "127.0.0.1", load.port))[1]
        for _ in range(load.connections)
    ]
    course.started = time.perf_counter()
    course.ends = course.started + load.seconds
    for connection in made:
        connection.send()
    if load.rate is not None:
        await course.keep_pace(load.rate)
    await asyncio.wait_for(course.answered.wait(), max(0.0, course.ends - time.perf_counter()) + _PATIENCE)
    if course.failure is not None:
        raise SystemExit(f"an answer is not 200: {course.failure[:300]!r}")
    took = max(time.perf_counter() - course.started, load.seconds)
    return Answers(len(course.latencies) / took, tuple(course.latencies))


if __name__ == "__main__":
    answers = asyncio.run(_drive(Load(**json.load(sys.stdin))))
    print(json.dumps(asdict(answers)))
