"""A mail, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from backend.domain.ids import OrgId

LONGEST_ERROR = 500
# A mail that the server refuses for the time being is tried for the last time after so long.
RETRY_PERIOD = timedelta(days=2)
# The pauses between attempts. The last one is used again and again.
RETRY_PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60, 2 * 60, 4 * 60, 6 * 60))


class MailState(StrEnum):
    """How far a mail has come.

    `uncertain` is one whose text was on its way when the process or the connection ended: the mail server may
    have taken it, so it is not sent again.
    """

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    GIVEN_UP = "given_up"
    UNCERTAIN = "uncertain"


class SmtpStep(StrEnum):
    """The steps of sending a mail, in order."""

    WRITE = "write"
    CONNECT = "connect"
    TLS = "tls"
    SIGN_IN = "sign_in"
    SENDER = "sender"
    RECIPIENT = "recipient"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one address. `key` names it within its organization: of two with one key, one is sent.

    With `unsubscribe_url`, mail programs offer to unsubscribe by a request to that address (RFC 8058). It is
    not sent after `until`, when what it is about has ended, and one `to_member` not to who has left the
    organization. `about` is what has to be stored still, as COLLECTION/ID: a link that it has, for example.
    """

    org_id: OrgId
    key: str
    address: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    unsubscribe_url: str | None = field(default=None, repr=False)
    until: datetime | None = None
    to_member: bool = False
    about: str | None = None


@dataclass(frozen=True, slots=True)
class QueuedMail:
    """A mail that waits to be sent, with how often that was tried."""

    mail: Mail
    created_at: datetime
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class MailResult:
    """What the organization is told of a mail: its state, since when, and the last error."""

    state: MailState
    created_at: datetime
    ended_at: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FailedMail:
    """A mail that was not sent, or not yet: then it is tried again at `next_try_at`."""

    key: str
    address: str
    result: MailResult
    next_try_at: datetime | None


@dataclass(eq=False)
class MailFailure(Exception):
    """The mail was not sent, or it is not known whether it was.

    `is_final`: trying again does not help. `is_uncertain`: the mail server may have taken it.
    """

    step: SmtpStep
    error: str
    is_final: bool = False
    is_uncertain: bool = False

    def __str__(self) -> str:
        """A sentence that names the step and quotes the error."""
        return f"{_STEP_WORDS[self.step]}: {self.error}"[:LONGEST_ERROR]

    @property
    def refuses_address(self) -> bool:
        """Whether the mail server will never take mails to this address."""
        return self.is_final and self.step is SmtpStep.RECIPIENT


_STEP_WORDS = {
    SmtpStep.WRITE: "The mail can't be written",
    SmtpStep.CONNECT: "The mail server can't be reached",
    SmtpStep.TLS: "No encrypted connection to the mail server",
    SmtpStep.SIGN_IN: "The mail server refuses user and password",
    SmtpStep.SENDER: "The mail server refuses the sender",
    SmtpStep.RECIPIENT: "The mail server refuses the address",
    SmtpStep.MESSAGE: "The mail server refuses the message",
}


def next_try(queued: QueuedMail, now: datetime, chance: float) -> datetime | None:
    """When to try again after one more failure that may pass; None if it is given up.

    `chance` is a random number from 0 to 1, so that what failed together is not tried together.
    """
    if now >= queued.created_at + RETRY_PERIOD:
        return None
    pause = RETRY_PAUSES[min(queued.attempts, len(RETRY_PAUSES) - 1)]
    return min(now + pause * (1 + 0.2 * chance), queued.created_at + RETRY_PERIOD)
