"""Permissions: what a role lets its people do, and a key's scopes whoever has the key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema


class Permission(StrEnum):
    """What every operation and every page of the dashboard names the ones of that it needs."""

    LINKS_READ = "links:read"
    LINKS_WRITE = "links:write"
    ANALYTICS_READ = "analytics:read"
    ANALYTICS_WRITE = "analytics:write"
    REPORTS_WRITE = "reports:write"
    COSTS_WRITE = "costs:write"
    SALES_WRITE = "sales:write"
    FEED_READ = "feed:read"
    PERSONS_READ = "persons:read"
    PERSONS_WRITE = "persons:write"
    SETTINGS_READ = "settings:read"
    SETTINGS_WRITE = "settings:write"
    ORGANIZATION_WRITE = "organization:write"
    ORGANIZATION_EXPORT = "organization:export"
    KEYS_READ = "keys:read"
    KEYS_WRITE = "keys:write"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    AUDIT_READ = "audit:read"


Permissions = frozenset[Permission]

# Each as it completes "to …".
MEANINGS: Mapping[Permission, str] = {
    Permission.LINKS_READ: "see links, tags and UTM templates",
    Permission.LINKS_WRITE: "make, change and archive links, tags and UTM templates",
    Permission.ANALYTICS_READ: "see figures, saved funnels, notes, alerts and costs",
    Permission.ANALYTICS_WRITE: "save funnels, notes and alert rules",
    Permission.REPORTS_WRITE: "share figures with people outside: reports by their address, and mails",
    Permission.COSTS_WRITE: "tell what campaigns cost",
    Permission.SALES_WRITE: "tell sales, leads, events, refunds and who customers are",
    Permission.FEED_READ: "read the feed, which has all that happened, with customers' ids",
    Permission.PERSONS_READ: "see data of single customers: their ids, orders and histories",
    Permission.PERSONS_WRITE: "take back or erase data of single customers",
    Permission.SETTINGS_READ: "see domains, apps, origins, webhooks and settings",
    Permission.SETTINGS_WRITE: "add, change and remove domains, apps, origins, webhooks and settings",
    Permission.ORGANIZATION_WRITE: "decide about the organization: its name, how long data stays, who enters",
    Permission.ORGANIZATION_EXPORT: "make archives of everything that there is, and download them",
    Permission.KEYS_READ: "see which keys there are",
    Permission.KEYS_WRITE: "make, replace and revoke keys",
    Permission.MEMBERS_READ: "see who the members are, and their roles",
    Permission.MEMBERS_WRITE: "invite and remove members, and change their roles",
    Permission.AUDIT_READ: "read the audit log: who changed what, and who signed in",
}
EVERYTHING: Permissions = frozenset(Permission)
# Keys of the contract have no scopes and do what they always did. What came with teams is not for them:
# whoever finds such a key must not make themselves an owner with it, or keys that outlive it, or take
# everything away.
WITHOUT_SCOPES: Permissions = EVERYTHING - {
    Permission.ORGANIZATION_EXPORT,
    Permission.KEYS_READ,
    Permission.KEYS_WRITE,
    Permission.MEMBERS_READ,
    Permission.MEMBERS_WRITE,
    Permission.AUDIT_READ,
}
# What a key that is limited to some links may do: each operation with these scopes holds to its links, or
# refuses it.
OF_LIMITED_KEYS: Permissions = frozenset(
    {Permission.LINKS_READ, Permission.LINKS_WRITE, Permission.ANALYTICS_READ}
)


def first_missing(needed: Iterable[Permission], granted: Set[Permission]) -> Permission | None:
    """The first of the needed permissions that is not granted; None if all are."""
    return next((permission for permission in needed if permission not in granted), None)


def stored_permissions(names: Iterable[str] | None) -> tuple[Permission, ...] | None:
    """Permissions as they were stored; None for None.

    What this version does not know is left out: a newer one on another host may have stored it.
    """
    if names is None:
        return None
    known = set(names)
    return tuple(permission for permission in Permission if permission in known)


class Scopes:
    """The rule for the scopes of a key: a list of permissions that is not empty, in any order."""

    def parse(self, field: str, value: object) -> tuple[Permission, ...]:
        """The scopes in the order of Permission. Raises InvalidField."""
        names = [permission.value for permission in Permission]
        if not isinstance(value, list) or not value:
            raise InvalidField(field, "must be a list with at least one scope")
        for place, name in enumerate(value):
            if name not in names:
                raise InvalidField(f"{field}[{place}]", f"must be one of {', '.join(names)}")
        return tuple(permission for permission in Permission if permission in value)

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "enum": [permission.value for permission in Permission]},
        }
