"""Roles: what a member of an organization may do in it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from enum import StrEnum

from backend.domain.accounts.permissions import EVERYTHING, Permission, Permissions
from backend.domain.errors import RequestError


class Role(StrEnum):
    """The role of a member; each lets its people do all that the next one does."""

    OWNER = "owner"
    EDITOR = "editor"
    ANALYST = "analyst"
    VIEWER = "viewer"

    @property
    def permissions(self) -> Permissions:
        """What members with this role may do."""
        return _PERMISSIONS[self]

    def is_grantable_by(self, granted: Set[Permission]) -> bool:
        """Whether somebody with these permissions may give or take away the role: nobody grants what they
        lack."""
        return self.permissions <= granted


_VIEWER = frozenset({Permission.LINKS_READ, Permission.ANALYTICS_READ})
# Sees everything but persons' data, so not the feed: its events have customers' ids.
_ANALYST = _VIEWER | {
    Permission.ANALYTICS_WRITE,
    Permission.SETTINGS_READ,
    Permission.KEYS_READ,
    Permission.MEMBERS_READ,
}
_PERMISSIONS: Mapping[Role, Permissions] = {
    Role.OWNER: EVERYTHING,
    Role.EDITOR: EVERYTHING
    - {
        Permission.ORGANIZATION_WRITE,
        Permission.ORGANIZATION_EXPORT,
        Permission.KEYS_WRITE,
        Permission.MEMBERS_WRITE,
        Permission.AUDIT_READ,
    },
    Role.ANALYST: _ANALYST,
    Role.VIEWER: _VIEWER,
}
ROLE_MEANINGS: Mapping[Role, str] = {
    Role.OWNER: "may do everything, and decides about members, keys, archives and the organization itself",
    Role.EDITOR: "makes and changes links, reports, costs, origins, apps and webhooks",
    Role.ANALYST: "sees everything but data of single customers, and saves funnels, notes and alert rules",
    Role.VIEWER: "sees links and figures",
}


class LastOwner(RequestError):
    """The member is the only owner, and an organization keeps one."""

    def __init__(self) -> None:
        super().__init__("The organization's only owner stays one: make another member an owner first")


class RoleNotGrantable(RequestError):
    """Whoever asks may not grant, or take away, this role."""

    def __init__(self, role: Role) -> None:
        super().__init__(f"Nobody grants or takes away more than they may do themselves: the role is {role}")
