"""The `password_resets` collection: links that set a new password, once. Tokens are stored as hashes only."""

from __future__ import annotations

import secrets
from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.entry.password_resets import RESET_DURATIONS, Hander, PasswordReset
from backend.domain.accounts.entry.who_gets_in import LinkWay, may_hand_reset
from backend.domain.accounts.sessions import hash_token
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import ClientSession, Database, Document
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
_SHAPE = DocumentShape(record=PasswordReset, id_field="token_hash")


async def begin_reset(
    database: Database, user_id: UserId, now: datetime, way: LinkWay, hander: Hander | None = None
) -> str:
    """Let the user set a new password by a link that goes this way. Returns the token of the link.

    `hander` is the owner who is shown the link; None for a mail, and for whoever runs the service.
    """
    token = secrets.token_urlsafe(32)
    reset = PasswordReset(hash_token(token), user_id, now, now + RESET_DURATIONS[way], way, hander)
    await database[NAME].insert_one(_SHAPE.to_document(reset))
    return token


async def find_user_to_reset(database: Database, token: str, now: datetime) -> User | None:
    """The user whose new password the link with this token sets.

    None if it was used, its time is over, or whoever handed it over may not do so any more.
    """
    document = await database[NAME].find_one(_open(token, now))
    reset = _SHAPE.from_document(document) if document else None
    user = await users.find_user(database, reset.user_id) if reset else None
    return user if reset and user and await is_handable(database, reset, user) else None


async def take_reset(
    database: Database, token: str, now: datetime, session: ClientSession
) -> PasswordReset | None:
    """End the reset whose link has this token, in the caller's transaction. None if it is not open."""
    document = await database[NAME].find_one_and_delete(_open(token, now), session=session)
    return _SHAPE.from_document(document) if document else None


async def is_handable(
    database: Database, reset: PasswordReset, user: User, session: ClientSession | None = None
) -> bool:
    """Whether the link may still be used: it went by mail, is the operator's, or was handed over by somebody
    who may still hand one to this user, as the organizations of both are now."""
    if reset.hander is None:
        return True
    owner = await users.find_user(database, reset.hander.user_id, session)
    if owner and reset.hander.within is not None:
        owner = owner.within(reset.hander.within)
    return owner is not None and may_hand_reset(owner, user)


async def delete_resets_of(database: Database, user_id: UserId, session: ClientSession | None = None) -> None:
    """End all resets of a user, who is deleted or has a new password."""
    await database[NAME].delete_many({"user_id": user_id}, session=session)


def _open(token: str, now: datetime) -> Document:
    return {"_id": hash_token(token), "expires_at": {"$gt": now}}
