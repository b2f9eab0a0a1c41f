"""Which addresses are in the public internet."""

from __future__ import annotations

import pytest

from backend.domain.web.public_addresses import is_public


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::"]
)
def test_public(address: str) -> None:
    """Those that anyone may be reached at, also where a gateway translates them."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1",
        "192.168.1.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
        "::", "::1", "fc00::1", "fe80::1", "fe80::1%eth0", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
        "::ffff:1.1.1.1", "fec0::1", "64:ff9b::a00:1", "2002:7f00:1::", "::127.0.0.1",
    ],
)  # fmt: skip
def test_not_public(address: str) -> None:
    """Networks of one's own, this machine, groups and what is reserved, also wrapped into another address."""
    assert not is_public(address)
