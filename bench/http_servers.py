"""Servers in processes of their own: ours, a bare route that does the same validation, and one that does nothing."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from memoranda.sdk.models import WriteTurnResult
from memoranda.server import LogSettings, StartOptions, run_dev_server
from memoranda.server.schemas.turns import TurnBody

PATH = "/api/v1/memory/turns"
_ANSWER = b'{"id":"0","session_id":"s","turn_seq":1,"acknowledged":true,"has_embedding":false}'
_RESPONSE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(_ANSWER),
    _ANSWER,
)


@contextmanager
def started(*arguments: str) -> Iterator[int]:
    """Start a server (``null``, ``bare``, or ``ours`` with its file and its worker threads) and yield its port."""
    command = [sys.executable, "-m", "bench.http_servers", *arguments]
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            port = process.stdout.readline() if process.stdout is not None else ""
            if not port:
                process.wait()
                log.seek(0)
                raise RuntimeError(f"the server did not start:\n{log.read()}")
            yield int(port)
        finally:
            process.terminate()


class _Null(asyncio.Protocol):
    """Answers whatever arrives, unread, with the same bytes."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if isinstance(self._transport, asyncio.Transport):
            self._transport.write(_RESPONSE)


async def _serve_nothing() -> None:
    server = await asyncio.get_running_loop().create_server(_Null, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def _serve_bare() -> None:
    app = FastAPI()

    @app.post(PATH)
    def record_turn(body: TurnBody) -> WriteTurnResult:
        return WriteTurnResult(id="0", session_id=body.session_id or "", turn_seq=1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none", lifespan="off")
        uvicorn.Server(config).run(sockets=[listener])


def _serve_ours(store: str, worker_threads: str) -> None:
    settings = {"port": 0, "worker_threads": int(worker_threads)}
    options = StartOptions(store, llm="local", logs=LogSettings(level="warn"), settings=settings)
    run_dev_server(options, lambda url: print(url.rpartition(":")[2], flush=True))


def _main(kind: str, *arguments: str) -> None:
    if kind == "null":
        asyncio.run(_serve_nothing())
    elif kind == "bare":
        _serve_bare()
    else:
        _serve_ours(*arguments)


if __name__ == "__main__":
    _main(*sys.argv[1:])
