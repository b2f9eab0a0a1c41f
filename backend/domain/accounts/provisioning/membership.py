"""What a person's groups mean for their membership."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.errors import RequestError


class ProvisionedMember(RequestError):
    """The identity provider decides about this member, and nobody by hand."""

    def __init__(self) -> None:
        super().__init__("The identity provider decides about this member: change it there")


def role_by_groups(group_roles: GroupRoles, groups: Iterable[str]) -> Role | None:
    """The strongest role that one of these groups gives; None if none gives one."""
    return replace(group_roles, otherwise=None).role_of(groups)


def settled_role(
    group_roles: GroupRoles, by_groups: Role | None, *, before: Role | None, current: Role | None
) -> Role | None:
    """The role of an active person as a member; None if they must not be one.

    `by_groups` is the role that their groups give, `before` the one that groups gave earlier, `current` the
    one that they have as a member. Providers tell people before groups: so somebody who is a member already
    keeps their role until a group says something about them, and an owner is not shut out in between.
    """
    if by_groups:
        return by_groups
    if before or not current:
        return group_roles.otherwise
    return current
