"""What a provider tells of groups, each call with what follows for memberships, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backend.domain.accounts.provisioning.groups import ProvisionedGroup
from backend.domain.ids import OrgId
from backend.storage.accounts.directory import people
from backend.storage.accounts.directory.groups import GROUPS
from backend.storage.accounts.provisioning.changes import MembersUnknown, check_version, told_as_taken
from backend.storage.accounts.provisioning.memberships import settle
from backend.storage.driver.mongo import ClientSession, Database, in_transaction

_UNIQUE = ("displayName", "externalId")


async def add_group(database: Database, group: ProvisionedGroup) -> None:
    """Store a new group. Raises TooManyItems, ValueTaken, MembersUnknown and LastOwner."""
    await GROUPS.own.check_room(database, group.org_id)

    async def work(session: ClientSession) -> None:
        with told_as_taken(_UNIQUE):
            await GROUPS.insert(database, group, session)
        await _check_members(database, group, session)
        await _settle_members(database, group.org_id, group.member_ids, session)

    await in_transaction(database, work)


async def change_group(database: Database, group: ProvisionedGroup, expected_version: int) -> None:
    """Store a group in the place of the one with the same id, which must have that version.

    Raises ItemUnknown, ChangedMeanwhile, ValueTaken, MembersUnknown and LastOwner.
    """

    async def work(session: ClientSession) -> None:
        stored = await GROUPS.get(database, group.org_id, group.id, session)
        check_version(stored, expected_version)
        changed = replace(group, created_at=stored.created_at, version=stored.version + 1)
        with told_as_taken(_UNIQUE):
            await GROUPS.replace(database, changed, session)
        await _check_members(database, changed, session)
        await _settle_members(database, group.org_id, _concerned(stored, changed), session)

    await in_transaction(database, work)


async def delete_group(database: Database, org_id: OrgId, group_id: str, expected_version: int) -> None:
    """Delete a group, whose members lose what it gave them. Raises as `change_group` does."""

    async def work(session: ClientSession) -> None:
        stored = await GROUPS.get(database, org_id, group_id, session)
        check_version(stored, expected_version)
        await GROUPS.own.delete(database, org_id, group_id, session)
        await _settle_members(database, org_id, stored.member_ids, session)

    await in_transaction(database, work)


def _concerned(before: ProvisionedGroup, after: ProvisionedGroup) -> set[str]:
    """Whose roles may differ: those who came and went, or all where the group has another name."""
    were, are = set(before.member_ids), set(after.member_ids)
    return were | are if before.display_name != after.display_name else were ^ are


async def _check_members(database: Database, group: ProvisionedGroup, session: ClientSession) -> None:
    found = await people.find_people(database, group.org_id, group.member_ids, session)
    known = {person.id for person in found}
    if missing := next((person_id for person_id in group.member_ids if person_id not in known), None):
        raise MembersUnknown(missing)


async def _settle_members(
    database: Database, org_id: OrgId, person_ids: Iterable[str], session: ClientSession
) -> None:
    concerned = await people.find_people(database, org_id, set(person_ids), session)
    await settle(database, org_id, concerned, session)
