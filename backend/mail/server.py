"""The mail server that is configured, and the steps in which it takes a mail."""

from __future__ import annotations

import logging
from asyncio import WriteTransport
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from email.utils import parseaddr
from typing import cast
from urllib.parse import urlsplit

from aiosmtplib import SMTP, SMTPException, SMTPRecipientRefused, SMTPResponseException

from backend.domain.mail.mail import MailFailure, SmtpStep
from backend.settings import Settings, SmtpTls

# How long the server may take to answer a command, and to take a message.
_SECONDS = 20.0
_MESSAGE_SECONDS = 120.0
_PORTS = {SmtpTls.STARTTLS: 587, SmtpTls.TLS: 465, SmtpTls.NONE: 25}
# Answers to RCPT that are about the sender or its server, not about the mailbox: the address may be right.
_POLICY_CODES = ("5.7.", "5.3.", "5.5.")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MailServer:
    """The mail server of the settings. `mail_server_of` gives None where none is configured."""

    settings: Settings

    @property
    def sender(self) -> str:
        """From whom mails come, such as `Waylink <links@shop.com>`."""
        return self.settings.smtp_sender

    @property
    def host(self) -> str:
        """Its host name."""
        return self.settings.smtp_host

    @property
    def port(self) -> int:
        """Its port."""
        return self.settings.smtp_port or _PORTS[self.settings.smtp_tls]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[SmtpConnection]:
        """A connection, encrypted and signed in as the settings say. Raises MailFailure."""
        settings = self.settings
        smtp = SMTP(
            hostname=self.host,
            port=self.port,
            use_tls=settings.smtp_tls is SmtpTls.TLS,
            start_tls=False,  # in a step of its own, whose error says so
            timeout=_SECONDS,
            local_hostname=urlsplit(settings.base_url).hostname,
        )
        try:
            with failing(SmtpStep.CONNECT):
                await smtp.connect()
            if settings.smtp_tls is SmtpTls.STARTTLS:
                with failing(SmtpStep.TLS):
                    await smtp.starttls()
            if settings.smtp_user:
                with failing(SmtpStep.SIGN_IN):
                    await smtp.login(settings.smtp_user, settings.smtp_password)
            yield SmtpConnection(smtp, parseaddr(self.sender)[1])
            with suppress(SMTPException, OSError):
                await smtp.execute_command(b"QUIT")  # `quit` would forget the transport
        finally:
            transport = cast("WriteTransport | None", smtp.transport)
            smtp.close()
            if transport:
                transport.abort()  # the server may never end its side of an encrypted connection


class SmtpConnection:
    """A connection to the mail server, for one mail after the other."""

    def __init__(self, smtp: SMTP, sender: str) -> None:
        self._smtp = smtp
        self._sender = sender

    @property
    def is_open(self) -> bool:
        """Whether the server may be given another mail."""
        return self._smtp.is_connected

    async def name_addresses(self, address: str) -> None:
        """Begin a mail to this address. Raises MailFailure; then the next mail can begin."""
        try:
            with failing(SmtpStep.SENDER):
                await self._smtp.mail(self._sender)
            with failing(SmtpStep.RECIPIENT):
                await self._smtp.rcpt(address)
        except MailFailure:
            await self.begin_again()
            raise

    async def give_message(self, message: bytes) -> None:
        """Give the server the message of the mail that was begun. Raises MailFailure."""
        with failing(SmtpStep.MESSAGE):
            await self._smtp.data(message, timeout=_MESSAGE_SECONDS)

    async def begin_again(self) -> None:
        """Forget the mail that was begun."""
        if self.is_open:
            with suppress(SMTPException, OSError):
                await self._smtp.rset()


def mail_server_of(settings: Settings) -> MailServer | None:
    """The mail server that is configured; None if none is."""
    return MailServer(settings) if settings.sends_mail else None


@contextmanager
def failing(step: SmtpStep) -> Iterator[None]:
    """Turn what goes wrong in a step into a MailFailure, whatever it is: no mail holds up the others."""
    try:
        yield
    except SMTPResponseException as error:
        answer = " ".join(error.message.split())
        raise MailFailure(step, f"{error.code} {answer}", is_final=_is_final(step, error)) from None
    except Exception as error:
        if not isinstance(error, SMTPException | OSError):
            _logger.exception("A mail can't be sent")
        # When the connection is lost after the message, nobody knows whether the server had taken it.
        text = str(error) or type(error).__name__
        raise MailFailure(step, text, is_uncertain=step is SmtpStep.MESSAGE) from None


def _is_final(step: SmtpStep, error: SMTPResponseException) -> bool:
    """Whether trying again does not help.

    Before the address is named, what is wrong is the configuration's: the operator mends that, and mails
    wait for it.
    """
    if error.code < 500:
        return False
    if isinstance(error, SMTPRecipientRefused):
        return not error.message.startswith(_POLICY_CODES)
    return step is SmtpStep.MESSAGE
