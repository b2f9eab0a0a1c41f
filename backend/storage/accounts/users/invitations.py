"""The `member_invitations` collection: links with which somebody becomes a member. Tokens are hashes."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Set
from dataclasses import asdict
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.invitations import INVITATION_DURATION, MOST_INVITATIONS, MemberInvitation
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role, RoleNotGrantable
from backend.domain.accounts.sessions import hash_token
from backend.domain.accounts.users import User
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts import organizations
from backend.storage.accounts.directory.people import join_person
from backend.storage.accounts.users import members, users
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, known_fields
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "member_invitations"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        EXPIRY_INDEX,
        IndexModel("token_hash", unique=True),
        IndexModel([("org_id", 1), ("email", 1)], unique=True),
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization's own people, not visitors; gone within a week"),
    retention=NoRetention("gone within a week"),
    archived=NotArchived("a link that leads to this service can't be used at another"),
    shard_key=NotSharded("few, and gone within a week"),
    audited=Audited(
        kind="invitation",
        name="email",
        hidden=frozenset({"token_hash"}),
        deleted="ended",
    ),
)
_OWN = OwnDocuments(NAME, MOST_INVITATIONS, "email", "open invitations")


async def invite(
    database: Database,
    org_id: OrgId,
    email: str,
    role: Role,
    *,
    invited_by: str,
    granted: Set[Permission],
    now: datetime,
) -> tuple[str, MemberInvitation]:
    """Invite somebody, for a person or a key with these permissions. Returns the link's token, and what is
    stored.

    An earlier invitation of the address is replaced: its link works no more. Raises RoleNotGrantable,
    InvalidField where the address is a member's, and TooManyItems.
    """
    if not role.is_grantable_by(granted):
        raise RoleNotGrantable(role)
    known = await users.find_user_by_email(database, email)
    if known and org_id in known.org_ids:
        raise InvalidField("email", "is a member's already")
    await _OWN.check_room(database, org_id)
    token = secrets.token_urlsafe(32)
    invitation = MemberInvitation(
        str(uuid.uuid4()), org_id, email, role, hash_token(token), invited_by, now, now + INVITATION_DURATION
    )
    document = asdict(invitation)
    document["_id"] = document.pop("id")

    async def work(session: ClientSession) -> None:
        earlier = {"org_id": org_id, "email": email}
        await database[NAME].delete_many(earlier, session=session)
        await database[NAME].insert_one(document, session=session)

    await in_transaction(database, work)
    return token, invitation


async def list_invitations(database: Database, org_id: OrgId, now: datetime) -> list[MemberInvitation]:
    """The organization's open invitations, the newest first."""
    found = database[NAME].find({"org_id": org_id, "expires_at": {"$gt": now}}).sort("created_at", -1)
    return [_from_document(document) async for document in found]


async def find_invitation(database: Database, token: str, now: datetime) -> MemberInvitation | None:
    """The invitation whose link has this token; None if it was used or withdrawn, or its time is over."""
    document = await database[NAME].find_one(_open(token, now))
    return _from_document(document) if document else None


async def withdraw_invitation(database: Database, org_id: OrgId, given_id: str) -> MemberInvitation:
    """End an invitation: its link works no more. Raises ItemUnknown."""
    return _from_document(await _OWN.delete(database, org_id, given_id))


async def accept_as_new_user(
    database: Database, token: str, password_hash: str, now: datetime
) -> User | None:
    """Make the invited user, who signs in with this password from now on.

    None if the invitation is not open any more. Raises EmailTaken if there is a user with the address.
    """

    async def work(session: ClientSession) -> User | None:
        invitation = await _use(database, session, token, now)
        if invitation is None:
            return None
        org_id, user_id = invitation.org_id, UserId(str(uuid.uuid4()))
        role = await _role(database, session, invitation, user_id)
        user = User(user_id, invitation.email, password_hash, (org_id,), now, {org_id: role})
        await users.insert_user(database, user, session)
        return user

    return await in_transaction(database, work)


async def accept_as(database: Database, token: str, user: User, now: datetime) -> MemberInvitation | None:
    """Make the user a member, whose address the invitation has. None if it is not open any more.

    Raises ItemUnknown for another user.
    """

    async def work(session: ClientSession) -> MemberInvitation | None:
        invitation = await _use(database, session, token, now)
        if invitation is None:
            return None
        if invitation.email != user.email:
            raise ItemUnknown
        org_id = invitation.org_id
        # As the user is now: who became a member meanwhile keeps that role.
        stored = await users.find_user(database, user.id, session)
        if stored and org_id not in stored.org_ids:
            role = await _role(database, session, invitation, user.id)
            await members.put_role(database, org_id, user.id, role, session)
        return invitation

    return await in_transaction(database, work)


async def use_up(
    database: Database, org_id: OrgId, email: str, now: datetime, session: ClientSession
) -> bool:
    """End the organization's open invitation of this address in the caller's transaction, since somebody who
    has the address enters in another way. False if there is none."""
    open_one = {"org_id": org_id, "email": email, "expires_at": {"$gt": now}}
    return await database[NAME].find_one_and_delete(open_one, session=session) is not None


async def _use(
    database: Database, session: ClientSession, token: str, now: datetime
) -> MemberInvitation | None:
    document = await database[NAME].find_one_and_delete(_open(token, now), session=session)
    if document is None:
        return None
    invitation = _from_document(document)
    try:
        await organizations.note_member_change(database, session, invitation.org_id)
    except ItemUnknown:  # the organization is being deleted, and its invitations with it
        return None
    return invitation


async def _role(
    database: Database, session: ClientSession, invitation: MemberInvitation, user_id: UserId
) -> Role:
    """The role of whoever accepts: that of their groups, where the organization's provider told of them."""
    by_groups = await join_person(database, invitation.org_id, invitation.email, user_id, session)
    return by_groups or invitation.role


def _open(token: str, now: datetime) -> Document:
    return {"token_hash": hash_token(token), "expires_at": {"$gt": now}}


def _from_document(document: Document) -> MemberInvitation:
    values = known_fields(document, MemberInvitation)
    return MemberInvitation(id=document["_id"], **values | {"role": Role(document["role"])})
