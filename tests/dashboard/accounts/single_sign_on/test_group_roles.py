"""The owner's form for the roles of groups."""

from __future__ import annotations

from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.storage.accounts.single_sign_on.settings import find_group_roles
from backend.storage.driver.mongo import Database
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization

PAGE = "/single-sign-on"


async def test_an_owner_gives_groups_their_roles(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """What is set is stored and shown, and a row that is emptied goes."""
    first = {"group-0": " Marketing ", "role-0": "editor", "group-2": "Board", "otherwise": "analyst"}
    await person.send(PAGE, f"{PAGE}/groups", **first)
    expected = (GroupRole("Marketing", Role.EDITOR), GroupRole("Board", Role.VIEWER))
    assert await find_group_roles(database, organization.id) == GroupRoles(expected, Role.ANALYST)
    await person.send(PAGE, f"{PAGE}/groups", **{"group-0": ""})
    assert await find_group_roles(database, organization.id) == GroupRoles(expected[1:], Role.ANALYST)


async def test_what_is_wrong_is_said_at_its_row(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """What was typed stays in the form, and nothing is stored."""
    rows = {"group-0": "Board", "role-0": "viewer", "group-1": "Board", "role-1": "owner"}
    refused = await person.send(PAGE, f"{PAGE}/groups", **rows)
    assert (refused.status_code, "Group 2 has a role already, further up" in refused.text) == (422, True)
    assert refused.text.count('value="Board"') == 2
    assert await find_group_roles(database, organization.id) == GroupRoles()
