"""Changes of members at one moment."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime
from functools import partial

from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.users import users
from backend.storage.accounts.users.acceptance import accept
from backend.storage.accounts.users.invitations import invite
from backend.storage.accounts.users.members import remove_member, set_role
from backend.storage.driver.mongo import Database
from tests.between_commands import moments
from tests.conftest import OrganizationFactory
from tests.dashboard.people import make_user
from tests.facts.organizations import TestOrganization

NOW = datetime(2026, 5, 6, 12, tzinfo=UTC)


async def add_owner(database: Database, org_id: OrgId) -> UserId:
    """A new owner of the organization."""
    user_id = UserId(str(uuid.uuid4()))
    await users.insert_user(
        database, User(user_id, f"{user_id}@x.example", None, (org_id,), NOW, {org_id: Role.OWNER})
    )
    return user_id


async def test_another_owner_leaves_between_two_steps_of_one_s_removal(
    make_organization: OrganizationFactory, database: Database
) -> None:
    """One owner stays, also where members have changed before."""
    async for moment in moments(database):
        org_id = (await make_organization()).id
        first, second, gone = [await add_owner(database, org_id) for _ in range(3)]
        await remove_member(database, org_id, gone, granted=EVERYTHING)
        removal = remove_member(moment.database, org_id, first, granted=EVERYTHING)
        change = partial(set_role, database, org_id, second, Role.VIEWER, granted=EVERYTHING)
        await asyncio.gather(moment.interrupt(removal, change), return_exceptions=True)
        roles = [user.role_in(org_id) for user in await users.list_users(database, org_id)]
        assert roles.count(Role.OWNER) == 1


async def test_an_invitation_is_accepted_between_two_steps_of_another_acceptance(
    organization: TestOrganization, database: Database
) -> None:
    """It works once: somebody else with the link neither gets in nor sets another password."""
    async for moment in moments(database):
        email = f"{uuid.uuid4()}@x.example"
        token, _ = await invite(
            database, organization.id, email, Role.VIEWER, invited_by="x", granted=EVERYTHING, now=NOW
        )
        work = accept(moment.database, token, NOW, password_hash="first")
        others = partial(accept, database, token, NOW, password_hash="second")
        mine, theirs = await moment.interrupt(work, others)
        assert [bool(mine), bool(theirs)].count(True) == 1
        stored = await users.find_user_by_email(database, email)
        assert stored
        assert stored.password_hash == ("first" if mine else "second")


async def test_who_is_invited_becomes_an_owner_between_two_steps_of_accepting(
    organization: TestOrganization, make_organization: OrganizationFactory, database: Database
) -> None:
    """They stay one: the invitation to be less is for somebody who is no member."""
    async for moment in moments(database):
        elsewhere = await make_organization()
        user = await users.find_user_by_email(database, await make_user(database, elsewhere.id, proved=True))
        assert user
        token, _ = await invite(
            database, organization.id, user.email, Role.VIEWER, invited_by="x", granted=EVERYTHING, now=NOW
        )
        both = (elsewhere.id, organization.id)
        await moment.interrupt(
            accept(moment.database, token, NOW, signed_in=user),
            partial(users.set_roles, database, user.id, dict.fromkeys(both, Role.OWNER)),
        )
        stored = await users.find_user(database, user.id)
        assert stored
        assert stored.role_in(organization.id) is (Role.OWNER if moment.came else Role.VIEWER)
