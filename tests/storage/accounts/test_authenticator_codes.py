"""Codes of authenticator apps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.domain.accounts.second_factor.factor import is_secret
from backend.storage.accounts.users.authenticator_codes import matching_step, new_secret, provisioning_uri

# The secret of RFC 6238's test vectors, "12345678901234567890", in Base32, and the last six of their digits.
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
VECTORS = [(1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]


def at(seconds: int) -> datetime:
    """So many seconds after the epoch."""
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    """Each vector of RFC 6238 holds at its time, half a minute earlier and later, and no longer."""
    for minutes, holds in ((-1.5, False), (-0.5, True), (0, True), (0.5, True), (1.5, False)):
        step = matching_step(SECRET, code, at(seconds) + timedelta(minutes=minutes))
        assert step == (seconds // 30 if holds else None)


@pytest.mark.parametrize("typed", ["081 804", " 081804\n", "081-804"])
def test_a_code_may_be_typed_in_groups(typed: str) -> None:
    """Apps show codes with a space in the middle."""
    assert matching_step(SECRET, typed, at(1111111109)) == 37037036


@pytest.mark.parametrize("typed", ["", "081805", "08180", "0818040", "０８１８０４", "\ud800", "x" * 10_000])
def test_no_other_text_is_a_code(typed: str) -> None:
    """Nor are other digits than ASCII's, and nothing raises."""
    assert matching_step(SECRET, typed, at(1111111109)) is None


def test_no_code_holds_again() -> None:
    """Neither one of the step that was used, nor one of an earlier step."""
    seconds, code = VECTORS[0]
    step = seconds // 30
    assert matching_step(SECRET, code, at(seconds), after=step - 1) == step
    assert matching_step(SECRET, code, at(seconds), after=step) is None
    assert matching_step(SECRET, code, at(seconds), after=step + 1) is None


def test_what_an_app_scans() -> None:
    """The address names the secret, the user and the service."""
    address = urlsplit(provisioning_uri(SECRET, "ada+x@example.com"))
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert address.path == "/Waylink:ada%2Bx%40example.com"
    assert parse_qs(address.query) == {"secret": [SECRET], "issuer": ["Waylink"]}


def test_secrets_differ() -> None:
    """Each is one that an archive may have."""
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(is_secret(secret) for secret in secrets)
