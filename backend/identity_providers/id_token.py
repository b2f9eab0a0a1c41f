"""Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7).

joserfc checks signatures and times; what only OpenID Connect knows of is checked here.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import JWSRegistry

from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused

# How far the provider's clock and this service's may be apart.
LEEWAY_SECONDS = 120
_TIMES = frozenset({"exp", "iat", "nbf"})
_MOST_KEYS = 100


class UnknownSigningKey(Exception):
    """The token was signed by a key that is not among those at hand: the provider may have a new one."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an ID token has to be: of this issuer, for this client, for the request with this nonce."""

    issuer: str
    client_id: str
    nonce: str
    algorithms: tuple[str, ...]


def key_set(document: object) -> KeySet:
    """The keys for signatures in a provider's key set; those that can't be read, or are for something else,
    are left out. Raises ValueError if none is left."""
    entries = document.get("keys") if isinstance(document, Mapping) else None
    if not isinstance(entries, list):
        raise ValueError("has no list of keys")
    keys = [key for entry in entries[:_MOST_KEYS] if (key := _signing_key(entry))]
    if not keys:
        raise ValueError("has no key that signs")
    return KeySet(keys)


def verify(id_token: str, keys: KeySet, expected: Expectation, now: datetime) -> Mapping[str, Any]:
    """The claims of an ID token. Raises SignInRefused, and UnknownSigningKey if other keys may help."""
    registry = JWSRegistry(algorithms=list(expected.algorithms), strict_check_header=False)
    try:
        token = jwt.decode(id_token, keys, registry=registry)
    except InvalidKeyIdError:
        raise UnknownSigningKey from None
    except (JoseError, ValueError, TypeError) as error:
        raise SignInRefused(Refusal.INVALID_TOKEN, f"the ID token's signature: {error}") from None
    _check_claims(token.claims, expected, now)
    return token.claims


def _check_claims(claims: Mapping[str, Any], expected: Expectation, now: datetime) -> None:
    registry = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(dict(claims))
    except ExpiredTokenError:
        raise SignInRefused(Refusal.CLOCK, f"the ID token is over; it is {now:%H:%M:%S} UTC here") from None
    except ClaimError as error:
        refusal = Refusal.CLOCK if error.claim in _TIMES else Refusal.INVALID_TOKEN
        raise SignInRefused(refusal, f"{error.claim} of the ID token is not right") from None
    _check_party(claims, expected)
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(_bytes(nonce), _bytes(expected.nonce)):
        raise SignInRefused(Refusal.INVALID_TOKEN, "nonce of the ID token is not right")


def _check_party(claims: Mapping[str, Any], expected: Expectation) -> None:
    """A token for several clients has to name the one that it was made for, which has to be this one."""
    has_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    party = claims.get("azp", None if has_others else expected.client_id)
    if party != expected.client_id:
        raise SignInRefused(Refusal.INVALID_TOKEN, "azp of the ID token is not right")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _signing_key(entry: object) -> Key | None:
    if not isinstance(entry, dict) or entry.get("use", "sig") != "sig" or entry.get("kty") == "oct":
        return None
    try:
        return JWKRegistry.import_key(entry)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
