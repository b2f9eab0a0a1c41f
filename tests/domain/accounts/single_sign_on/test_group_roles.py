"""Which role groups give."""

from __future__ import annotations

import pytest

from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import (
    MOST_GROUP_ROLES,
    GroupRole,
    GroupRoles,
    parse_group_roles,
)
from backend.domain.errors import FieldError

MAPPING = (
    GroupRole("Marketing", Role.EDITOR),
    GroupRole("Board", Role.VIEWER),
    GroupRole("IT", Role.OWNER),
)


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["Board"], Role.VIEWER),
        (["Board", "Marketing"], Role.EDITOR),
        (["IT", "Marketing", "Board"], Role.OWNER),
        (["Sales", "Board"], Role.VIEWER),
        (["board", "Marketing "], None),
        ([], None),
    ],
)
def test_the_strongest_role_counts(groups: list[str], role: Role | None) -> None:
    """Whatever the order of groups and rows is, and only of groups that are named exactly."""
    assert GroupRoles(MAPPING).role_of(groups) == role
    assert GroupRoles(MAPPING[::-1]).role_of(groups[::-1]) == role


def test_everybody_else_has_the_role_that_is_set_for_them() -> None:
    """It counts only where no group has a role: a weaker one of a group is not lifted by it."""
    group_roles = GroupRoles(MAPPING, Role.EDITOR)
    assert group_roles.role_of(["Sales"]) == Role.EDITOR
    assert group_roles.role_of(["Board"]) == Role.VIEWER


def test_a_form_says_which_groups_have_which_role() -> None:
    """Empty rows are left out, the order stays, and no role for everybody else is an empty field."""
    rows = [("Marketing", "editor"), ("", "owner"), ("Board", "viewer")]
    assert parse_group_roles(rows, "") == GroupRoles(MAPPING[:2])
    assert parse_group_roles([], "analyst") == GroupRoles((), Role.ANALYST)


def test_every_wrong_field_is_named() -> None:
    """A group that is named twice, one that is too long, and roles that there are not."""
    rows = [("A", "editor"), ("A", "viewer"), ("B" * 301, "viewer"), ("C", "king")]
    with pytest.raises(FieldError) as told:
        parse_group_roles(rows, "queen")
    assert list(told.value.rule_by_field) == ["group-1", "group-2", "role-3", "otherwise"]
    many = [(f"Group {number}", "viewer") for number in range(MOST_GROUP_ROLES + 1)]
    with pytest.raises(FieldError, match=f"group-{MOST_GROUP_ROLES} would be one more"):
        parse_group_roles(many, "")
