"""Finds the visitor's address and scheme when proxies stand before the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from backend.concurrency.bounded_cache import remember
from backend.domain.web.addresses import network_in, network_of, unmapped

# No address with an IPv6 zone and a port is longer. What a proxy passes on may be any text.
_LONGEST_ADDRESS = 128


class TrustedProxies:
    """The proxies whose forwarding headers are trusted, as addresses or networks."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = list(map(network_in, networks))
        self.trusts = remember(1_000_000, _LONGEST_ADDRESS)(self._trusts)

    def _trusts(self, address: str) -> bool:
        """Whether the address belongs to one of the proxies."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def visitor_address(self, scope: Mapping[str, Any]) -> str:
        """The address that an ASGI request comes from: the nearest one that is no trusted proxy.

        "" if unknown. Each proxy adds the address that called it, to the `X-Forwarded-For` line that it
        received or as a new line: all lines together are one list (RFC 9110, 5.3), which is read from its
        end.
        """
        address = peer_of(scope)
        if not self.trusts(address):
            return address
        for hop in _hops_from_nearest(scope):
            address = hop
            if not self.trusts(address):
                break
        return address

    def visitor_network(self, scope: Mapping[str, Any]) -> str:
        """The visitor's address as rate limits count it: of an IPv6 address, only the part of its network."""
        address = self.visitor_address(scope)
        return network_of(address) or address

    def visitor_scheme(self, peer: str, forwarded_proto: bytes | None) -> str:
        """The scheme in the visitor's browser: https, as in short URLs, unless a trusted proxy says http.

        `peer` is the address that the connection comes from.
        """
        is_http = forwarded_proto is not None and forwarded_proto.strip().lower() == b"http"
        return "http" if is_http and self.trusts(peer) else "https"


def peer_of(scope: Mapping[str, Any]) -> str:
    """The other end of a connection, the visitor or the nearest proxy, as its IP address; "" if unknown.

    A server that listens on `::` names IPv4 addresses as IPv6: here they are IPv4 addresses again.
    """
    client = scope.get("client")
    return unmapped(client[0]) if client else ""


def _hops_from_nearest(scope: Mapping[str, Any]) -> Iterator[str]:
    for name, value in reversed(list(scope["headers"])):
        if name == b"x-forwarded-for":
            hops = [hop.strip() for hop in value.decode("latin-1").split(",")]
            yield from (unmapped(_without_port(hop[:_LONGEST_ADDRESS])) for hop in reversed(hops) if hop)


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
