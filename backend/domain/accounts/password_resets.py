"""Password resets: a link with which a user sets a new password, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import UserId

# A mail is read at once by who asked for it; a link that somebody hands over takes its time.
MAILED_DURATION = timedelta(hours=1)
HANDED_DURATION = timedelta(days=1)
RESET_PATH = "/new-password"


@dataclass(frozen=True, slots=True)
class PasswordReset:
    """A reset that nobody has used yet. `token_hash` is that of the token in its link."""

    token_hash: str
    user_id: UserId
    created_at: datetime
    expires_at: datetime


def may_hand_reset(owner: User, user: User) -> bool:
    """Whether this user may get a link that resets the other one's password.

    Who sets a password signs in with it everywhere, so it takes an owner of all of the other's organizations.
    """
    return all(org_id in owner.org_ids and owner.role_in(org_id) is Role.OWNER for org_id in user.org_ids)


def reset_url(base_url: str, token: str) -> str:
    """The address of the page where the new password is set."""
    return f"{base_url}{RESET_PATH}/{token}"
