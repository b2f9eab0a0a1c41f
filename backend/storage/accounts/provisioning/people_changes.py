"""What a provider tells of single people, each call with what follows for memberships, in one transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.ids import OrgId
from backend.storage.accounts.directory import groups, people
from backend.storage.accounts.directory.people import PEOPLE
from backend.storage.accounts.provisioning.changes import check_version, told_as_taken
from backend.storage.accounts.provisioning.memberships import settle
from backend.storage.accounts.single_sign_on.settings import set_group_roles
from backend.storage.driver.mongo import ClientSession, Database, in_transaction

_UNIQUE = ("userName", "externalId")


async def add_person(database: Database, person: ProvisionedPerson) -> None:
    """Store a new person. Raises TooManyItems, ValueTaken and LastOwner."""
    await PEOPLE.own.check_room(database, person.org_id)

    async def work(session: ClientSession) -> None:
        with told_as_taken(_UNIQUE):
            await PEOPLE.insert(database, person, session)
        await settle(database, person.org_id, [person], session)

    await in_transaction(database, work)


async def change_person(database: Database, person: ProvisionedPerson, expected_version: int) -> None:
    """Store a person in the place of the one with the same id, which must have that version.

    What the service found out itself about the person stays. Raises ItemUnknown, ChangedMeanwhile, ValueTaken
    and LastOwner.
    """

    async def work(session: ClientSession) -> None:
        stored = await PEOPLE.get(database, person.org_id, person.id, session)
        check_version(stored, expected_version)
        changed = replace(
            person,
            is_active=stored.is_active if person.active is None else person.active,
            created_at=stored.created_at,
            user_id=stored.user_id,
            group_role=stored.group_role,
            version=stored.version + 1,
        )
        with told_as_taken(_UNIQUE):
            await PEOPLE.replace(database, changed, session)
        await settle(database, person.org_id, [changed], session)

    await in_transaction(database, work)


async def delete_person(
    database: Database, org_id: OrgId, person_id: str, expected_version: int, now: datetime
) -> None:
    """Delete a person, who is in no group then, and no member. Raises as `change_person` does."""

    async def work(session: ClientSession) -> None:
        stored = await PEOPLE.get(database, org_id, person_id, session)
        check_version(stored, expected_version)
        await groups.delete_from_groups(database, org_id, person_id, now, session)
        await settle(database, org_id, [replace(stored, is_active=False)], session)
        await PEOPLE.own.delete(database, org_id, person_id, session)

    await in_transaction(database, work)


async def change_group_roles(database: Database, org_id: OrgId, group_roles: GroupRoles) -> None:
    """Set which roles groups give, and give them at once to the people whom the provider told.

    Others get them when they sign in next. Raises LastOwner.
    """

    async def work(session: ClientSession) -> None:
        await set_group_roles(database, org_id, group_roles, session)
        everybody = await people.list_people(database, org_id, session)
        if everybody:
            await settle(database, org_id, everybody, session)

    await in_transaction(database, work)


async def forget_everybody(database: Database, org_id: OrgId) -> None:
    """Forget all people and groups. Members stay what they are, and are changed by hand from now on."""

    async def work(session: ClientSession) -> None:
        await database[groups.NAME].delete_many({"org_id": org_id}, session=session)
        await database[people.NAME].delete_many({"org_id": org_id}, session=session)

    await in_transaction(database, work)
