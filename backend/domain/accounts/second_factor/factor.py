"""A user's second factor: codes of an authenticator app (TOTP, RFC 6238) and recovery codes."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from backend.domain.accounts.second_factor.passkeys import Passkey

RECOVERY_CODES = 10
# In Base32, as pyotp.random_base32 makes them: 160 bits, as RFC 4226 recommends.
SECRET_LENGTH = 32
_SECRET = re.compile(f"[A-Z2-7]{{{SECRET_LENGTH}}}", re.ASCII)
_NOT_OF_A_CODE = re.compile(r"[\s-]")


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """What a user's codes are checked by.

    `secret` is shared with the authenticator app. `used_step` is the time step of the last code that was
    accepted: no code of it or of an earlier one is accepted again. `recovery_hashes` are SHA-256 hashes of
    the recovery codes that were not used yet. Each of `passkeys` signs in by itself.
    """

    secret: str
    used_step: int
    recovery_hashes: tuple[str, ...]
    since: datetime
    passkeys: tuple[Passkey, ...] = ()


def is_secret(text: str) -> bool:
    """Whether the text may be a secret."""
    return _SECRET.fullmatch(text) is not None


def typed_code(text: str) -> bytes:
    """A code without the spaces and hyphens that people write in it."""
    return _NOT_OF_A_CODE.sub("", text).encode("utf-8", "surrogatepass")


def recovery_hash(text: str) -> str:
    """What is stored of a recovery code, however it was typed: 80 random bits need no slow hash."""
    return hashlib.sha256(typed_code(text.upper())).hexdigest()


def shown_recovery_code(code: str) -> str:
    """A recovery code in groups that one can read."""
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))
