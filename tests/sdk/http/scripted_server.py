"""An HTTP server on a real loopback socket that answers as a test tells it, and remembers every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Seen:
    """One request as it came over the wire; `port` tells connections apart."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    raw: bytes
    port: int = 0

    @property
    def text(self) -> str:
        return self.raw.decode()

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Answer:
    """A response; a body that is not bytes is sent as JSON."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script: TypeAlias = Callable[[Seen], Answer]


class ScriptedServer:
    """The answers are those of `answer`, else of `script`; `seen` holds the requests in order."""

    def __init__(self, url: str, script: Script) -> None:
        self.url = url
        self.seen: list[Seen] = []
        self.answer: Answer | None = None
        self.script = script

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    def reply(self, seen: Seen) -> Answer:
        self.seen.append(seen)
        return self.answer if self.answer is not None else self.script(seen)


def plausible(seen: Seen) -> Answer:
    """Answer each route with the least that a client accepts."""
    path = seen.target.partition("?")[0]
    if seen.method == "GET":
        return Answer(body={"domains": []} if path.endswith("domains") else {"entries": []})
    context = {"formatted_context": "", "metadata": {}}
    answers = {
        "turns": {"id": "t1", "session_id": "s1", "turn_seq": 1},
        "context": context,
        "context-from-sources": context,
        "search": {"memories": []},
        "semantic": {"id": "1", "label": "L", "has_embedding": True},
        "episodic": {"id": "1", "title": "T", "has_embedding": True},
        "taxonomic": {"id": "1", "domain": "D", "term": "T", "has_embedding": True},
        "procedural": {"id": "1", "procedure": "P", "has_embedding": True},
        "retrieve": {"results": [], "count": 0},
    }
    return Answer(
        body=answers.get(path.rpartition("/")[2], {"id": "1", "type": "t", "tags": {}, "has_embedding": True})
    )


def _handler(server: Callable[[], ScriptedServer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 10

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = server().reply(
                Seen(self.command, self.path, list(self.headers.items()), raw, self.client_address[1])
            )
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(answer.raw)))
            self.end_headers()
            if answer.status not in (204, 304):
                self.wfile.write(answer.raw)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(script: Script = plausible) -> Iterator[ScriptedServer]:
    """Serve until the block ends."""
    holder: list[ScriptedServer] = []
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _handler(lambda: holder[0]))
    httpd.daemon_threads = True
    httpd.block_on_close = False
    holder.append(ScriptedServer(f"http://127.0.0.1:{httpd.server_address[1]}", script))
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield holder[0]
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
