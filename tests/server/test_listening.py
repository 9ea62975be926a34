"""What the server listens on."""

from __future__ import annotations

import socket

import pytest

from memoranda.server.serving import listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_connections_send_at_once(host: str) -> None:
    """Else each answer waits for the acknowledgement of its first packet, 40 ms on Linux."""
    with listening(host, 0) as listener, socket.create_connection(listener.getsockname()[:2]):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
