"""API keys: their kinds, their text, and how a key is checked although only its hash is stored."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import WITHOUT_SCOPES, Permission, Permissions
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.fields.rules import Text
from backend.domain.ids import KeyId, OrgId

NAME_RULE = Text(200, shown=True)


class KeyKind(StrEnum):
    """What a key may do (contract, "Authentication"; decisions, "what each key kind may do")."""

    REST = "rest"
    MOBILE = "mobile"
    WEB = "web"
    SCIM = "scim"  # an identity provider, that tells people and groups

    @property
    def prefix(self) -> str:
        """The text that every key of this kind starts with."""
        return _PREFIXES[self]


_PREFIXES = {KeyKind.REST: "c_api_", KeyKind.MOBILE: "c_mob_", KeyKind.WEB: "c_web_", KeyKind.SCIM: "c_scim_"}


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is stored: its hash, and details that help its owner to recognize it.

    `links` says which links an app may make with it; None if it may make none. `limited_to` are the links
    that a REST key reaches; None for all of the organization.

    `name` says what the key is for, if it has a name. `last_used_at` is exact to the day; it is None if no
    use was noted yet. `scopes` are the permissions of a REST key; None where it was made without any. It is
    not valid from `expires_at` on. `replaced_by` is the key that rotated it. `text` is the key itself, of web
    keys only: they stand in the pages of sites, where anybody can read them.
    """

    id: KeyId
    org_id: OrgId
    kind: KeyKind
    key_hash: str
    last_four: str
    created_at: datetime
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    name: str | None = None
    links: LinkGrant | None = None
    scopes: tuple[Permission, ...] | None = None
    expires_at: datetime | None = None
    replaced_by: KeyId | None = None
    text: str | None = None
    limited_to: LinkReach | None = None

    def is_valid(self, now: datetime) -> bool:
        """Whether the key is accepted at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def permissions(self) -> Permissions:
        """What the key may do at the REST API."""
        return WITHOUT_SCOPES if self.scopes is None else frozenset(self.scopes)

    @property
    def hint(self) -> str:
        """The key with its secret part hidden, for lists."""
        return f"{self.kind.prefix}…{self.last_four}"

    def is_for(self, key_hash: str) -> bool:
        """Whether the stored key has this hash.

        Takes the same time for every hash, so timing reveals nothing.
        """
        return hmac.compare_digest(self.key_hash, key_hash)


def key_text(kind: KeyKind, secret: str) -> str:
    """The full text of a key, which its owner sees only once."""
    return kind.prefix + secret


def kind_of(key: str) -> KeyKind | None:
    """The kind of key that the text's prefix stands for; None if it has no known prefix."""
    return next((kind for kind, prefix in _PREFIXES.items() if key.startswith(prefix)), None)


def hash_key(key: str) -> str:
    """SHA-256 of the key's text, in hex.

    A plain hash is enough: a key has 192 random bits, so it can't be guessed.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key(
    kind: KeyKind,
    secret: str,
    *,
    key_id: KeyId,
    org_id: OrgId,
    now: datetime,
    name: str | None = None,
    links: LinkGrant | None = None,
    scopes: tuple[Permission, ...] | None = None,
    expires_at: datetime | None = None,
    limited_to: LinkReach | None = None,
) -> ApiKey:
    """The record to store for the key `key_text(kind, secret)`.

    `now` becomes its creation time.
    """
    key = key_text(kind, secret)
    return ApiKey(
        key_id, org_id, kind, hash_key(key), key[-4:], now,
        name=name, links=links, scopes=scopes, expires_at=expires_at, limited_to=limited_to,
        text=key if kind is KeyKind.WEB else None,
    )  # fmt: skip
