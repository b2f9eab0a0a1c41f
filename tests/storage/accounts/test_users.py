"""What one request stores of a user while another one stores something else."""

from __future__ import annotations

from functools import partial

from backend.storage.accounts.users.new_passwords import set_password
from backend.storage.accounts.users.users import find_user_by_email, renew_password_hash
from backend.storage.driver.mongo import Database
from tests.between_commands import moments
from tests.dashboard.people import make_user


async def test_a_new_password_is_set_between_two_steps_of_a_sign_in(database: Database) -> None:
    """The old one, which a sign-in hashes again, does not come back."""
    async for moment in moments(database):
        user = await find_user_by_email(database, await make_user(database))
        assert user
        renewal = renew_password_hash(moment.database, user, "old, hashed again")
        await moment.interrupt(renewal, partial(set_password, database, user.id, "new"))
        stored = await find_user_by_email(database, user.email)
        assert stored
        assert (stored.password_hash == "new") == moment.came
