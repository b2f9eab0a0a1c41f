"""The `member_invitations` collection: links with which somebody becomes a member. Tokens are hashes."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Set
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.invitations import INVITATION_DURATION, MOST_INVITATIONS, MemberInvitation
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role, RoleNotGrantable
from backend.domain.accounts.sessions import hash_token
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.ids import OrgId
from backend.storage.accounts import organizations
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "member_invitations"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        EXPIRY_INDEX,
        IndexModel("token_hash", unique=True),
        IndexModel(
            "mailed_token_hash",
            unique=True,
            partialFilterExpression={"mailed_token_hash": {"$type": "string"}},
        ),
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
        ignored=frozenset({"mailed_token_hash"}),
        deleted="ended",
    ),
)
_SHAPE = DocumentShape(record=MemberInvitation)
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
    InvalidField where the address is a member's with a sign-in of their own, and TooManyItems.
    """
    if not role.is_grantable_by(granted):
        raise RoleNotGrantable(role)
    member = await users.find_member_by_email(database, org_id, email)
    if member and member.managed_by is None:
        raise InvalidField("email", "is a member's already")
    await _OWN.check_room(database, org_id)
    token = secrets.token_urlsafe(32)
    invitation = MemberInvitation(
        str(uuid.uuid4()), org_id, email, role, hash_token(token), invited_by, now, now + INVITATION_DURATION
    )
    document = _SHAPE.to_document(invitation)

    async def work(session: ClientSession) -> None:
        earlier = {"org_id": org_id, "email": email}
        await database[NAME].delete_many(earlier, session=session)
        await database[NAME].insert_one(document, session=session)

    await in_transaction(database, work)
    return token, invitation


async def mailed_token(database: Database, invitation: MemberInvitation) -> str:
    """A token for the link in the invitation's mail, and for nothing else: whoever opens that link has read
    the mail."""
    token = secrets.token_urlsafe(32)
    hashed = {"$set": {"mailed_token_hash": hash_token(token)}}
    await database[NAME].update_one({"_id": invitation.id, "org_id": invitation.org_id}, hashed)
    return token


async def list_invitations(database: Database, org_id: OrgId, now: datetime) -> list[MemberInvitation]:
    """The organization's open invitations, the newest first."""
    found = database[NAME].find({"org_id": org_id, "expires_at": {"$gt": now}}).sort("created_at", -1)
    return [_SHAPE.from_document(document) async for document in found]


async def find_invitation(database: Database, token: str, now: datetime) -> MemberInvitation | None:
    """The invitation whose link has this token; None if it was used or withdrawn, or its time is over."""
    document = await database[NAME].find_one(_open(token, now))
    return _SHAPE.from_document(document) if document else None


async def withdraw_invitation(database: Database, org_id: OrgId, given_id: str) -> MemberInvitation:
    """End an invitation: its link works no more. Raises ItemUnknown."""
    return _SHAPE.from_document(await _OWN.delete(database, org_id, given_id))


async def use_up(
    database: Database, org_id: OrgId, email: str, now: datetime, session: ClientSession
) -> None:
    """End the organization's open invitation of this address in the caller's transaction, since somebody who
    has the address enters in another way."""
    open_one = {"org_id": org_id, "email": email, "expires_at": {"$gt": now}}
    await database[NAME].delete_one(open_one, session=session)


async def take_invitation(
    database: Database, token: str, now: datetime, session: ClientSession
) -> MemberInvitation | None:
    """End the invitation whose link has this token, as somebody accepts it in the caller's transaction. None
    if it is not open."""
    document = await database[NAME].find_one_and_delete(_open(token, now), session=session)
    if document is None:
        return None
    invitation = _SHAPE.from_document(document)
    try:
        await organizations.note_member_change(database, session, invitation.org_id)
    except ItemUnknown:  # the organization is being deleted, and its invitations with it
        return None
    return invitation


def _open(token: str, now: datetime) -> Document:
    hashed = hash_token(token)
    return {"$or": [{"token_hash": hashed}, {"mailed_token_hash": hashed}], "expires_at": {"$gt": now}}
