"""Whom a request comes from, when proxies stand before the service."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network


class TrustedProxies:
    """The proxies whose forwarding headers are believed, as addresses or networks."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(each, strict=False) for each in networks]
        self.trusts = lru_cache(maxsize=4096)(self._trusts)

    def _trusts(self, address: str) -> bool:
        """Whether the address is one of the proxies."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def visitor_address(self, peer: str, forwarded_for: bytes | None) -> str:
        """The nearest address that is no proxy of ours; each proxy appends the address it was called from."""
        address = peer
        hops = forwarded_for.decode("latin-1").split(",") if forwarded_for else []
        while hops and self.trusts(address):
            address = _without_port(hops.pop().strip())
        return address

    def visitor_scheme(self, peer: str, forwarded_proto: bytes | None) -> str:
        """What the visitor's browser spoke: https, as short URLs do, unless a proxy of ours says http."""
        is_http = forwarded_proto is not None and forwarded_proto.strip().lower() == b"http"
        return "http" if is_http and self.trusts(peer) else "https"


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
