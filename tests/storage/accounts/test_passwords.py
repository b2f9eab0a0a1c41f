"""Hashes as the service makes them, and what a password is compared with if the user does not exist."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError

from backend.storage.accounts.users.passwords import (
    HASH_OF_NOBODY,
    hash_password,
    is_password,
    needs_new_hash,
)


@pytest.mark.usefixtures("true_hashes")
async def test_a_true_hash_fits_its_password() -> None:
    """Services that tests fork make quick ones, and so do nearly all other tests."""
    assert await is_password("a password", await hash_password("a password", "a"), "a")


@pytest.mark.usefixtures("true_hashes")
def test_nobodys_hash_is_computed_in_full() -> None:
    """It is well formed and of today's parameters, so comparing with it takes as long as with a user's."""
    with pytest.raises(VerifyMismatchError):
        PasswordHasher().verify(HASH_OF_NOBODY, "a password")
    assert not needs_new_hash(HASH_OF_NOBODY)


async def test_nobody_has_a_password() -> None:
    """Where there is no user, no password fits."""
    assert not await is_password("", None, "a")
