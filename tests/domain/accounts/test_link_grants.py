"""Grants of links to apps' keys."""

from __future__ import annotations

from backend.domain.accounts.link_grants import LinkGrant


def test_a_grant_is_for_one_scheme_and_port() -> None:
    """Https is meant where none is written: whoever reads the key out of the app reaches nothing else."""
    grant = LinkGrant.of("go.shop.com", ["shop.com/in/*", "http://old.shop.com:8080"])
    assert grant.destinations == ("https://shop.com/in/*", "http://old.shop.com:8080")
    assert grant.allows("https://shop.com/in/1")
    assert grant.allows("http://old.shop.com:8080/x")
    for url in (
        "http://shop.com/in/1", "https://shop.com:8443/in/1", "http://shop.com:8443/in/1", "https://shop.com/out",
        "https://old.shop.com:8080/x", "http://old.shop.com/x",
    ):  # fmt: skip
        assert not grant.allows(url), url
