"""Password resets: a link with which a user sets a new password, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.ids import OrgId, UserId

# A mail is read at once by who asked for it; a link that somebody hands over takes its time.
RESET_DURATIONS: Mapping[LinkWay, timedelta] = {
    LinkWay.MAILED: timedelta(hours=1),
    LinkWay.HANDED: timedelta(days=1),
}
RESET_PATH = "/new-password"


@dataclass(frozen=True, slots=True)
class Hander:
    """The owner who hands a link over. `within` is the organization whose provider they came through, and as
    whose member alone they do so; None for their own sign-in."""

    user_id: UserId
    within: OrgId | None = None


@dataclass(frozen=True, slots=True)
class PasswordReset:
    """A reset that nobody has used yet. `token_hash` is that of the token in its link.

    A handed one without `hander` is the operator's.
    """

    token_hash: str
    user_id: UserId
    created_at: datetime
    expires_at: datetime
    way: LinkWay
    hander: Hander | None = None


def reset_url(base_url: str, token: str) -> str:
    """The address of the page where the new password is set."""
    return f"{base_url}{RESET_PATH}/{token}"
