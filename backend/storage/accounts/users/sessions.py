"""The `sessions` collection: who is signed in to the dashboard. Session tokens are stored as hashes only."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pymongo import IndexModel, WriteConcern

from backend.domain.accounts.sessions import SEEN_EVERY, Session
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.driver.unrecorded import unrecorded
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
from backend.storage.schema.ownership import NotOwned

NAME = "sessions"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        EXPIRY_INDEX,
        IndexModel("user_id"),
        IndexModel("provider_org_id", partialFilterExpression={"provider_org_id": {"$type": "string"}}),
    ],
    owned_by=NotOwned("a session is its user's, who may act for several organizations"),
    personal=NotPersonal(
        "the organization's own people, not visitors; `waylink user delete` ends their sessions"
    ),
    retention=NoRetention("gone within a week"),
    archived=NotArchived("who is signed in here is not signed in elsewhere"),
    shard_key=NotSharded("gone within a week"),
    audited=Audited(
        kind="session",
        created="opened",
        deleted="ended",
        ignored=frozenset({"seen_at", "expires_at", "awaits_code"}),
        of_user="user_id",
        # Whoever runs a provider could else write into the logs of other organizations.
        within=lambda document: document.get("provider_org_id"),
        # Of whom only the password was right.
        counts=lambda document: not document.get("awaits_code"),
    ),
)
_SHAPE = DocumentShape(record=Session, id_field="token_hash")


class PasswordReplaced(Exception):
    """The user's password is not the one any more with which the user was read."""


async def insert_session_of(database: Database, user: User, session: Session) -> None:
    """Store a new session of the user, as read before something showed that it is they.

    Raises PasswordReplaced if they have another password by now: whoever set it has ended all sessions.
    """
    unchanged = {"_id": user.id, "password_hash": user.password_hash}

    async def work(transaction: ClientSession) -> None:
        # It is what a new password writes as well, so the later of both begins again and sees the earlier.
        users_of_all = unrecorded(database)[users.NAME]  # of which the audit log has the session
        counted = await users_of_all.update_one(unchanged, {"$inc": {"sign_ins": 1}}, session=transaction)
        if not counted.matched_count:
            raise PasswordReplaced
        await insert_session(database, session, transaction)

    await in_transaction(database, work)


async def insert_session(
    database: Database, session: Session, transaction: ClientSession | None = None
) -> None:
    """Store a new session that no password of the user is about."""
    await database[NAME].insert_one(_SHAPE.to_document(session), session=transaction)


async def find_session(database: Database, token_hash: str, now: datetime) -> Session | None:
    """The session with this token; None if there is none or it has expired.

    Expiry is checked here because MongoDB deletes expired sessions a little later.
    """
    document = await database[NAME].find_one({"_id": token_hash, "expires_at": {"$gt": now}})
    return _SHAPE.from_document(document) if document else None


async def note_seen(database: Database, session: Session, now: datetime) -> None:
    """Note that the session was used now. Writes only if the last note is older than SEEN_EVERY.

    It waits for no majority: if it is lost, the next use is noted.
    """
    if session.seen_at is None or now - session.seen_at > SEEN_EVERY:
        collection = unrecorded(database).get_collection(NAME, write_concern=WriteConcern(w=1))
        await collection.update_one({"_id": session.token_hash}, {"$max": {"seen_at": now}})


async def list_sessions(database: Database, own: Session, now: datetime) -> list[Session]:
    """The user's sessions that have not expired, the one that was opened last first, as far as the user's own
    session may know of them."""
    found = database[NAME].find(_reach(own) | {"expires_at": {"$gt": now}}).sort("created_at", -1)
    return [_SHAPE.from_document(document) async for document in found if not document.get("awaits_code")]


async def delete_session_of(database: Database, own: Session, token_hash: str) -> bool:
    """End a session of the same user. Returns False if `own` may know of none with this hash."""
    deleted = await database[NAME].delete_one(_reach(own) | {"_id": token_hash})
    return bool(deleted.deleted_count)


async def delete_other_sessions(database: Database, kept: Session) -> None:
    """End all sessions of a session's user but that one, as far as it may know of them."""
    await database[NAME].delete_many(_reach(kept) | {"_id": {"$ne": kept.token_hash}})


async def delete_provider_sessions(
    database: Database,
    org_id: OrgId,
    *,
    user_id: UserId | None = None,
    session: ClientSession | None = None,
) -> None:
    """End the sessions that began through the organization's provider: a user's, or all."""
    # The partial index serves a query that says that it is for text.
    through = {"provider_org_id": {"$eq": org_id, "$type": "string"}}
    of_user = {"user_id": user_id} if user_id else {}
    await database[NAME].delete_many(through | of_user, session=session)


async def delete_sessions_in(
    database: Database, org_id: OrgId, user_ids: Sequence[UserId], session: ClientSession
) -> None:
    """End the sessions of these former members that began through the organization's provider, or show it."""
    of_users = {"user_id": {"$in": user_ids}}
    await database[NAME].delete_many(of_users | {"provider_org_id": org_id}, session=session)
    # Of the others, only logs of other organizations would have an entry, with the name of whose key did it.
    await unrecorded(database)[NAME].delete_many(of_users | {"org_id": org_id}, session=session)


async def set_session_organization(database: Database, token_hash: str, org_id: OrgId) -> None:
    """Set the organization that the dashboard shows in this session."""
    await database[NAME].update_one({"_id": token_hash}, {"$set": {"org_id": org_id}})


async def delete_session(database: Database, token_hash: str) -> bool:
    """End a session. Returns False if it has already ended."""
    return bool((await database[NAME].delete_one({"_id": token_hash})).deleted_count)


async def delete_sessions_of(
    database: Database, user_id: UserId, session: ClientSession | None = None
) -> None:
    """End all sessions of a user."""
    await database[NAME].delete_many({"user_id": user_id}, session=session)


def _reach(own: Session) -> Document:
    """The query for the sessions of the same user. A session through a provider knows only those of the same
    provider: whoever runs it is no more than a member of one organization."""
    through = {} if own.provider_org_id is None else {"provider_org_id": own.provider_org_id}
    return {"user_id": own.user_id} | through
