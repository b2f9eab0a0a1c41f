"""What a person's groups and addresses mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backend.domain.accounts.provisioning.membership import role_by_groups, settled_role
from backend.domain.accounts.provisioning.people import ProvisionedEmail, ProvisionedPerson
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.domain.ids import OrgId

NOW = datetime(2026, 11, 26, tzinfo=UTC)
ROLES = GroupRoles((GroupRole("Admins", Role.OWNER), GroupRole("Editors", Role.EDITOR)), Role.VIEWER)


@pytest.mark.parametrize(
    ("groups", "before", "current", "role"),
    [
        (["Editors", "Admins"], None, None, Role.OWNER),
        (["Editors"], Role.OWNER, Role.OWNER, Role.EDITOR),
        (["Others"], Role.EDITOR, Role.EDITOR, Role.VIEWER),
        (["Others"], None, Role.OWNER, Role.OWNER),
        ([], None, None, Role.VIEWER),
    ],
)
def test_a_group_s_role_counts_and_its_end_too(
    groups: list[str], before: Role | None, current: Role | None, role: Role
) -> None:
    """The strongest role of the groups counts, and without one everybody else's, but for members of whom no
    group has said anything."""
    by_groups = role_by_groups(ROLES, groups)
    assert settled_role(ROLES, by_groups, before=before, current=current) is role


def test_who_loses_the_last_group_may_be_let_in_no_more() -> None:
    """Where nobody else has a role, neither have they."""
    roles = GroupRoles(ROLES.mapping)
    assert settled_role(roles, None, before=Role.EDITOR, current=Role.EDITOR) is None


@pytest.mark.parametrize(
    ("user_name", "emails", "email"),
    [
        ("Ada@Shop.example", (), "ada@shop.example"),
        ("ada", (), None),
        ("ada", (ProvisionedEmail("ada"),), None),
        ("ada", (ProvisionedEmail("a@b.c", "home"), ProvisionedEmail("A@work.c", "Work")), "a@work.c"),
        ("ada", (ProvisionedEmail("a@b.c", "work"), ProvisionedEmail("p@b.c", "home", True)), "p@b.c"),
    ],
)
def test_a_person_is_recognized_by_the_main_address(
    user_name: str, emails: tuple[ProvisionedEmail, ...], email: str | None
) -> None:
    """The primary address counts first, then that of work, then the user name if it is one."""
    person = ProvisionedPerson("1", OrgId("o"), user_name, NOW, NOW, emails=emails)
    assert person.email == email
