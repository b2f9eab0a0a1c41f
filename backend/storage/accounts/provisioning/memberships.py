"""What follows for memberships from what a provider told: who is a member, and with which role.

A person is first only on the provider's list. They become a member when they come: through single sign-on, or
by an invitation. Whoever is a member already when the provider tells their address is the person from then
on. Nothing here changes an account beyond its membership of the one organization.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backend.domain.accounts.provisioning.membership import role_by_groups, settled_role
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.roles import LastOwner, Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRoles
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts import organizations
from backend.storage.accounts.directory import groups, people
from backend.storage.accounts.single_sign_on.settings import find_group_roles
from backend.storage.accounts.users import invitations, sessions, users
from backend.storage.driver.mongo import ClientSession, Database


@dataclass(frozen=True, slots=True)
class _Settled:
    """A person as they are afterwards, their role as a member before, and the one that they have now."""

    person: ProvisionedPerson
    before: Role | None
    now: Role | None


async def settle(
    database: Database,
    org_id: OrgId,
    changed: Iterable[ProvisionedPerson],
    session: ClientSession,
) -> None:
    """Make the memberships of these people, who are stored, what the provider's word makes them.

    Raises LastOwner where the organization would lose its only owner.
    """
    # Of two changes at one moment the second one waits, and sees what the first one did.
    await organizations.note_member_change(database, session, org_id)
    changed = list(changed)
    members = {user.id: user for user in await users.list_users(database, org_id, session)}
    by_email = {user.email: user for user in members.values()}
    taken = await _linked(database, org_id, members, session)
    group_roles = await find_group_roles(database, org_id, session)
    names = await _group_names(database, org_id, changed, session)
    settled = [
        _settled(_recognized(person, by_email, taken), names[person.id], group_roles, members)
        for person in changed
    ]
    _check_owners(org_id, members, settled)
    await _store(database, org_id, changed, settled, session)


async def _linked(
    database: Database, org_id: OrgId, members: Mapping[UserId, User], session: ClientSession
) -> set[UserId]:
    """The members who are recognized as somebody already."""
    owned = {"org_id": org_id, "user_id": {"$in": list(members)}}
    found = database[people.NAME].find(owned, {"user_id": 1}, session=session)
    return {document["user_id"] async for document in found}


async def _group_names(
    database: Database, org_id: OrgId, changed: Iterable[ProvisionedPerson], session: ClientSession
) -> Mapping[str, list[str]]:
    """The names of the groups that each person is in."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    wanted = {person.id for person in changed}
    for group in await groups.groups_of(database, org_id, wanted, session):
        for person_id in wanted.intersection(group.member_ids):
            names[person_id].append(group.display_name)
    return names


def _recognized(
    person: ProvisionedPerson, by_email: Mapping[str, User], taken: set[UserId]
) -> ProvisionedPerson:
    """The person, with the account of the member who has their address, if they have none yet."""
    if person.user_id:
        return person
    member = by_email.get(person.email or "")
    if member is None or member.id in taken:
        return person
    taken.add(member.id)
    return replace(person, user_id=member.id)


def _settled(
    person: ProvisionedPerson, names: list[str], group_roles: GroupRoles, members: Mapping[UserId, User]
) -> _Settled:
    member = members.get(person.user_id) if person.user_id else None
    current = member.role_in(person.org_id) if member else None
    by_groups = role_by_groups(group_roles, names) if person.is_active else None
    role = None
    if person.is_active and person.user_id:
        role = settled_role(group_roles, by_groups, before=person.group_role, current=current)
    return _Settled(replace(person, group_role=by_groups), current, role)


def _check_owners(org_id: OrgId, members: Mapping[UserId, User], settled: Iterable[_Settled]) -> None:
    roles = {user.id: user.role_in(org_id) for user in members.values()}
    had_owner = Role.OWNER in roles.values()
    for change in settled:
        if change.person.user_id and change.now is None:
            roles.pop(change.person.user_id, None)
        elif change.person.user_id and change.now:
            roles[change.person.user_id] = change.now
    if had_owner and Role.OWNER not in roles.values():
        raise LastOwner


async def _store(
    database: Database,
    org_id: OrgId,
    stored: Iterable[ProvisionedPerson],
    settled: Iterable[_Settled],
    session: ClientSession,
) -> None:
    """Write what differs, and end what those who left could still do."""
    # People by what changes of them, as most of many get the same: a group has another role, or is gone.
    records = defaultdict[tuple[tuple[str, str | None], ...], list[str]](list)
    accounts = defaultdict[Role | None, list[UserId | None]](list)
    left = list[ProvisionedPerson]()
    for person, change in zip(stored, settled, strict=True):
        if links := _changed_links(person, change.person):
            records[links].append(person.id)
        if change.now != change.before:
            accounts[change.now].append(change.person.user_id)
        if change.now is None and not (person.is_active and person.user_id is None):
            left.append(change.person)
    for links, ids in records.items():
        owned = {"_id": {"$in": ids}, "org_id": org_id}
        await database[people.NAME].update_many(owned, {"$set": dict(links)}, session=session)
    for role, user_ids in accounts.items():
        chosen = {"_id": {"$in": user_ids}}
        await database[users.NAME].update_many(chosen, users.membership_change(org_id, role), session=session)
    await _end_access(database, org_id, left, session)


def _changed_links(before: ProvisionedPerson, after: ProvisionedPerson) -> tuple[tuple[str, str | None], ...]:
    was, is_now = _links(before), _links(after)
    return tuple((name, value) for name, value in is_now.items() if value != was[name])


def _links(person: ProvisionedPerson) -> dict[str, str | None]:
    return {
        "user_id": person.user_id,
        "group_role": person.group_role.value if person.group_role else None,
    }


async def _end_access(
    database: Database, org_id: OrgId, left: Sequence[ProvisionedPerson], session: ClientSession
) -> None:
    """End the sessions that these people have in the organization, and withdraw their invitations to it."""
    user_ids = [person.user_id for person in left if person.user_id]
    emails = [person.email for person in left if person.email]
    await sessions.delete_sessions_in(database, org_id, user_ids, session)
    if emails:
        invited = {"org_id": org_id, "email": {"$in": emails}}
        await database[invitations.NAME].delete_many(invited, session=session)
