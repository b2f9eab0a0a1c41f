"""How passwords are hashed: as the service does it, or so that it costs next to nothing.

A true hash takes as long as a whole test of a page, and is the subject of few.
"""

from __future__ import annotations

from typing import NamedTuple

from argon2 import PasswordHasher

from backend.storage.accounts.users import passwords


class Hashing(NamedTuple):
    """What makes hashes, and the hash that nobody's password has."""

    hasher: PasswordHasher
    of_nobody: str

    def use(self) -> None:
        """Hash so in this process from now on, and in all that are forked from it."""
        passwords._hasher, passwords.HASH_OF_NOBODY = self


_quick = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
TRUE, QUICK = Hashing(passwords._hasher, passwords.HASH_OF_NOBODY), Hashing(_quick, _quick.hash("nobody"))
