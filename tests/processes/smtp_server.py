"""A real mail server: what it was given, and what a test has it answer."""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.processes.service_process import free_port

TAKEN = "250 OK"


@dataclass  # with slots, the server can't look through it in Python 3.11.2
class Mailbox:
    """The server: the messages that it took, and what it answers to an address and to a message for one."""

    port: int
    messages: list[EmailMessage] = field(default_factory=list)
    to_address: Callable[[str], str] = lambda _: TAKEN
    to_message: Callable[[str], str] = lambda _: TAKEN

    @property
    def settings(self) -> dict[str, str]:
        """The settings by which a service sends through it."""
        return {
            "WAYLINK_SMTP_HOST": "localhost",
            "WAYLINK_SMTP_PORT": str(self.port),
            "WAYLINK_SMTP_TLS": "none",
            "WAYLINK_SMTP_SENDER": "Waylink <links@shop.example>",
        }

    @property
    def counts(self) -> Counter[str]:
        """How many messages it took for each address."""
        return Counter(message["X-RcptTo"] for message in self.messages)

    def to(self, address: str) -> list[EmailMessage]:
        """The messages that it took for this address."""
        return [message for message in self.messages if message["X-RcptTo"] == address]

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]
    ) -> str:
        """Answer as the test says."""
        answer = self.to_address(address)
        if answer == TAKEN:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802
        """Take the message, if the test does not say otherwise."""
        [address] = envelope.rcpt_tos
        answer = self.to_message(address)
        if answer == TAKEN:
            assert isinstance(envelope.content, bytes)
            message: Any = message_from_bytes(envelope.content, policy=default)
            message["X-RcptTo"] = address
            self.messages.append(message)
        return answer


@contextmanager
def smtp_server(tls: ssl.SSLContext | None = None, password: str | None = None) -> Iterator[Mailbox]:
    """A mail server on this machine for the length of the block.

    With `tls` it offers STARTTLS, and needs it; with `password` it only lets in who has it.
    """
    mailbox = Mailbox(free_port())

    def authenticate(*arguments: Any) -> AuthResult:
        given = arguments[-1]
        is_right = isinstance(given, LoginPassword) and given.password == str(password).encode()
        return AuthResult(success=is_right, handled=False)  # so that the server answers

    controller = Controller(
        mailbox,
        hostname="localhost",
        port=mailbox.port,
        tls_context=tls,
        require_starttls=tls is not None,
        auth_required=password is not None,
        auth_require_tls=tls is not None,
        authenticator=authenticate,
    )
    controller.start()
    try:
        yield mailbox
    finally:
        controller.stop()
