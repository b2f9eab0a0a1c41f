"""What a browser takes to the provider and brings back."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from hypothesis import given
from hypothesis import strategies as some

from backend.domain.accounts.single_sign_on.attempt import SALT_BYTES, find_attempt, new_attempt
from backend.domain.accounts.single_sign_on.metadata import ProviderMetadata
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.ids import OrgId

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
ORG, OTHER = OrgId("one"), OrgId("two")
SALT = bytes(SALT_BYTES)
METADATA = ProviderMetadata(
    "https://id.example", "https://id.example/auth?tenant=1", "", "", ("RS256",), "", ("openid", "groups")
)


def test_it_is_found_by_its_state_in_its_browser() -> None:
    """With all that it was made of, for its organization, and in no other browser."""
    attempt = new_attempt("token", ORG, SALT, NOW, "/links?q=ä")
    assert find_attempt("token", ORG, attempt.state) == attempt
    assert (attempt.following, attempt.begun_at) == ("/links?q=ä", NOW)
    assert find_attempt("another", ORG, attempt.state) is None
    assert find_attempt("token", OTHER, attempt.state) is None
    assert not attempt.is_over(NOW + timedelta(minutes=10))
    assert attempt.is_over(NOW + timedelta(minutes=10, seconds=1))


def test_each_is_another() -> None:
    """By its salt; and a path that is too long for an address gives way to the first page."""
    first, second = new_attempt("token", ORG, SALT, NOW, "/"), new_attempt("token", ORG, b"x" * 16, NOW, "/")
    for name in ("state", "nonce", "code_verifier"):
        assert getattr(first, name) != getattr(second, name)
    assert new_attempt("token", ORG, SALT, NOW, "/" + "x" * 300).following == "/"


@given(some.text())
def test_what_is_no_state(text: str) -> None:
    """Whatever strangers write into an address is none, and breaks nothing."""
    assert find_attempt("token", ORG, text) is None


def test_the_address_at_the_provider() -> None:
    """It asks for a code with PKCE, for a scope with the groups if there is one, and keeps what is there."""
    attempt = new_attempt("token", ORG, SALT, NOW, "/")
    provider = IdentityProvider("https://id.example", "client", "secret")
    address = urlsplit(attempt.authorization_url(provider, METADATA, "https://waylink.example/back"))
    sent = {name: values[0] for name, values in parse_qs(address.query).items()}
    digest = hashlib.sha256(attempt.code_verifier.encode()).digest()
    assert sent["code_challenge"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    assert (sent["tenant"], sent["scope"]) == ("1", "openid email profile groups")
    assert 43 <= len(attempt.code_verifier) <= 128
    assert "secret" not in address.query
