"""Mails to members of an organization: invitations, and links that set a new password."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend.domain.accounts.entry.password_resets import RESET_DURATIONS, reset_url
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.invitations import MemberInvitation, invitation_url
from backend.domain.accounts.sessions import hash_token
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.domain.mail.mail import Mail
from backend.domain.reports.recipient import unlinked
from backend.mail.composing import one_link
from backend.mail.numbers import day_in
from backend.storage.accounts.users import invitations, password_resets
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails

# The beginnings of the keys of mails.
INVITATION_KEY, RESET_KEY = "member-invitation/", "password-reset/"
_INVITATIONS_A_DAY = 50
_INVITATIONS_OF_ADDRESS_A_DAY = 3
_RESETS_AN_HOUR = 3
_DAY = timedelta(days=1)


class TooManyInvitations(Exception):
    """One more mail would be a nuisance. The message is a sentence for whoever invites."""


async def mail_invitation(
    database: Database,
    base_url: str,
    organization: str,
    invitation: MemberInvitation,
    *,
    token: str,
    language: Language,
    now: datetime,
) -> None:
    """Queue the mail with the invitation's link. Raises TooManyInvitations."""
    org_id = invitation.org_id
    await _check_limits(database, org_id, invitation.email, now)
    names = {
        "organization": unlinked(organization),
        "by": unlinked(invitation.invited_by),
        "date": day_in(language, invitation.expires_at),
    }
    subject, text, html = one_link(language, "invitation", names, invitation_url(base_url, token))
    key = f"{INVITATION_KEY}{invitation.id}"
    about = f"{invitations.NAME}/{invitation.id}"
    mail = Mail(org_id, key, invitation.email, subject, text, html, until=invitation.expires_at, about=about)
    await mails.queue_mail(database, mail, now)


async def _check_limits(database: Database, org_id: OrgId, email: str, now: datetime) -> None:
    """Raise TooManyInvitations for an address, whoever invites it, or for an organization."""
    to_address = await mails.count_to(database, email, now - _DAY, None, f"/{INVITATION_KEY}")
    if to_address >= _INVITATIONS_OF_ADDRESS_A_DAY:
        raise TooManyInvitations(f"{email} got {_INVITATIONS_OF_ADDRESS_A_DAY} invitations within a day.")
    if await mails.count_of(database, org_id, now - _DAY, INVITATION_KEY) >= _INVITATIONS_A_DAY:
        raise TooManyInvitations(f"Your organization sent {_INVITATIONS_A_DAY} invitations within a day.")


async def mail_reset(
    database: Database, base_url: str, user: User, *, token: str, language: Language, now: datetime
) -> bool:
    """Queue the mail with the link that sets the user's new password, unless too many were sent of late."""
    org_id = user.org_ids[0]
    sent = await mails.count_to(database, user.email, now - timedelta(hours=1), None, RESET_KEY)
    if sent >= _RESETS_AN_HOUR:
        return False
    names = {"email": user.email}
    subject, text, html = one_link(language, "password_reset", names, reset_url(base_url, token))
    key = f"{RESET_KEY}{user.id}/{now.isoformat()}"
    until, about = now + RESET_DURATIONS[LinkWay.MAILED], f"{password_resets.NAME}/{hash_token(token)}"
    mail = Mail(org_id, key, user.email, subject, text, html, until=until, about=about)
    return await mails.queue_mail(database, mail, now)
