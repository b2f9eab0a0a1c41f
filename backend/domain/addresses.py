"""Addresses of visitors, as far as they stay the same while somebody is at it."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, ip_address

# Providers give a household or a phone this much of IPv6, and whoever has it can use any address in it.
_IPV6_PREFIX_BITS = 64


@lru_cache(maxsize=4096)
def network_of(address: str) -> str | None:
    """What stays the same of a device's address for an hour: all of IPv4, the first half of IPv6.

    None for what is no address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return f"{int(parsed) >> (128 - _IPV6_PREFIX_BITS):x}"
