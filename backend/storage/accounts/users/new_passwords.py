"""New passwords of users, each with what ends by it."""

from __future__ import annotations

from datetime import datetime

from backend.domain.accounts.entry.password_resets import PasswordReset
from backend.domain.accounts.entry.who_gets_in import (
    LinkWay,
    NewPassword,
    password_by_its_user,
    password_by_link,
)
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts import organizations
from backend.storage.accounts.directory.identities import forget_former_users
from backend.storage.accounts.directory.people import forget_former_people
from backend.storage.accounts.users import password_resets, sessions, users
from backend.storage.accounts.users.sessions import PasswordReplaced
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction


async def change_password(database: Database, user: User, password_hash: str) -> None:
    """Set the new password of a user, as read before they typed the former one, and end all sessions and
    resets: the former password may have opened them.

    Raises PasswordReplaced if they have another password by now.
    """

    async def work(session: ClientSession) -> None:
        stored = await users.find_user(database, user.id, session)
        if stored is None or (stored.id, stored.password_hash) != (user.id, user.password_hash):
            raise PasswordReplaced
        await put_password(database, stored, password_hash, password_by_its_user(stored), session)

    await in_transaction(database, work)


async def set_password(database: Database, user_id: UserId, password_hash: str) -> None:
    """The same for whoever runs the service, and hands the password over."""

    async def work(session: ClientSession) -> None:
        user = await users.find_user(database, user_id, session)
        if user:
            new = password_by_link(user, LinkWay.HANDED)
            await put_password(database, user, password_hash, new, session)

    await in_transaction(database, work)


async def use_reset(
    database: Database, token: str, password_hash: str, now: datetime
) -> PasswordReset | None:
    """Set the user's new password by a link, and end all sessions and all other resets of the user.

    None if the link works no more.
    """

    async def work(session: ClientSession) -> PasswordReset | None:
        reset = await password_resets.take_reset(database, token, now, session)
        user = await users.find_user(database, reset.user_id, session) if reset else None
        if reset is None or user is None:
            return None
        # Whoever joins or leaves one of these, or gets another role there, at this moment, comes before or
        # after.
        for org_id in user.org_ids:
            await organizations.note_member_change(database, session, org_id)
        if not await password_resets.is_handable(database, reset, user, session):
            return None
        await put_password(database, user, password_hash, password_by_link(user, reset.way), session)
        return reset

    return await in_transaction(database, work)


async def end_sign_in(database: Database, user: User, session: ClientSession) -> None:
    """Let nothing sign in to the account until somebody sets a new password, in the caller's transaction."""
    ended = NewPassword(is_address_proved=False, changes_hands=True, ends_factors=True)
    await put_password(database, user, None, ended, session)


async def put_password(
    database: Database, user: User, password_hash: str | None, new: NewPassword, session: ClientSession
) -> None:
    """Set the password in the caller's transaction, in which the user was read; None leaves them without."""
    changed: Document = {
        "$set": {"password_hash": password_hash, "is_address_proved": new.is_address_proved},
        # So that it is a change also where the hash is the same one.
        "$inc": {"sign_ins": 1},
    }
    if new.ends_factors:
        changed["$unset"] = {"second_factor": 1}
    await database[users.NAME].update_one({"_id": user.id}, changed, session=session)
    await sessions.delete_sessions_of(database, user.id, session)
    await password_resets.delete_resets_of(database, user.id, session)
    if new.changes_hands:
        await forget_former_people(database, user.id, user.org_ids, session)
        await forget_former_users(database, user.id, user.org_ids, session)
