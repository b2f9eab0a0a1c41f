"""The `sessions` collection: who is signed in to the dashboard. Session tokens are stored as hashes only."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.sessions import Session
from backend.domain.ids import OrgId, UserId
from backend.storage.driver.mongo import Database, known_fields
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
    return Session(token_hash=document["_id"], **known_fields(document, Session)) if document else None


async def set_session_organization(database: Database, token_hash: str, org_id: OrgId) -> None:
    """Set the organization that the dashboard shows in this session."""
    await database[NAME].update_one({"_id": token_hash}, {"$set": {"org_id": org_id}})


async def delete_session(database: Database, token_hash: str) -> None:
    """End a session. Does nothing if it has already ended."""
    await database[NAME].delete_one({"_id": token_hash})


async def delete_sessions_of(database: Database, user_id: UserId) -> None:
    """End all sessions of a user."""
    await database[NAME].delete_many({"user_id": user_id})
