"""Group roles: which role the groups of an identity provider give in an organization."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.accounts.roles import Role
from backend.domain.errors import FieldError, InvalidField, collect_errors, raise_all
from backend.domain.fields.rules import Text, Word

# A form has at most 200 fields, two for each.
MOST_GROUP_ROLES = 80
# The longest names are paths in a directory, such as CN=Marketing,OU=Groups,DC=shop,DC=example.
GROUP_RULE = Text(300, shown=True)
# From the one that may do most to the one that may do least.
_STRONGEST_FIRST = tuple(Role)


@dataclass(frozen=True, slots=True)
class GroupRole:
    """A group, named exactly as the provider does, and the role that its members have."""

    group: str
    role: Role


@dataclass(frozen=True, slots=True)
class GroupRoles:
    """The groups that have a role, in the order in which the owner wrote them, each group once.

    `otherwise` is the role of somebody in none of these groups. With None, they are not let in.
    """

    mapping: tuple[GroupRole, ...] = ()
    otherwise: Role | None = None

    def role_of(self, groups: Iterable[str]) -> Role | None:
        """The role of somebody in these groups: the strongest that one of them gives. None: no role."""
        own = set(groups)
        given = {group_role.role for group_role in self.mapping if group_role.group in own}
        return next((role for role in _STRONGEST_FIRST if role in given), self.otherwise)


def parse_group_roles(rows: Sequence[tuple[str, str]], otherwise: str) -> GroupRoles:
    """What a form says: rows of a group and a role, and the role of everybody else, empty for none.

    Rows without a group are left out. Raises InvalidField with all wrong fields: `group-N` and `role-N`,
    where N counts all rows from 0, and `otherwise`.
    """
    errors: list[FieldError] = []
    mapping: dict[str, GroupRole] = {}
    for place, (group, role) in enumerate(rows):
        if group:
            with collect_errors(errors):
                _add(mapping, GroupRole(*_parsed(place, group, role)), place)
    last: Role | None = None
    with collect_errors(errors):
        last = Role(Word(Role).parse("otherwise", otherwise)) if otherwise else None
    raise_all(errors)
    return GroupRoles(tuple(mapping.values()), last)


def _parsed(place: int, group: str, role: str) -> tuple[str, Role]:
    return GROUP_RULE.parse(f"group-{place}", group), Role(Word(Role).parse(f"role-{place}", role))


def _add(mapping: dict[str, GroupRole], group_role: GroupRole, place: int) -> None:
    if group_role.group in mapping:
        raise InvalidField(f"group-{place}", "has a role already, further up")
    if len(mapping) == MOST_GROUP_ROLES:
        raise InvalidField(
            f"group-{place}", f"would be one more than the {MOST_GROUP_ROLES} that may have one"
        )
    mapping[group_role.group] = group_role
