"""API keys: their kinds, how they look, how they are recognized without being stored."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class KeyKind(StrEnum):
    """What a key may do (contract, "Authentication"; decisions, "what each key kind may do")."""

    REST = "rest"
    MOBILE = "mobile"
    WEB = "web"

    @property
    def prefix(self) -> str:
        """The first characters of every key of this kind."""
        return _PREFIXES[self]


_PREFIXES = {KeyKind.REST: "c_api_", KeyKind.MOBILE: "c_mob_", KeyKind.WEB: "c_web_"}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored: only its hash, and what helps its owner to tell it apart.

    `last_used_at` is exact to a day; None: not used since this is recorded.
    """

    id: str
    org_id: str
    kind: KeyKind
    key_hash: str
    last_four: str
    created_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def hint(self) -> str:
        """The key with its secret left out, as it is shown in lists."""
        return f"{self.kind.prefix}…{self.last_four}"

    def is_for(self, key_hash: str) -> bool:
        """Whether this is the record of the key with this hash, compared in constant time."""
        return hmac.compare_digest(self.key_hash, key_hash)


def key_text(kind: KeyKind, secret: str) -> str:
    """The key that is given to its owner once."""
    return kind.prefix + secret


def kind_of(key: str) -> KeyKind | None:
    """The kind that a key's prefix names, or None."""
    return next((kind for kind, prefix in _PREFIXES.items() if key.startswith(prefix)), None)


def hash_key(key: str) -> str:
    """SHA-256 of the key, in hex.

    A plain hash is enough, since a key carries 192 random bits: there is no dictionary to try.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key(kind: KeyKind, secret: str, *, key_id: str, org_id: str, now: datetime) -> ApiKey:
    """The record to store for the key `key_text(kind, secret)`."""
    key = key_text(kind, secret)
    return ApiKey(key_id, org_id, kind, hash_key(key), key[-4:], now)
