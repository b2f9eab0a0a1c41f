"""Whom a request comes from: forwarding headers are believed from the configured proxies only."""

from __future__ import annotations

from typing import Any

import pytest

from backend.web.proxies import TrustedProxies

PROXIES = TrustedProxies(("10.0.0.0/8", "2001:db8::1"))


def scope(peer: str | None, *forwarded_for: bytes) -> dict[str, Any]:
    """A request over a connection from `peer`, with these X-Forwarded-For lines."""
    headers = [(b"host", b"shop.link"), *((b"x-forwarded-for", line) for line in forwarded_for)]
    return {"client": (peer, 4711) if peer else None, "headers": headers}


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "visitor"),
    [
        (None, b"203.0.113.9", ""),
        ("192.0.2.1", None, "192.0.2.1"),
        ("192.0.2.1", b"203.0.113.9", "192.0.2.1"),
        ("10.0.0.1", b"203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", b"203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", b"1.1.1.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", b"10.0.0.9", "10.0.0.9"),
        ("10.0.0.1", b"203.0.113.9:4711", "203.0.113.9"),
        ("10.0.0.1", b"[2001:db8::7]:4711", "2001:db8::7"),
        ("2001:db8::1", b"2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", b"", "10.0.0.1"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", b"unknown", "unknown"),
        ("::ffff:192.0.2.1", b"203.0.113.9", "192.0.2.1"),
        ("::ffff:10.0.0.1", b"::ffff:203.0.113.9", "203.0.113.9"),
        ("::ffff:10.0.0.1", b"[0:0:0:0:0:FFFF:203.0.113.9]:4711", "203.0.113.9"),
        ("10.0.0.1", b"::ffff:unknown", "::ffff:unknown"),
        ("10.0.0.1", b"0000:0000:0000:0000:0000:ffff:cb00:7109", "203.0.113.9"),
        ("10.0.0.1", b"::fFfF:203.0.113.9", "203.0.113.9"),
    ],
)
def test_the_visitor_s_address(peer: str | None, forwarded_for: bytes | None, visitor: str) -> None:
    """The nearest address that is no proxy of ours: what stands before it, anyone may have written."""
    lines = [] if forwarded_for is None else [forwarded_for]
    assert PROXIES.visitor_address(scope(peer, *lines)) == visitor


@pytest.mark.parametrize("network", ["::ffff:10.0.0.0/104", "::FFFF:a00:1", "0:0:0:0:0:ffff:10.0.0.1/128"])
def test_proxies_named_as_a_socket_for_both_kinds_writes_them(network: str) -> None:
    """Who trusted an IPv4 proxy by the IPv6 address that the log had trusts it still."""
    proxies = TrustedProxies((network,))
    for peer in ("10.0.0.1", "::ffff:10.0.0.1"):
        assert proxies.visitor_address(scope(peer, b"203.0.113.9")) == "203.0.113.9"
    assert proxies.visitor_address(scope("11.0.0.1", b"203.0.113.9")) == "11.0.0.1"


@pytest.mark.parametrize(
    ("lines", "visitor"),
    [
        ((b"1.1.1.1", b"203.0.113.9"), "203.0.113.9"),
        ((b"1.1.1.1", b"203.0.113.9", b"10.0.0.2"), "203.0.113.9"),
        ((b"1.1.1.1, 203.0.113.9", b"10.0.0.2, 10.0.0.3"), "203.0.113.9"),
        ((b"203.0.113.9", b" , "), "203.0.113.9"),
    ],
)
def test_every_line_is_read(lines: tuple[bytes, ...], visitor: str) -> None:
    """A proxy may add a line of its own below one that the visitor made up: the last line is the nearest."""
    assert PROXIES.visitor_address(scope("10.0.0.1", *lines)) == visitor


def test_a_long_text_is_cut() -> None:
    """What stands in an address's place is kept in memory, so it has a bound."""
    assert len(PROXIES.visitor_address(scope("10.0.0.1", b"x" * 16_000))) == 128


@pytest.mark.parametrize(
    ("peer", "forwarded_proto", "scheme"),
    [
        ("192.0.2.1", b"http", "https"),
        ("10.0.0.1", b"http", "http"),
        ("10.0.0.1", b" HTTP ", "http"),
        ("10.0.0.1", b"https", "https"),
        ("10.0.0.1", b"gopher", "https"),
        ("10.0.0.1", None, "https"),
    ],
)
def test_the_visitor_s_scheme(peer: str, forwarded_proto: bytes | None, scheme: str) -> None:
    """https, as short URLs are, unless a proxy of ours says that the visitor came by http."""
    assert PROXIES.visitor_scheme(peer, forwarded_proto) == scheme
