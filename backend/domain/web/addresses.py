"""Network addresses of visitors, reduced to the part that stays the same during a visit."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

# Providers assign a whole network of this size to a household or phone, which can use any address in it.
_IPV6_PREFIX_BITS = 64
_LONGEST_ADDRESS = 64  # with a zone
# What an IPv6 address that stands for an IPv4 address may begin with. Any other needs no closer look.
_BEGINS_MAPPED = ("::", "0")
_MAPPED_BITS = 96  # before the IPv4 address


def network_of(address: str) -> str | None:
    """The part of an IP address that a device usually keeps for an hour or longer.

    This is the whole address for IPv4, and the first 64 bits in hexadecimal digits for IPv6. None if the text
    is not an IP address.
    """
    return _kept(address) if len(address) <= _LONGEST_ADDRESS else None


@lru_cache(maxsize=4096)
def _kept(address: str) -> str | None:
    try:
        parsed = ip_address(unmapped(address))
    except ValueError:
        return None
    if isinstance(parsed, IPv4Address):
        return str(parsed)
    return f"{int(parsed) >> (128 - _IPV6_PREFIX_BITS):x}"


def unmapped(address: str) -> str:
    """The IPv4 address that sockets for both kinds of addresses write as IPv6, such as `::ffff:192.0.2.1`.

    Any other text stays as it is.
    """
    if not address.startswith(_BEGINS_MAPPED):
        return address
    try:
        mapped = IPv6Address(address).ipv4_mapped
    except ValueError:
        return address
    return str(mapped) if mapped else address


def network_in(text: str) -> IPv4Network | IPv6Network:
    """The network that somebody wrote; that of IPv4 addresses also where they are written as `unmapped` reads
    them. Raises ValueError."""
    network = ip_network(text, strict=False)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS)) if mapped else network
