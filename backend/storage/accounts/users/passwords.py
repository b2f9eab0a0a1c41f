"""Password hashes: Argon2id with the library's defaults (RFC 9106, low-memory profile)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable
from functools import partial

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backend.concurrency.fair_thread import FairThread
from backend.domain.accounts.users import LONGEST_PASSWORD
from backend.domain.links.input import Changes
from backend.storage.driver.deadlines import deadline_paused


def _zeros(count: int) -> str:
    """`count` bytes of zeros, as an encoded hash has them: in base64 without padding."""
    return b64encode(bytes(count)).decode().rstrip("=")


_hasher = PasswordHasher()
# If a user does not exist, the password is compared with this hash, so that the answer takes the same time.
# No password has this hash. It is not computed, since that would take each process as long as a sign-in.
HASH_OF_NOBODY = (
    f"$argon2id$v=19$m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    f"${_zeros(_hasher.salt_len)}${_zeros(_hasher.hash_len)}"
)
# A hash takes 64 MiB and some ten milliseconds of several cores: passwords wait for one another before they
# starve redirects. Of each owner, such as an organization, so many may wait: a second or two.
HASHING = FairThread("passwords", 20)


async def hash_password(password: str, owner: Hashable) -> str:
    """The hash to store, with its salt and parameters. It waits for the owner's turn.

    No time of this counts against the deadline of a request.
    """
    with deadline_paused():
        return await HASHING.run(owner, partial(_hasher.hash, password))


async def with_password_hash(fields: Changes, owner: Hashable) -> Changes:
    """These fields of a link with the hash of the password that they give, instead of the password.

    Raises TooManyWait.
    """
    if "password" not in fields:
        return fields
    others = {name: value for name, value in fields.items() if name != "password"}
    password = fields["password"]
    if password is None:
        return others | {"password_hash": None}
    with HASHING.admitted(owner):
        return others | {"password_hash": await hash_password(password, owner)}


async def is_password(password: str, password_hash: str | None, owner: Hashable) -> bool:
    """Whether the password fits this hash, once it is the owner's turn.

    Without a hash it returns False, after the same time. No time counts against the deadline of a request.
    """
    with deadline_paused():
        return await HASHING.run(owner, partial(_verify, password, password_hash))


def needs_new_hash(password_hash: str) -> bool:
    """Whether the hash was made with parameters other than today's."""
    return _hasher.check_needs_rehash(password_hash)


def _verify(password: str, password_hash: str | None) -> bool:
    try:
        _hasher.verify(password_hash or HASH_OF_NOBODY, password[:LONGEST_PASSWORD])
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False
    return password_hash is not None and len(password) <= LONGEST_PASSWORD
