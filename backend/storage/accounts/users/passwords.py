"""Password hashes: Argon2id with the library's defaults (RFC 9106, low-memory profile)."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backend.domain.accounts.users import LONGEST_PASSWORD
from backend.domain.links.input import Changes


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
# A hash takes 64 MiB and some ten milliseconds of several cores: sign-ins wait for one another before they
# starve redirects.
_threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="waylink-passwords")


async def hash_password(password: str) -> str:
    """The hash to store, with its salt and parameters."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def with_password_hash(fields: Changes) -> Changes:
    """These fields of a link with the hash of the password that they give, instead of the password."""
    if "password" not in fields:
        return fields
    others = {name: value for name, value in fields.items() if name != "password"}
    password = fields["password"]
    return others | {"password_hash": None if password is None else await hash_password(password)}


async def is_password(password: str, password_hash: str | None) -> bool:
    """Whether the password fits this hash. Without a hash it returns False, after the same time."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _verify, password, password_hash)


def needs_new_hash(password_hash: str) -> bool:
    """Whether the hash was made with parameters other than today's."""
    return _hasher.check_needs_rehash(password_hash)


def _verify(password: str, password_hash: str | None) -> bool:
    try:
        _hasher.verify(password_hash or HASH_OF_NOBODY, password[:LONGEST_PASSWORD])
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False
    return password_hash is not None and len(password) <= LONGEST_PASSWORD
