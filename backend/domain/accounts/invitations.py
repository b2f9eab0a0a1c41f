"""Invitations: a link with which somebody becomes a member of an organization, once."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import hash_token
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.rules import Rule, Word
from backend.domain.ids import OrgId

INVITATION_DURATION = timedelta(days=7)
MOST_INVITATIONS = 100
INVITATION_PATH = "/join"


class InvitedBy(StrEnum):
    """From where somebody was invited, if no member did."""

    KEY = "a key"
    COMMAND_LINE = "the command line"


@dataclass(frozen=True, slots=True)
class MemberInvitation:
    """An invitation that nobody has used yet. `token_hash` is that of the token in the link that whoever
    invites is shown, `mailed_token_hash` that of the token in the mail, which nobody is shown; None where no
    mail goes out. `invited_by` is the e-mail address of a member, or what InvitedBy says."""

    id: str
    org_id: OrgId
    email: str
    role: Role
    token_hash: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    mailed_token_hash: str | None = None

    def is_mailed(self, token: str) -> bool:
        """Whether this token, which is one of the invitation's, is that of the mail."""
        return hmac.compare_digest(hash_token(token), self.mailed_token_hash or "")


INVITATION_FIELDS: Mapping[str, Rule[Any]] = {"email": EmailAddress(), "role": Word(Role)}


def invitation_url(base_url: str, token: str) -> str:
    """The address of the page where the invitation is accepted."""
    return f"{base_url}{INVITATION_PATH}/{token}"
