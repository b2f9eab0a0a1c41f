"""Wrong tries of the passwords of links and reports."""

from __future__ import annotations

import uuid

import pytest

from backend.rate_limits import link_password_limits
from backend.rate_limits.address_hashes import AddressHashes
from backend.rate_limits.limit import Limit
from backend.rate_limits.link_password_limits import LinkPasswordLimits
from backend.storage.driver.mongo import Database
from tests.rate_limits.test_sign_in_limits import an_address


def a_link() -> str:
    """A link that no other test tries."""
    return str(uuid.uuid4())


async def tries(limits: LinkPasswordLimits, link_id: str, address: str, number: int) -> list[bool]:
    """Of so many tries, which ones may go on."""
    return [not await limits.begin_try(link_id, address) for _ in range(number)]


async def test_tries_that_a_limit_refuses_count_nowhere(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where an address has used up its tries, what it sends to another link is not tried: that link counts
    none of it, and neither grow the pauses of who comes from there."""
    monkeypatch.setattr(link_password_limits, "OF_ADDRESS", Limit("link-password-address", 2))
    monkeypatch.setattr(link_password_limits, "OF_LINK", Limit("link-password", 6, seconds=3600.0))
    limits, address, link_id = LinkPasswordLimits(database, AddressHashes(database)), an_address(), a_link()
    assert await tries(limits, a_link(), address, 2) == [True] * 2
    assert await tries(limits, link_id, address, 9) == [False] * 9
    monkeypatch.setattr(link_password_limits, "OF_ADDRESS", Limit("another-link-password-address", 100))
    later = LinkPasswordLimits(database, AddressHashes(database))
    assert await tries(later, link_id, address, 6) == [True] * 5 + [False]
    assert await tries(later, link_id, an_address(), 2) == [True, False]
