"""IP access lists: from which addresses a service account may be used."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from memoranda.sdk.errors import MemoryBadRequestError

MAX_ENTRIES: Final = 100


def read_ip_access_list(entries: Sequence[str]) -> tuple[str, ...]:
    """Return addresses and networks in canonical form (``192.0.2.1/32``), each once; an empty list allows all.

    Raises ``MemoryBadRequestError`` for what is not an address or a CIDR block, and for more than 100 entries.
    """
    if len(entries) > MAX_ENTRIES:
        raise MemoryBadRequestError(
            f"the IP access list has {len(entries)} entries, at most {MAX_ENTRIES} are allowed: join neighbouring "
            "addresses to networks",
            code="INVALID_IP_ACCESS_LIST",
        )
    return tuple(dict.fromkeys(_network(entry) for entry in entries))


def _network(entry: str) -> str:
    try:
        network = ip_network(entry.strip())
    except ValueError as error:
        raise MemoryBadRequestError(
            f"{entry[:60]!r} is no address and no CIDR block, such as 192.0.2.7 or 10.0.0.0/8: {error}",
            code="INVALID_IP_ACCESS_LIST",
        ) from None
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        raise MemoryBadRequestError(
            f"{entry[:60]!r} is an IPv4 network written as IPv6: write it as IPv4", code="INVALID_IP_ACCESS_LIST"
        )
    return str(network)


def is_allowed(host: str | None, ip_access_list: Sequence[str]) -> bool:
    """Whether a caller's address is in the list; an unknown address is in none, and an empty list allows all."""
    if not ip_access_list:
        return True
    address = _address(host)
    return address is not None and any(address in ip_network(entry) for entry in ip_access_list)


def _address(host: str | None) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address((host or "").partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
