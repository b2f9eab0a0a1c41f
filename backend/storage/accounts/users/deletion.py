"""Deletes an account, with all that belongs to it alone."""

from __future__ import annotations

from backend.domain.ids import UserId
from backend.storage.accounts.directory.identities import delete_identities_of
from backend.storage.accounts.directory.people import unlink_people_of
from backend.storage.accounts.users import password_resets, sessions, users
from backend.storage.driver.mongo import ClientSession, Database


async def delete_account(database: Database, user_id: UserId, session: ClientSession) -> None:
    """Delete the user in the caller's transaction: no session, link or provider leads to the account."""
    await sessions.delete_sessions_of(database, user_id, session)
    await password_resets.delete_resets_of(database, user_id, session)
    await delete_identities_of(database, [user_id], session)
    await unlink_people_of(database, [user_id], session)
    await users.delete_user(database, user_id, session)
