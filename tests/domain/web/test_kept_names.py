"""What is kept of names and addresses that were read before: little, however they are written."""

from __future__ import annotations

from backend.domain.web import addresses, host_names
from backend.domain.web.addresses import network_of
from backend.domain.web.host_names import normalize_host


def test_long_spellings_are_not_kept() -> None:
    """A host with a million spaces around it is the host, and nobody's memory holds the spaces."""
    for spelled, kept in (("Go.Of-This-Test.Example", 1), (" " * 1_000_000 + "Go.Of-This-Test.Example", 0)):
        before = host_names._kept.cache_info().misses
        assert [normalize_host(spelled) for _ in range(2)] == ["go.of-this-test.example"] * 2
        assert host_names._kept.cache_info().misses - before == kept


def test_what_is_no_address_is_not_kept() -> None:
    """Whatever a proxy passes on as an address, which is none if it is too long; and an address is kept."""
    for address, network, kept in (("x" * 1_000, None, 0), ("192.0.2.217", "192.0.2.217", 1)):
        before = addresses._kept.cache_info().misses
        assert [network_of(address) for _ in range(2)] == [network] * 2
        assert addresses._kept.cache_info().misses - before == kept
