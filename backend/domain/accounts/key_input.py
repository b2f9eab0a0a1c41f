"""What is said of a new key, or of one that is changed or replaced, and the rules for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from datetime import datetime
from typing import Any

from backend.domain.accounts.api_keys import NAME_RULE, ApiKey, KeyKind
from backend.domain.accounts.link_grants import LinkGrant, LinkGrantRule
from backend.domain.accounts.permissions import (
    EVERYTHING,
    OF_LIMITED_KEYS,
    WITHOUT_SCOPES,
    Permission,
    Scopes,
)
from backend.domain.accounts.reach.limited_to import LimitedTo
from backend.domain.errors import InvalidField, RequestError
from backend.domain.fields.rules import Instant, Rule, Schema

# Hours for which a key and the one that replaces it are both valid.
DEFAULT_OVERLAP_HOURS = 24
MOST_OVERLAP_HOURS = 30 * 24


class ScopesNotGrantable(RequestError):
    """Whoever asks may not do all that the key may."""

    def __init__(self) -> None:
        super().__init__("Nobody makes, changes or replaces a key that may do more than they may themselves")


class KeyEnded(RequestError):
    """The key was revoked, is over, or was replaced before."""

    def __init__(self) -> None:
        super().__init__("The key was revoked, is over, or was replaced already")


class OverlapHours:
    """The rule for the hours for which a key stays valid beside its successor."""

    def parse(self, field: str, value: object) -> int:
        """The number of hours. Raises InvalidField."""
        if type(value) is not int or not 0 <= value <= MOST_OVERLAP_HOURS:
            raise InvalidField(field, f"must be a whole number from 0 to {MOST_OVERLAP_HOURS}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {
            "type": "integer",
            "minimum": 0,
            "maximum": MOST_OVERLAP_HOURS,
            "default": DEFAULT_OVERLAP_HOURS,
        }


KEY_FIELDS: Mapping[str, Rule[Any]] = {
    "name": NAME_RULE,
    "scopes": Scopes(),
    "expires_at": Instant(),
    "limited_to": LimitedTo(),
    "links": LinkGrantRule(),
}


def check_fields(kind: KeyKind, fields: Mapping[str, Any], now: datetime) -> None:
    """Raise InvalidField unless a key of this kind may have these values, each of which keeps its rule."""
    if fields.get("scopes") is not None and kind is not KeyKind.REST:
        raise InvalidField("scopes", "are for keys of the kind rest")
    if fields.get("links") is not None and kind is not KeyKind.MOBILE:
        raise InvalidField("links", "are for keys of the kind mobile")
    if (expires_at := fields.get("expires_at")) is not None and expires_at <= now:
        raise InvalidField("expires_at", "must be in the future")
    if fields.get("limited_to") is not None:
        check_limited(kind, fields.get("scopes"))


def check_limited(kind: KeyKind, scopes: Collection[Permission] | None) -> None:
    """Raise InvalidField unless a key of this kind with these scopes may be limited to some links."""
    if kind is not KeyKind.REST:
        raise InvalidField("limited_to", "is for keys of the kind rest")
    if scopes is None or not OF_LIMITED_KEYS.issuperset(scopes):
        named = ", ".join(scope.value for scope in Permission if scope in OF_LIMITED_KEYS)
        raise InvalidField("scopes", f"of a key that is limited to links must be some of {named}")


def check_grant(
    kind: KeyKind,
    scopes: tuple[Permission, ...] | None,
    granted: Set[Permission],
    links: LinkGrant | None = None,
) -> None:
    """Raise ScopesNotGrantable unless somebody with these permissions may make a key with these scopes, or
    one by which apps make these `links`."""
    allowed = WITHOUT_SCOPES if scopes is None else frozenset(scopes)
    if kind is KeyKind.SCIM:  # who has one decides who is an owner
        allowed = EVERYTHING
    if kind in {KeyKind.REST, KeyKind.SCIM} and not allowed <= granted:
        raise ScopesNotGrantable
    if links and Permission.LINKS_WRITE not in granted:
        raise ScopesNotGrantable


def check_grant_of(key: ApiKey, granted: Set[Permission]) -> None:
    """The same for a key that there is."""
    check_grant(key.kind, key.scopes, granted, key.links)
