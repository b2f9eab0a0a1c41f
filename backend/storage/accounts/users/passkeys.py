"""Passkeys, in the second factors of users."""

from __future__ import annotations

from dataclasses import asdict

from backend.domain.accounts.second_factor.passkeys import MOST_PASSKEYS, Passkey
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts.users.passkey_ceremony import Ceremony, PasskeyRefused, claimed_by
from backend.storage.accounts.users.users import NAME, find_user
from backend.storage.driver.mongo import Database

_FIELD = "second_factor.passkeys"


async def add_passkey(database: Database, user: User, passkey: Passkey) -> bool:
    """Add it to a user, as read before they typed their password, who has a second factor.

    False if the user has none, has as many passkeys as may be, or another password by now.
    """
    with_room = {
        "_id": user.id,
        "password_hash": user.password_hash,
        "second_factor.secret": {"$exists": True},
        f"{_FIELD}.{MOST_PASSKEYS - 1}": {"$exists": False},
    }
    added = await database[NAME].update_one(with_room, {"$push": {_FIELD: asdict(passkey)}})
    return bool(added.matched_count)


async def remove_passkey(database: Database, user_id: UserId, passkey_id: str) -> None:
    """Let it sign in no more. Does nothing if the user has no such passkey."""
    with_passkey = {"_id": user_id, f"{_FIELD}.id": passkey_id}
    await database[NAME].update_one(with_passkey, {"$pull": {_FIELD: {"id": passkey_id}}})


async def user_signed_in(database: Database, ceremony: Ceremony, credential: str) -> User:
    """The user whose passkey signed the browser's challenge; the use is noted. Raises PasskeyRefused."""
    user, passkey = await _owner(database, credential)
    if not await _note_use(database, user.id, passkey, ceremony.used(credential, passkey)):
        raise PasskeyRefused("it was removed, or used elsewhere at this moment")
    return user


async def _owner(database: Database, credential: str) -> tuple[User, Passkey]:
    user_id, passkey_id = claimed_by(credential)
    user = await find_user(database, user_id)
    passkeys = user.second_factor.passkeys if user and user.second_factor else ()
    passkey = next((passkey for passkey in passkeys if passkey.id == passkey_id), None)
    if user is None or passkey is None or not user.org_ids:
        raise PasskeyRefused("nobody has such a passkey here")
    return user, passkey


async def _note_use(database: Database, user_id: UserId, before: Passkey, used: Passkey) -> bool:
    as_it_was = {"$elemMatch": {"id": before.id, "sign_count": before.sign_count}}
    noted = await database[NAME].update_one(
        {"_id": user_id, _FIELD: as_it_was},
        {"$set": {f"{_FIELD}.$.sign_count": used.sign_count, f"{_FIELD}.$.last_used_at": used.last_used_at}},
    )
    return bool(noted.matched_count)
