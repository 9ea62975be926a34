"""The keys that tokens are signed with: a file of mode 0600 that all processes of a server share.

Never in the database, so that a backup or a dump of it signs nothing. The newest key signs; one that was retired still
verifies until the last token that it signed has expired.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import secrets
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from memoranda.engine.ports import Clock
from memoranda.sdk.errors import MemoryConfigError

if sys.platform != "win32":
    import fcntl

logger = logging.getLogger(__name__)

TOKEN_LIFETIME: Final = timedelta(hours=1)
KEEP_RETIRED: Final = TOKEN_LIFETIME + timedelta(minutes=5)
"""How long a retired key verifies: as long as a token lives, and some more for a process that had not noticed yet."""

_BYTES: Final = 32
_NOT_OURS_TO_SHARE: Final = stat.S_IWGRP | stat.S_IXGRP | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key; ``retired_at`` is None for the one that signs."""

    kid: str
    created_at: datetime
    retired_at: datetime | None = None
    secret: bytes = field(default=b"", repr=False)

    def verifies_until(self) -> datetime | None:
        """Return when the key verifies no more; None while it is the one that signs."""
        return None if self.retired_at is None else self.retired_at + KEEP_RETIRED


class SigningKeys:
    """The keys in one file, made when first needed. Thread-safe; what another process changes is noticed at once."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._read: tuple[tuple[int, int, int], tuple[SigningKey, ...]] | None = None

    @property
    def path(self) -> Path:
        return self._path

    def current(self) -> SigningKey:
        """Return the key that signs, making the file when it is not there; ``MemoryConfigError`` when it cannot be."""
        return (self._keys() or self._made())[-1]

    def find(self, kid: str) -> SigningKey | None:
        """Return the key of this name while it verifies."""
        now = self._clock.now()
        return next((key for key in self._keys() if key.kid == kid and _verifies(key, now)), None)

    def all(self) -> Sequence[SigningKey]:
        """Return the keys that sign or verify, oldest first; none before the file is made."""
        now = self._clock.now()
        return [key for key in self._keys() if _verifies(key, now)]

    def rotate(self, *, at_once: bool = False) -> SigningKey:
        """Sign with a new key from now on. With ``at_once`` the old ones verify nothing more: every token is void."""
        with self._locked():
            now = self._clock.now()
            left = [] if at_once else [key for key in self._keys() if _verifies(key, now)]
            new = _new_key(now)
            self._write((*(key if key.retired_at else replace(key, retired_at=now) for key in left), new))
        logger.info("signing_key.rotated", extra={"kid": new.kid, "at_once": at_once})
        return new

    def _made(self) -> tuple[SigningKey, ...]:
        with self._locked():
            found = self._keys()  # another process may have been first
            if not found:
                found = (_new_key(self._clock.now()),)
                self._write(found)
                logger.info("signing_key.made", extra={"kid": found[-1].kid})
        return found

    def _keys(self) -> tuple[SigningKey, ...]:
        try:
            state = os.stat(self._path)
            mark = state.st_ino, state.st_mtime_ns, state.st_size
            with self._lock:
                if self._read is None or self._read[0] != mark:
                    self._read = mark, self._parsed()
                return self._read[1]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror}") from error

    def _parsed(self) -> tuple[SigningKey, ...]:
        with open(self._path, "rb") as file:
            if sys.platform != "win32" and os.fstat(file.fileno()).st_mode & _NOT_OURS_TO_SHARE:
                raise self._unusable("can be read or changed by others: run chmod 600 on it")
            text = file.read()
        try:
            keys = tuple(_from_plain(each) for each in json.loads(text)["keys"])
        except (ValueError, TypeError, KeyError):
            keys = ()
        if not keys:
            # Without the cause: it would quote what the file holds.
            raise self._unusable("is no file of signing keys: put a backup back, or remove it to have a new one made")
        return keys

    def _write(self, keys: Sequence[SigningKey]) -> None:
        """Replace the file as a whole: nobody ever reads half of it."""
        text = json.dumps({"version": 1, "keys": [_as_plain(key) for key in keys]}, indent=1)
        try:
            handle, name = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)  # mode 0600
            try:
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(text + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(name, self._path)
            except BaseException:
                os.unlink(name)
                raise
        except OSError as error:
            raise self._unusable(f"cannot be written: {error.strerror}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes, and other threads, from making or rotating keys meanwhile."""
        lock = self._path.with_name(f"{self._path.name}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except OSError as error:
            raise self._unusable(f"cannot be locked: {error.strerror}") from error
        try:
            if sys.platform != "win32":
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _unusable(self, why: str) -> MemoryConfigError:
        return MemoryConfigError(f"the signing keys file {str(self._path)!r} {why}")


def _new_key(now: datetime) -> SigningKey:
    return SigningKey(kid=secrets.token_hex(8), created_at=now, secret=secrets.token_bytes(_BYTES))


def _verifies(key: SigningKey, now: datetime) -> bool:
    until = key.verifies_until()
    return until is None or now < until


def _as_plain(key: SigningKey) -> dict[str, str | None]:
    return {
        "kid": key.kid,
        "secret": base64.b64encode(key.secret).decode("ascii"),
        "created_at": key.created_at.isoformat(),
        "retired_at": None if key.retired_at is None else key.retired_at.isoformat(),
    }


def _from_plain(plain: dict[str, str | None]) -> SigningKey:
    kid, secret, created_at, retired_at = (plain[name] for name in ("kid", "secret", "created_at", "retired_at"))
    if not kid or secret is None or created_at is None:
        raise ValueError("a key lacks its name, its secret or its time")
    decoded = base64.b64decode(secret, validate=True)
    if len(decoded) < _BYTES:
        raise ValueError("a key is too short")
    retired = None if retired_at is None else datetime.fromisoformat(retired_at)
    return SigningKey(kid=kid, created_at=datetime.fromisoformat(created_at), retired_at=retired, secret=decoded)
