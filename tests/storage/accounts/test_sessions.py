"""Sign-ins while the user's password is replaced."""

from __future__ import annotations

import secrets
from contextlib import suppress
from functools import partial

from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.sessions import new_session
from backend.domain.accounts.users import User
from backend.storage.accounts.users import sessions
from backend.storage.accounts.users.new_passwords import set_password, use_reset
from backend.storage.accounts.users.password_resets import begin_reset
from backend.storage.accounts.users.sessions import PasswordReplaced, insert_session_of
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.dashboard.people import make_user
from tests.facts.organizations import TestOrganization


async def sign_in(database: Database, user: User) -> None:
    """Open a session of the user, if the password that the user had is still right."""
    with suppress(PasswordReplaced):
        session = new_session(secrets.token_urlsafe(32), user.id, user.org_ids[0], utc_now())
        await insert_session_of(database, user, session)


async def some_user(database: Database, organization: TestOrganization) -> User:
    """A new user of the organization, who has signed in before."""
    user = await find_user_by_email(database, await make_user(database, organization.id))
    assert user
    await sign_in(database, user)
    return user


async def has_session(database: Database, user: User) -> bool:
    """Whether anybody is signed in as the user."""
    return bool(await database[sessions.NAME].count_documents({"user_id": user.id}))


async def test_the_password_is_replaced_between_two_steps_of_a_sign_in(
    organization: TestOrganization, database: Database
) -> None:
    """Nobody is signed in by the former one afterwards."""
    async for moment in moments(database):
        user = await some_user(database, organization)
        await moment.interrupt(
            sign_in(moment.database, user), partial(set_password, database, user.id, "new")
        )
        assert await has_session(database, user) != moment.came


async def test_somebody_signs_in_between_two_steps_of_a_reset(
    organization: TestOrganization, database: Database
) -> None:
    """A session that the former password opened ends, also one that the reset did not see at first."""
    async for moment in moments(database):
        user, now = await some_user(database, organization), utc_now()
        token = await begin_reset(database, user.id, now, LinkWay.MAILED)
        await moment.interrupt(
            use_reset(moment.database, token, "new", now), partial(sign_in, database, user)
        )
        assert not await has_session(database, user)
