"""Client ids and secrets: how they are made, kept and compared."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

ID_PREFIX: Final = "ae_sa_id_"
SECRET_PREFIX: Final = "ae_sa_sk_"
MAX_SECRET: Final = 200
"""The longest secret that is looked at; ours have 52 characters."""

_ALPHABET: Final = string.ascii_lowercase + string.digits
_ID_LENGTH: Final = 24
_CLIENT_ID: Final = re.compile(rf"{ID_PREFIX}[a-z0-9]{{{_ID_LENGTH}}}")
_SECRET_BYTES: Final = 32
_AT_ONCE: Final = 4
_REMEMBERED: Final = 1024
_COMPARED: Final = 2
"""A secret is always compared with this many digests, so that the time tells nothing of an account."""


def new_client_id() -> str:
    """Return a client id; it is random and carries nothing."""
    return ID_PREFIX + "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LENGTH))


def is_client_id(text: str) -> bool:
    """Whether a text could be a client id; only such are looked up."""
    return _CLIENT_ID.fullmatch(text) is not None


def new_secret() -> str:
    """Return a client secret of 256 random bits."""
    return SECRET_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)


class SecretHasher:
    """Hashes secrets with argon2id, and compares them in constant time. Thread-safe.

    The parameters are the least that is advised for passwords (19 MiB, two passes): guessing 256 random bits is out of
    reach by itself. What was found right once is remembered as a keyed digest, for as long as the hash is in use.
    """

    def __init__(self) -> None:
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        self._stand_in = self._hasher.hash(new_secret())
        self._key = secrets.token_bytes(32)
        self._right: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(_AT_ONCE)

    def hash(self, secret: str) -> str:
        """Return what is kept of a secret."""
        with self._room:
            return self._hasher.hash(secret)

    def matches(self, secret: str, digests: Sequence[str]) -> bool:
        """Whether a secret is that of one of at most two digests; as slow for none, when it is not remembered."""
        mark = hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        if self._is_remembered(mark, digests):
            return True
        padded = [*digests, *[self._stand_in] * (_COMPARED - len(digests))]
        found = [self._verified(secret, digest) for digest in padded]
        right = [digest for digest, fits in zip(digests, found, strict=False) if fits]
        for digest in right:
            self._remember(digest, mark)
        return bool(right)

    def _verified(self, secret: str, digest: str) -> bool:
        if len(secret) > MAX_SECRET:
            secret = ""
        with self._room:
            try:
                return self._hasher.verify(digest, secret.encode("utf-8", "surrogatepass"))
            except (VerificationError, InvalidHashError):
                return False

    def _is_remembered(self, mark: bytes, digests: Sequence[str]) -> bool:
        with self._lock:
            return any(hmac.compare_digest(mark, self._right.get(digest, b"")) for digest in digests)

    def _remember(self, digest: str, mark: bytes) -> None:
        with self._lock:
            self._right[digest] = mark
            self._right.move_to_end(digest)
            while len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)
