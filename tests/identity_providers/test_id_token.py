"""ID tokens that are not what they have to be."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.identity_providers.id_token import (
    LEEWAY_SECONDS,
    Expectation,
    UnknownSigningKey,
    key_set,
    verify,
)

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
EXPECTED = Expectation("https://id.example", "client", "nonce", ("RS256", "ES256"))
CLAIMS: dict[str, Any] = {
    "iss": EXPECTED.issuer,
    "aud": "client",
    "sub": "1",
    "nonce": "nonce",
    "iat": SECONDS,
    "exp": SECONDS + 60,
}
KEY = ECKey.generate_key("P-256", {"kid": "1"})


@cache
def rsa_key() -> RSAKey:
    """Made when a test asks for it: every process of a run imports this file, and one runs its tests."""
    return RSAKey.generate_key(2048, {"kid": "2"})


def document() -> dict[str, Any]:
    """What the provider says of its keys."""
    return {"keys": [KEY.as_dict(private=False), rsa_key().as_dict(private=False)]}


def signed(claims: dict[str, Any], kid: str = "1", key: Any = KEY, algorithm: str = "ES256") -> str:
    """An ID token of these claims."""
    known = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode({"alg": algorithm, "kid": kid}, known, key, algorithms=[algorithm])


def test_one_that_is_right() -> None:
    """By either key, for several clients with this one named, and as late as clocks may differ."""
    keys = key_set(document())
    assert verify(signed(CLAIMS), keys, EXPECTED, NOW) == CLAIMS
    verify(signed(CLAIMS, "2", rsa_key(), "RS256"), keys, EXPECTED, NOW)
    verify(signed(CLAIMS | {"aud": ["client", "other"], "azp": "client"}), keys, EXPECTED, NOW)
    verify(signed(CLAIMS | {"exp": SECONDS - LEEWAY_SECONDS + 1}), keys, EXPECTED, NOW)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"iss": "https://evil.example"}, Refusal.INVALID_TOKEN),
        ({"iss": None}, Refusal.INVALID_TOKEN),
        ({"aud": "other"}, Refusal.INVALID_TOKEN),
        ({"aud": ["client", "other"]}, Refusal.INVALID_TOKEN),
        ({"azp": "other"}, Refusal.INVALID_TOKEN),
        ({"sub": None}, Refusal.INVALID_TOKEN),
        ({"nonce": "other"}, Refusal.INVALID_TOKEN),
        ({"nonce": ["nonce"]}, Refusal.INVALID_TOKEN),
        ({"nonce": None}, Refusal.INVALID_TOKEN),
        ({"exp": SECONDS - LEEWAY_SECONDS}, Refusal.CLOCK),
        ({"exp": None}, Refusal.CLOCK),
        ({"exp": "soon"}, Refusal.CLOCK),
        ({"iat": SECONDS + LEEWAY_SECONDS + 1}, Refusal.CLOCK),
        ({"nbf": SECONDS + LEEWAY_SECONDS + 1}, Refusal.CLOCK),
    ],
)
def test_claims_that_are_wrong(changes: dict[str, Any], refusal: Refusal) -> None:
    """Each is a reason of its own."""
    with pytest.raises(SignInRefused) as told:
        verify(signed(CLAIMS | changes), key_set(document()), EXPECTED, NOW)
    assert told.value.refusal is refusal


def test_signatures_that_are_wrong() -> None:
    """None, one by the client's secret, one by a key that calls itself the provider's, and what is none."""
    keys, secret = key_set(document()), OctKey.import_key("x" * 32)
    other = ECKey.generate_key("P-256")
    header, payload, _ = signed(CLAIMS).split(".")
    unsigned = f"eyJhbGciOiJub25lIiwia2lkIjoiMSJ9.{payload}."
    for token in (
        unsigned,
        signed(CLAIMS, key=secret, algorithm="HS256"),
        signed(CLAIMS, key=other),
        f"{header}.{payload}.",
        "x.y",
        "",
    ):
        with pytest.raises(SignInRefused) as told:
            verify(token, keys, EXPECTED, NOW)
        assert told.value.refusal is Refusal.INVALID_TOKEN
    with pytest.raises(UnknownSigningKey):
        verify(signed(CLAIMS, kid="3"), keys, EXPECTED, NOW)


def test_keys_that_sign_are_taken() -> None:
    """Those of encryption, of sorts that nobody knows, and secrets are left out."""
    odd = [{"kty": "AKP", "alg": "ML-DSA-44"}, {"kty": "oct", "k": "eA"}, {"kty": "EC"}, 7]
    odd.append(KEY.as_dict(private=False) | {"use": "enc"})
    assert [key.kid for key in key_set({"keys": [*odd, *document()["keys"]]})] == ["1", "2"]
    without: list[object] = [{"keys": odd}, {"keys": []}, {}, []]
    for nothing in without:
        with pytest.raises(ValueError, match="has no"):
            key_set(nothing)
