"""Which role somebody has after a sign-in by the provider."""

from __future__ import annotations

import uuid
from dataclasses import replace

from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.accounts.single_sign_on.refusals import Refusal
from backend.storage.accounts.directory import people
from backend.storage.accounts.single_sign_on.settings import set_group_roles
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.system.clock import utc_now
from tests.dashboard.accounts.single_sign_on.conftest import Entrance
from tests.dashboard.people import make_user


async def test_groups_become_the_role_at_each_sign_in(entrance: Entrance) -> None:
    """A stronger one, a weaker one, and none: then nobody is let in, and the sessions there end."""
    async with entrance.guest() as guest, entrance.guest() as elsewhere:
        elsewhere.email = guest.email
        await entrance.come(guest, "Marketing")
        for groups, role in ((["Marketing", "IT"], Role.OWNER), (["Marketing"], Role.EDITOR)):
            await make_user(entrance.database, entrance.org_id)  # another owner
            assert (await entrance.come(elsewhere, *groups)).status_code == 303
            elsewhere.client.cookies.clear()
            user = await entrance.account(guest)
            assert user.role_in(entrance.org_id) is role
        refused = await entrance.come(elsewhere, "Sales")
        assert (refused.status_code, "None of your groups has a role here" in refused.text) == (403, True)
        assert (await guest.get("/links")).headers["location"].startswith("/sign-in")
        user = await entrance.account(guest)
        assert user.org_ids == ()
        assert [(told.refusal, told.email, told.detail) for told in await entrance.refusals()] == [
            (Refusal.NO_ROLE, guest.email, "groups: Sales")
        ]
        assert (await entrance.come(elsewhere, "Marketing")).status_code == 303


async def test_the_only_owner_stays_one(entrance: Entrance) -> None:
    """Groups that give less, or nothing, take the last owner's role from nobody."""
    async with entrance.guest() as guest:
        await make_user(entrance.database, entrance.org_id, email=guest.email)
        await entrance.come(guest, "Marketing")
        user = await entrance.account(guest)
        assert user.role_in(entrance.org_id) is Role.OWNER
        guest.client.cookies.clear()
        assert (await entrance.come(guest)).status_code == 403
        assert await entrance.account(guest) == user


async def test_a_member_who_never_came_through_the_provider_stays_one(entrance: Entrance) -> None:
    """So an owner who tries it before groups have roles does not throw themselves out."""
    async with entrance.guest() as guest:
        for email in ("", guest.email):
            await make_user(entrance.database, entrance.org_id, email=email)
        assert (await entrance.come(guest)).status_code == 403
        assert (await entrance.account(guest)).role_in(entrance.org_id) is Role.OWNER


async def test_everybody_else_may_have_a_role(entrance: Entrance) -> None:
    """Without groups, where the owner says so."""
    await set_group_roles(entrance.database, entrance.org_id, GroupRoles((), Role.VIEWER))
    async with entrance.guest() as guest:
        assert (await entrance.come(guest)).status_code == 303
        user = await entrance.account(guest)
        assert user.role_in(entrance.org_id) is Role.VIEWER


async def test_who_was_told_by_scim(entrance: Entrance) -> None:
    """The account is theirs, the role that SCIM's groups gave counts, and who is shut out there stays out."""
    async with entrance.guest() as guest:
        told = ProvisionedPerson(
            id=str(uuid.uuid4()), org_id=entrance.org_id, user_name=guest.email, created_at=utc_now(),
            modified_at=utc_now(), group_role=Role.ANALYST,
        )  # fmt: skip
        await _tell(entrance.database, told)
        assert (await entrance.come(guest, "IT")).status_code == 303
        user = await entrance.account(guest)
        assert user.role_in(entrance.org_id) is Role.ANALYST
        joined = await people.find_person_of(entrance.database, entrance.org_id, user.id)
        assert joined is not None
        assert joined.id == told.id
        await _tell(entrance.database, replace(joined, group_role=None))
        guest.client.cookies.clear()
        assert (await entrance.come(guest, "Sales")).status_code == 403
        assert (await entrance.account(guest)).org_ids == (entrance.org_id,)  # until SCIM ends it
        await _tell(entrance.database, replace(joined, is_active=False))
        assert "has shut you out" in (await entrance.come(guest, "IT")).text


async def _tell(database: Database, person: ProvisionedPerson) -> None:
    """Store what the provider told, in the place of what it told before."""

    async def work(session: ClientSession) -> None:
        await database[people.NAME].delete_one({"_id": person.id}, session=session)
        await people.PEOPLE.insert(database, person, session)

    await in_transaction(database, work)
