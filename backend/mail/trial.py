"""A test mail, sent step by step, for operators who set up a mail server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape

from backend.domain.ids import OrgId
from backend.domain.mail.mail import Mail, MailFailure, SmtpStep
from backend.mail.message import message_bytes, message_of
from backend.mail.server import MailServer
from backend.settings import SmtpTls

_SUBJECT = "Waylink can send mails"
_TEXT = "This is a test of the mail server that Waylink is set up with. It reached you, so mails arrive.\n"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step and how it went: "ok", "not tried", or its error."""

    step: SmtpStep
    result: str


async def send_test_mail(server: MailServer, address: str, now: datetime) -> list[StepResult]:
    """Send a test mail to this address. The last step that was tried may have failed."""
    mail = Mail(OrgId(""), f"test/{now.isoformat()}/{address}", address, _SUBJECT, _TEXT, _html())
    failure: MailFailure | None = None
    try:
        async with server.connected() as connection:
            await connection.name_addresses(address)
            await connection.give_message(message_bytes(message_of(mail, server.sender, now)))
    except MailFailure as error:
        failure = error
    return list(_results(server, failure))


def _html() -> str:
    return f"<!doctype html><html lang=en><title>{escape(_SUBJECT)}</title><p>{escape(_TEXT)}</p></html>\n"


def _results(server: MailServer, failure: MailFailure | None) -> Iterator[StepResult]:
    is_over = False
    for step in _steps(server):
        if failure and failure.step is step:
            is_over = True
            yield StepResult(step, failure.error)
        else:
            yield StepResult(step, "not tried" if is_over else "ok")


def _steps(server: MailServer) -> Iterator[SmtpStep]:
    """The steps that these settings need."""
    settings = server.settings
    left_out = {SmtpStep.WRITE}
    if settings.smtp_tls is not SmtpTls.STARTTLS:  # otherwise TLS is part of connecting, or there is none
        left_out.add(SmtpStep.TLS)
    if not settings.smtp_user:
        left_out.add(SmtpStep.SIGN_IN)
    return (step for step in SmtpStep if step not in left_out)
