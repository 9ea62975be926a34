"""A provider on loopback that speaks OpenAI's protocol and does as told: what a test of extraction talks to.

::

    with ScriptedProvider() as provider:
        provider.script(CHAT, rate_limited("7"), reply_json({"items": []}))
        model = OpenAIChatModel("scripted", base_url=provider.url, api_key="any")
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final

from memoranda.testing.scripted_answers import (
    CHAT,
    EMBEDDINGS,
    RERANK,
    Answer,
    Fault,
    ProviderRequest,
    Step,
    error,
    ranked,
    reply,
    vectors,
)

_PREFIX: Final = "/v1"
_JSON: Final = {"Content-Type": "application/json"}
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)


class ScriptedProvider:
    """An HTTP server in a thread of this process; answers each path by its script, and then by its last resort.

    ``requests`` has every request that arrived, in order. Thread-safe; ``close`` (or the end of ``with``) ends every
    answer that hangs.
    """

    def __init__(self) -> None:
        self.requests: list[ProviderRequest] = []
        self._steps: dict[str, deque[Step]] = {}
        self._always: dict[str, Step] = {CHAT: reply("{}"), EMBEDDINGS: vectors(), RERANK: ranked()}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._serve, name="scripted-provider", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    @property
    def url(self) -> str:
        """The base URL to give a client."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}{_PREFIX}"

    def script(self, path: str, *steps: Step) -> None:
        """Answer the next requests of a path by these steps, one each, after those that are left."""
        with self._lock:
            self._steps.setdefault(path, deque()).extend(steps)

    def always(self, path: str, step: Step) -> None:
        """Answer a path by this step when its script is at its end (a good answer, where this was never called)."""
        with self._lock:
            self._always[path] = step

    def calls(self, path: str | None = None) -> int:
        """Return how many requests arrived, at one path or at all."""
        with self._lock:
            return sum(path in (None, request.path) for request in self.requests)

    def answer(self, request: ProviderRequest) -> Answer:
        """Record a request and return the answer to it."""
        with self._lock:
            self.requests.append(request)
            steps = self._steps.get(request.path)
            step = steps.popleft() if steps else self._always.get(request.path, error(404, "no such path"))
        return step(request)

    def pause(self, seconds: float | None) -> bool:
        """Wait, for ever when None; return whether the server was closed meanwhile."""
        return self._closing.wait(seconds)

    def close(self) -> None:
        """Stop the server. Safe to call twice."""
        self._closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> ScriptedProvider:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, provider: ScriptedProvider) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that give up are part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        provider = self.server.provider
        answer = provider.answer(self._request())
        if answer.fault is Fault.HANG or (answer.delay and provider.pause(answer.delay)):
            provider.pause(None)
            self.close_connection = True
        elif answer.fault is Fault.RESET:
            self._reset()
        else:
            self._send(answer)

    def _request(self) -> ProviderRequest:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        return ProviderRequest(self.path.removeprefix(_PREFIX), headers, body if isinstance(body, Mapping) else {})

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        # Both files hold the socket: it is closed, and so reset, with the last of them.
        self.rfile.close()
        self.wfile.close()
        self.connection.close()
        self.close_connection = True

    def _send(self, answer: Answer) -> None:
        content = answer.encoded()
        self.send_response_only(answer.status)
        for name, value in {"Date": self.date_time_string(), **_JSON, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the requests are recorded."""
