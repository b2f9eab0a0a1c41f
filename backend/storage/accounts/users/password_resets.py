"""The `password_resets` collection: links that set a new password, once. Tokens are stored as hashes only."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from pymongo import IndexModel

from backend.domain.accounts.password_resets import PasswordReset
from backend.domain.accounts.sessions import hash_token
from backend.domain.ids import UserId
from backend.storage.accounts.users import sessions, users
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
from backend.storage.schema.ownership import NotOwned

NAME = "password_resets"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX, IndexModel("user_id")],
    owned_by=NotOwned("they are users', who may act for several organizations"),
    personal=NotPersonal("the organization's own people, not visitors; gone within a day"),
    retention=NoRetention("gone within a day"),
    archived=NotArchived("gone within a day"),
    shard_key=NotSharded("few, and gone within a day"),
    audited=Audited(
        kind="password_reset",
        deleted="ended",
        of_user="user_id",
    ),
)


async def begin_reset(database: Database, user_id: UserId, now: datetime, lasts: timedelta) -> str:
    """Let the user set a new password within this time. Returns the token of the link."""
    token = secrets.token_urlsafe(32)
    times = {"created_at": now, "expires_at": now + lasts}
    await database[NAME].insert_one({"_id": hash_token(token), "user_id": user_id, **times})
    return token


async def find_reset(database: Database, token: str, now: datetime) -> PasswordReset | None:
    """The reset whose link has this token; None if it was used, or its time is over."""
    document = await database[NAME].find_one(_open(token, now))
    return _from_document(document) if document else None


async def use_reset(
    database: Database, token: str, password_hash: str, now: datetime
) -> PasswordReset | None:
    """Set the user's new password, end all sessions, and end all other resets of the user.

    None if the reset is not open any more.
    """

    async def work(session: ClientSession) -> PasswordReset | None:
        document = await database[NAME].find_one_and_delete(_open(token, now), session=session)
        if document is None:
            return None
        reset = _from_document(document)
        await replace_password(database, reset.user_id, password_hash, session)
        return reset

    return await in_transaction(database, work)


async def replace_password(
    database: Database, user_id: UserId, password_hash: str, session: ClientSession | None = None
) -> None:
    """Set a user's new password, and end all sessions and resets: the old password may have opened them."""
    of_user = {"user_id": user_id}
    new = {"$set": {"password_hash": password_hash}}
    await database[users.NAME].update_one({"_id": user_id}, new, session=session)
    await database[sessions.NAME].delete_many(of_user, session=session)
    await database[NAME].delete_many(of_user, session=session)


async def delete_resets_of(database: Database, user_id: UserId) -> None:
    """End all resets of a user, who is deleted."""
    await database[NAME].delete_many({"user_id": user_id})


def _open(token: str, now: datetime) -> Document:
    return {"_id": hash_token(token), "expires_at": {"$gt": now}}


def _from_document(document: Document) -> PasswordReset:
    return PasswordReset(token_hash=document["_id"], **known_fields(document, PasswordReset))
