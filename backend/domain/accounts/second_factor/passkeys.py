"""Passkeys (WebAuthn): keys on a user's devices, each of which signs in without password and code."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.fields.rules import Text

NAME_RULE = Text(60, shown=True)
MOST_PASSKEYS = 20
# For how long a page's challenge may be answered.
CHALLENGE_DURATION = timedelta(minutes=10)
NONCE_BYTES = 16
_TIME_BYTES = 8


@dataclass(frozen=True, slots=True)
class Passkey:
    """The public half of a passkey. `id` is the credential's in Base64url, as browsers send it.

    `sign_count` is what the device counted when it signed last; 0 where it does not count.
    """

    id: str
    public_key: bytes
    sign_count: int
    name: str
    created_at: datetime
    last_used_at: datetime | None = None


def challenge_of(token: str, nonce: bytes, now: datetime) -> bytes:
    """A challenge for the browser that has this token in its cookie; nothing of it is stored.

    `nonce` is NONCE_BYTES random bytes.
    """
    content = nonce + int(now.timestamp()).to_bytes(_TIME_BYTES)
    return content + _mark(token, content)


def is_challenge(challenge: bytes, token: str, now: datetime) -> bool:
    """Whether it was made for the browser with this token, and not long ago."""
    content, mark = challenge[: NONCE_BYTES + _TIME_BYTES], challenge[NONCE_BYTES + _TIME_BYTES :]
    if not hmac.compare_digest(mark, _mark(token, content)):
        return False
    age = now.timestamp() - int.from_bytes(content[NONCE_BYTES:])
    return -1 <= age <= CHALLENGE_DURATION.total_seconds()


def _mark(token: str, content: bytes) -> bytes:
    key = token.encode("utf-8", "surrogatepass")
    return hmac.digest(key, b"waylink passkey" + content, "sha256")
