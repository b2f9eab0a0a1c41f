"""Sessions of the dashboard: a random token in a browser's cookie stands for a user who signed in."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

# Counted from the sign-in: using a session does not prolong it.
SESSION_LASTS = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Session:
    """A sign-in that holds until `expires_at`. `org_id` is the organization that its pages act for."""

    token_hash: str
    user_id: str
    org_id: str
    created_at: datetime
    expires_at: datetime


def new_session(token: str, user_id: str, org_id: str, now: datetime) -> Session:
    """The session that this token stands for from now on."""
    return Session(hash_token(token), user_id, org_id, now, now + SESSION_LASTS)


def hash_token(token: str) -> str:
    """SHA-256 of a token, in hex: what is stored, so that a stolen database signs nobody in."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(token: str) -> str:
    """The token that each form carries, made from the cookie's: another site knows neither of them.

    It is a keyed hash, so that a page that leaks it does not give the session away.
    """
    return hmac.new(token.encode("utf-8", "surrogatepass"), b"waylink form", hashlib.sha256).hexdigest()


def is_form_token(given: str, token: str) -> bool:
    """Whether a form carried the token that belongs to this cookie, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), form_token(token).encode())
