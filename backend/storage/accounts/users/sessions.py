"""The `sessions` collection: who is signed in to the dashboard. Session tokens are stored as hashes only."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from pymongo import IndexModel, WriteConcern

from backend.domain.accounts.sessions import SEEN_EVERY, Session
from backend.domain.ids import OrgId, UserId
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import NotOwned

NAME = "sessions"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX, IndexModel("user_id")],
    owned_by=NotOwned("a session is its user's, who may act for several organizations"),
    personal=NotPersonal(
        "the organization's own people, not visitors; `waylink user delete` ends their sessions"
    ),
    retention=NoRetention("gone within a week"),
    archived=NotArchived("who is signed in here is not signed in elsewhere"),
    shard_key=NotSharded("gone within a week"),
)


async def insert_session(database: Database, session: Session) -> None:
    """Store a new session."""
    document = asdict(session)
    await database[NAME].insert_one({"_id": document.pop("token_hash"), **document})


async def find_session(database: Database, token_hash: str, now: datetime) -> Session | None:
    """The session with this token; None if there is none or it has expired.

    Expiry is checked here because MongoDB deletes expired sessions a little later.
    """
    document = await database[NAME].find_one({"_id": token_hash, "expires_at": {"$gt": now}})
    return _from_document(document) if document else None


async def note_seen(database: Database, session: Session, now: datetime) -> None:
    """Note that the session was used now. Writes only if the last note is older than SEEN_EVERY.

    It waits for no majority: if it is lost, the next use is noted.
    """
    if session.seen_at is None or now - session.seen_at > SEEN_EVERY:
        collection = database.get_collection(NAME, write_concern=WriteConcern(w=1))
        await collection.update_one({"_id": session.token_hash}, {"$max": {"seen_at": now}})


async def list_sessions(database: Database, user_id: UserId, now: datetime) -> list[Session]:
    """The user's sessions that have not expired, the one that was opened last first."""
    found = database[NAME].find({"user_id": user_id, "expires_at": {"$gt": now}}).sort("created_at", -1)
    return [_from_document(document) async for document in found if not document.get("awaits_code")]


async def delete_session_of(database: Database, user_id: UserId, token_hash: str) -> bool:
    """End a session of the user. Returns False if there is none with this hash."""
    deleted = await database[NAME].delete_one({"_id": token_hash, "user_id": user_id})
    return bool(deleted.deleted_count)


async def delete_other_sessions(database: Database, kept: Session) -> None:
    """End all sessions of a session's user but that one."""
    others = {"user_id": kept.user_id, "_id": {"$ne": kept.token_hash}}
    await database[NAME].delete_many(others)


async def set_session_organization(database: Database, token_hash: str, org_id: OrgId) -> None:
    """Set the organization that the dashboard shows in this session."""
    await database[NAME].update_one({"_id": token_hash}, {"$set": {"org_id": org_id}})


async def delete_session(database: Database, token_hash: str) -> None:
    """End a session. Does nothing if it has already ended."""
    await database[NAME].delete_one({"_id": token_hash})


async def delete_sessions_of(database: Database, user_id: UserId) -> None:
    """End all sessions of a user."""
    await database[NAME].delete_many({"user_id": user_id})


def _from_document(document: Document) -> Session:
    return Session(token_hash=document["_id"], **known_fields(document, Session))
