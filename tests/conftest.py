"""What holds for every test: no network but loopback, no settings from the caller's environment, no deadlines."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Deadlines are timed assertions; they fail on a busy machine and prove nothing.
settings.register_profile("memoranda", deadline=None, print_blob=True)
settings.load_profile("memoranda")

# The shipped suites tell what they compared, like tests of our own.
pytest.register_assert_rewrite("memoranda.testing")

# A shell that starts a job in the background has it ignore Ctrl-C, and so do the processes that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_ADDRESS = " at 0x"
_LOOPBACK = ("127.", "::1", "localhost")
_SETTINGS = ("MEMORANDA_", "AGENTIC_MEMORY_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names that differ from process to process: tests that run side by side are told apart by them."""
    unstable = [item.nodeid for item in items if _ADDRESS in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"give these parameters an id, theirs holds an address: {', '.join(unstable)}")


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Iterator[None]:
    """Refuse connections to any other machine."""
    connect = socket.socket.connect

    def guarded(sock: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is not None and not str(host).startswith(_LOOPBACK):
            raise RuntimeError(f"a test tried to connect to {host}; tests may only use loopback")
        connect(sock, address)  # type: ignore[arg-type]  # typeshed's address type is private

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the caller's settings, so that a test sees the defaults."""
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)
