"""Hashes new passwords, each in its turn: a hash takes memory and several cores."""

from __future__ import annotations

from backend.domain.accounts.users import check_password
from backend.storage.accounts.users.passwords import HASHING, hash_password

_OWNER = "new passwords"


async def new_password_hash(password: str) -> str:
    """The hash of a new password. Raises WeakPassword, and TooManyWait where too many are to be hashed."""
    check_password(password)
    with HASHING.admitted(_OWNER):
        return await hash_password(password, _OWNER)
