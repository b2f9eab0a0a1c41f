"""Visitors: hashes that tell the visitors of one day apart, without cookies and without their addresses.

A visitor is one address with one browser on one UTC day, for one organization (decisions, "unique-visitors").
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from backend.domain.ids import InstallId, OrgId
from backend.domain.web.addresses import network_of

# Enough to count: a million visitors have about 116 hashes fewer. Few enough that a hash says
# little even while its key exists: with each User-Agent, about one of all IPv4 addresses has it by chance.
HASH_BYTES = 4
HIGHEST_HASH = 2 ** (8 * HASH_BYTES) - 1


def visitor_hash(key: bytes, org_id: OrgId, address: str, user_agent: bytes) -> int | None:
    """A hash of a visitor with the day's key, from 0 to HIGHEST_HASH, different for each organization.

    `key` is 1 to 64 random bytes. Of an IPv6 address only the network counts, since devices change the rest
    during a day. None if `address` is not an IP address.
    """
    network = network_of(address)
    if network is None:
        return None
    who = _hashing(key).copy()
    who.update(f"{org_id}\n{network}\n".encode() + user_agent)
    return int.from_bytes(who.digest(), "big")


def app_visitor_hash(key: bytes, org_id: OrgId, install_id: InstallId) -> int:
    """The same for an installation of an app, which is one visitor wherever it is."""
    who = _hashing(key).copy()
    who.update(f"{org_id}\napp\n{install_id}".encode())
    return int.from_bytes(who.digest(), "big")


@lru_cache(maxsize=2)  # of today, and of yesterday where clocks differ: to copy it is quicker than to make it
def _hashing(key: bytes) -> blake2b:
    return blake2b(key=key, digest_size=HASH_BYTES)
