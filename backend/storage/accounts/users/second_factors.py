"""Second factors, in the documents of the `users` collection. Each code is accepted once."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from backend.domain.accounts.second_factor.factor import RECOVERY_CODES, SecondFactor, recovery_hash
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts.users.authenticator_codes import matching_step
from backend.storage.accounts.users.sessions import PasswordReplaced
from backend.storage.accounts.users.users import NAME
from backend.storage.driver.mongo import Database

_FIELD = "second_factor"
_RECOVERY_LENGTH = 16  # characters in Base32: 80 bits


@dataclass(frozen=True, slots=True)
class AcceptedCode:
    """How many recovery codes are left, where one was used; None for a code of the app."""

    recovery_codes_left: int | None = None


def new_recovery_codes() -> list[str]:
    """Recovery codes, each of which is accepted once."""
    return [_recovery_code() for _ in range(RECOVERY_CODES)]


async def set_second_factor(database: Database, user: User, factor: SecondFactor) -> None:
    """Give a user, as read before they typed their password, this second factor in the place of any other.

    Raises PasswordReplaced if they have another password by now.
    """
    unchanged = {"_id": user.id, "password_hash": user.password_hash}
    set_up = await database[NAME].update_one(unchanged, {"$set": {_FIELD: asdict(factor)}})
    if not set_up.matched_count:
        raise PasswordReplaced


async def set_recovery_codes(database: Database, user_id: UserId, codes: Sequence[str]) -> None:
    """Replace the recovery codes of a user who has a second factor."""
    hashes = [recovery_hash(code) for code in codes]
    with_factor = {"_id": user_id, f"{_FIELD}.secret": {"$exists": True}}
    await database[NAME].update_one(with_factor, {"$set": {f"{_FIELD}.recovery_hashes": hashes}})


async def remove_second_factor(database: Database, user_id: UserId) -> None:
    """Let the password alone sign the user in."""
    await database[NAME].update_one({"_id": user_id}, {"$unset": {_FIELD: 1}})


async def accept_code(database: Database, user: User, code: str, now: datetime) -> AcceptedCode | None:
    """Use up a code of the app, or a recovery code. None if it is neither, or was used before.

    Of two that send the same code at once, one is accepted.
    """
    factor = user.second_factor
    if factor is None:
        return None
    step = matching_step(factor.secret, code, now, factor.used_step)
    if step is not None:
        unused = {"_id": user.id, f"{_FIELD}.secret": factor.secret, f"{_FIELD}.used_step": {"$lt": step}}
        used = await database[NAME].update_one(unused, {"$set": {f"{_FIELD}.used_step": step}})
        return AcceptedCode() if used.matched_count else None
    return await _accept_recovery_code(database, user.id, recovery_hash(code))


async def _accept_recovery_code(database: Database, user_id: UserId, hashed: str) -> AcceptedCode | None:
    hashes = f"{_FIELD}.recovery_hashes"
    before = await database[NAME].find_one_and_update(
        {"_id": user_id, hashes: hashed}, {"$pull": {hashes: hashed}}
    )
    return AcceptedCode(len(before[_FIELD]["recovery_hashes"]) - 1) if before else None


def _recovery_code() -> str:
    return "".join(secrets.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(_RECOVERY_LENGTH))
