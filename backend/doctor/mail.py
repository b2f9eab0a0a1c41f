"""Checks the mail server of the settings, and what became of mails. Sends nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.domain.mail.mail import MailFailure
from backend.mail.server import mail_server_of
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.storage.mail.mails import count_failed, list_failed

_findings = Findings(Area.MAIL)
_FAILED_WITHIN = timedelta(days=7)


async def examine_mail_server(settings: Settings) -> Finding:
    """Whether a mail server is configured, can be reached, and lets the service in."""
    server = mail_server_of(settings)
    if server is None:
        return _without_server(settings)
    subject = f"{server.host}:{server.port}"
    try:
        async with server.connected():
            return _findings.ok(
                subject, f"The mail server lets the service in. Mails come from {server.sender}."
            )
    except MailFailure as failure:
        return _findings.error(
            subject,
            f"{failure}.",
            "Correct the settings WAYLINK_SMTP_…, and try `waylink mail test ADDRESS` (docs/mail.md).",
        )


async def examine_mails(database: Database, organization: Organization, now: datetime) -> Finding | None:
    """What the mail server said last of an organization's mails that were not sent; None if all were."""
    since = now - _FAILED_WITHIN
    newest = await list_failed(database, organization.id, since, 1)
    if not newest:
        return None
    count, error = await count_failed(database, organization.id, since, now), newest[0].result.error or ""
    return _findings.warning(
        organization.name,
        f"{count:,} {'mail was' if count == 1 else 'mails were'} not sent in the last {_FAILED_WITHIN.days} "
        f"days. The newest: {error.removesuffix('.')}.",
        "The dashboard's page Mails lists them. docs/mail.md says which are tried again.",
    )


def _without_server(settings: Settings) -> Finding:
    given = [name for name in ("smtp_host", "smtp_sender") if getattr(settings, name)]
    if not given:
        return _findings.info(
            "WAYLINK_SMTP_HOST",
            "No mail server is configured: the service sends no mails.",
            "Set WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER to send figures and alerts by mail.",
        )
    missing = "WAYLINK_SMTP_SENDER" if given == ["smtp_host"] else "WAYLINK_SMTP_HOST"
    return _findings.error(
        missing, "It is not set, so that no mail is sent.", "docs/mail.md says what is needed."
    )
