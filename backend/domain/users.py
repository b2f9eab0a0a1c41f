"""Users of the dashboard: people who act for one organization or several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

# Characters of a password. The longest only bounds the work of hashing it.
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1024
_LONGEST_EMAIL = 254
# Whether mail arrives there only sending some can tell; this refuses what is no address at all.
_EMAIL = re.compile(r"[^\s@\x00-\x1f\x7f<>\"(),:;\[\]\\]+@[^\s@.]+(\.[^\s@.]+)*")


class InvalidEmail(ValueError):
    """The text is not an e-mail address; the message completes a sentence."""


class WeakPassword(ValueError):
    """The password breaks a rule; the message completes a sentence that begins with "The password"."""


@dataclass(frozen=True, slots=True)
class User:
    """A person. `password_hash` is Argon2id's encoded form; the password itself is never stored."""

    id: str
    email: str
    password_hash: str
    org_ids: tuple[str, ...]
    created_at: datetime


def normalize_email(text: str) -> str:
    """The address in the one form in which it is stored and compared: trimmed, lower case.

    Raises InvalidEmail.
    """
    email = text.strip().lower()
    if len(email) > _LONGEST_EMAIL or not _EMAIL.fullmatch(email):
        raise InvalidEmail("must be an e-mail address such as ada@example.com")
    return email


def check_password(password: str) -> None:
    """Raise WeakPassword for a password that must not be set."""
    if len(password) < SHORTEST_PASSWORD:
        raise WeakPassword(f"must have at least {SHORTEST_PASSWORD} characters")
    if len(password) > LONGEST_PASSWORD:
        raise WeakPassword(f"must have at most {LONGEST_PASSWORD} characters")
    if len(set(password)) == 1:
        raise WeakPassword("must not be one character repeated")
