"""Where a model is served over HTTP, how one gets in, and what of that must never be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memoranda.providers._connection import checked_url, host_of
from memoranda.providers.errors import Purpose, Teller

DEFAULT_TIMEOUT: Final = 60.0
DEFAULT_CONCURRENCY: Final = 4
_SHORTEST_SECRET: Final = 6


@dataclass(frozen=True, slots=True)
class Transport:
    """How a server is reached where the defaults are not meant: files of TLS, a proxy, the environment's settings."""

    key_file: str | None = None
    cert_file: str | None = None
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    trust_env: bool = True


DIRECT: Final = Transport()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's base URL, its key (none for most local ones), the seconds to wait for it, and headers for it.

    ``body`` is said in every request beside what the call says; ``transport`` how the server is reached.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = DEFAULT_TIMEOUT
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, object] = field(default_factory=dict, repr=False)
    transport: Transport = DIRECT

    def __post_init__(self) -> None:
        if self.timeout <= 0:
            raise ValueError(f"timeout is {self.timeout}: give a positive number of seconds")
        object.__setattr__(self, "base_url", checked_url(self.base_url))

    @property
    def host(self) -> str:
        return host_of(self.base_url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key, the values of the headers, and user and password of the URL."""
        in_url = self.base_url.partition("://")[2].partition("/")[0].rpartition("@")[0]
        values = (self.api_key or "", in_url, *self.headers.values())
        return tuple(value for value in values if len(value) >= _SHORTEST_SECRET)

    def teller(self, model: str, purpose: Purpose) -> Teller:
        return Teller(f"{model} at {self.host}", purpose, self.secrets)
