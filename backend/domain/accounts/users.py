"""Users of the dashboard. A user acts for one or more organizations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SecondFactor
from backend.domain.ids import OrgId, UserId

# Characters of a password. The upper limit only bounds the work of hashing it.
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1024

# Argon2id's encoded form. A hash with much more work than ours would slow down every sign-in.
_PASSWORD_HASH = re.compile(
    r"\$argon2id\$v=19\$m=(?P<kibibytes>\d{1,6}),t=(?P<rounds>\d{1,2}),p=(?P<lanes>\d{1,2})"
    r"\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,128}",
    re.ASCII,
)
_MOST_WORK = {"kibibytes": 262_144, "rounds": 10, "lanes": 16}


class WeakPassword(ValueError):
    """The password breaks a rule. The message completes a sentence that starts with "The password"."""


@dataclass(frozen=True, slots=True)
class User:
    """A user's account. `password_hash` is an encoded Argon2id hash; the password itself is never stored.

    `roles` has the user's role in each of the organizations. Where it has none, the user is an owner, as all
    were before there were roles. Without `second_factor`, the password alone opens a session.
    `managed_by` is the organization whose identity provider named the person, who signs in there only; None
    for an account of one's own. What that means, and `is_address_proved`, is said in entry/who_gets_in.py.
    """

    id: UserId
    email: str
    password_hash: str | None
    org_ids: tuple[OrgId, ...]
    created_at: datetime
    roles: Mapping[OrgId, Role] = field(default_factory=dict)
    second_factor: SecondFactor | None = None
    managed_by: OrgId | None = None
    is_address_proved: bool = False

    def role_in(self, org_id: OrgId) -> Role:
        """The user's role in one of the user's organizations."""
        return self.roles.get(org_id, Role.OWNER)

    def within(self, org_id: OrgId) -> User:
        """The user as a member of this organization only, or of none: as a session through the organization's
        identity provider knows them. Password and second factor are the account's, and not shown to it."""
        is_member = org_id in self.org_ids
        roles = {org_id: self.role_in(org_id)} if is_member else {}
        org_ids = (org_id,) if is_member else ()
        return replace(self, org_ids=org_ids, roles=roles, password_hash=None, second_factor=None)


def is_password_hash(text: str) -> bool:
    """Whether the text is an encoded Argon2id hash that costs about as much to check as the service's own."""
    match = _PASSWORD_HASH.fullmatch(text)
    return match is not None and all(1 <= int(match[name]) <= most for name, most in _MOST_WORK.items())


def check_password(password: str) -> None:
    """Raise WeakPassword if this password is not allowed."""
    if len(password) < SHORTEST_PASSWORD:
        raise WeakPassword(f"must have at least {SHORTEST_PASSWORD} characters")
    if len(password) > LONGEST_PASSWORD:
        raise WeakPassword(f"must have at most {LONGEST_PASSWORD} characters")
    if len(set(password)) == 1:
        raise WeakPassword("must not be one character repeated")
