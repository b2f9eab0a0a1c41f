"""Members of an organization: users who have a role in it. An organization that has an owner keeps one."""

from __future__ import annotations

from collections.abc import Iterable, Set

from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.provisioning.membership import ProvisionedMember
from backend.domain.accounts.roles import LastOwner, Role, RoleNotGrantable
from backend.domain.accounts.users import User
from backend.domain.errors import ItemUnknown
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts import organizations
from backend.storage.accounts.directory.people import find_person_of
from backend.storage.accounts.users import sessions, users
from backend.storage.accounts.users.deletion import delete_account
from backend.storage.driver.mongo import ClientSession, Database, in_transaction


async def get_member(database: Database, org_id: OrgId, user_id: UserId) -> User:
    """The member with this id. Raises ItemUnknown."""
    user = await users.find_user(database, user_id)
    if user is None or org_id not in user.org_ids:
        raise ItemUnknown
    return user


async def set_role(
    database: Database,
    org_id: OrgId,
    user_id: UserId,
    role: Role,
    *,
    granted: Set[Permission],
) -> User:
    """Give a member another role, for somebody with these permissions.

    Raises ItemUnknown, RoleNotGrantable, LastOwner, and ProvisionedMember where groups of the organization's
    provider give the role. The member's open sessions follow from their next request on.
    """
    if not role.is_grantable_by(granted):
        raise RoleNotGrantable(role)
    await _change(database, org_id, user_id, role, granted=granted)
    return await get_member(database, org_id, user_id)


async def remove_member(
    database: Database, org_id: OrgId, user_id: UserId, *, granted: Set[Permission]
) -> None:
    """End a membership, for somebody with these permissions. The user stays, with their other organizations;
    an account of the organization's identity provider is deleted.

    Raises ItemUnknown, RoleNotGrantable, LastOwner, and ProvisionedMember where the organization's provider
    told of the member.
    """
    await _change(database, org_id, user_id, None, granted=granted)


async def is_last_owner(database: Database, org_id: OrgId, user_id: UserId, session: ClientSession) -> bool:
    """Whether the user is the organization's only owner, in the caller's transaction."""
    return _is_last_owner(await users.list_users(database, org_id, session), org_id, user_id)


async def put_role(
    database: Database, org_id: OrgId, user_id: UserId, role: Role | None, session: ClientSession
) -> None:
    """Make the user a member with this role, or with None no member, in the caller's transaction, which has
    noted the change of members and looked whether the user is the last owner."""
    change = users.membership_change(org_id, role)
    await database[users.NAME].update_one({"_id": user_id}, change, session=session)


def _is_last_owner(members: Iterable[User], org_id: OrgId, user_id: UserId) -> bool:
    return [member.id for member in members if member.role_in(org_id) is Role.OWNER] == [user_id]


async def _change(
    database: Database,
    org_id: OrgId,
    user_id: UserId,
    role: Role | None,
    *,
    granted: Set[Permission],
) -> None:
    """Give a member this role, or end the membership with None."""

    async def work(session: ClientSession) -> None:
        # Of two changes at one moment the second one waits, and sees what the first one did.
        await organizations.note_member_change(database, session, org_id)
        members = await users.list_users(database, org_id, session)
        member = next((member for member in members if member.id == user_id), None)
        if member is None:
            raise ItemUnknown
        person = await find_person_of(database, org_id, user_id, session)
        if person and (role is None or person.group_role):
            raise ProvisionedMember
        current = member.role_in(org_id)
        if not current.is_grantable_by(granted):
            raise RoleNotGrantable(current)
        if role is not Role.OWNER and _is_last_owner(members, org_id, user_id):
            raise LastOwner
        if role is None and member.managed_by is not None:
            await delete_account(database, user_id, session)
            return
        if role is None:
            await sessions.delete_provider_sessions(database, org_id, user_id=user_id, session=session)
        await put_role(database, org_id, user_id, role, session)

    await in_transaction(database, work)
