"""Which IP addresses are out in the public internet."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

# Addresses in which gateways read an IPv4 address at the end (RFC 6052).
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether this is an address that anyone in the internet may be reached at.

    Not those of private networks, this machine, one link, groups, documentation or the future, also where an
    IPv6 address only wraps such an IPv4 address.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and (inner := _wrapped(address)):
        return _is_public(inner) and (address in _TRANSLATED or address.sixtofour is not None)
    return _is_public(address) and not (isinstance(address, IPv6Address) and address.is_site_local)


def is_loopback(text: str) -> bool:
    """Whether this is an address of the machine itself."""
    return ip_address(text.partition("%")[0]).is_loopback


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
