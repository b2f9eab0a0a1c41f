"""Readers of reports, and mails that were not sent, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from backend.dashboard.analytics.time_zone import time_in_words
from backend.domain.fields.time_zones import zone_words
from backend.domain.mail.mail import FailedMail, MailResult, MailState
from backend.domain.reports.recipient import Frequency, Recipient, RecipientId, RecipientState
from backend.domain.reports.report import Report
from backend.mail.composing import CONFIRM_KEY, FIGURES_KEY, TRY_KEY
from backend.mail.member_mails import INVITATION_KEY, RESET_KEY
from backend.mail.numbers import language_name

FREQUENCIES = {Frequency.WEEKLY: "Every week", Frequency.MONTHLY: "Every month"}
_ON_ITS_WAY = "on its way"
# What a mail is, by the beginning of its key.
_KINDS = {
    FIGURES_KEY: "Figures of a report",
    CONFIRM_KEY: "Question about a report",
    TRY_KEY: "Figures, as a try",
    "alert/": "Alert",
    INVITATION_KEY: "Invitation of a member",
    RESET_KEY: "New password of a member",
}
_ENDS = {
    MailState.REFUSED: "It is not sent again.",
    MailState.GIVEN_UP: "It was tried for two days, and is not sent again.",
    MailState.UNCERTAIN: "It may have arrived, and is not sent again.",
}


@dataclass(frozen=True, slots=True)
class ShownReader:
    """A reader as the page shows them. `kind` is the colour of `state`, which `words` explain.

    `next` is when the next mail comes ("" if none does), and `last` what became of the last one, by the
    reader's clock.
    """

    id: RecipientId
    address: str
    report: Report
    frequency: str
    language: str
    zone: str
    kind: str
    state: str
    words: str
    next: str
    last: str
    last_error: str
    can_be_asked: bool


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A mail that was not sent. `end` says whether it is tried again."""

    time: str
    address: str
    what: str
    error: str
    end: str


def shown_reader(recipient: Recipient, report: Report, last: MailResult | None, now: datetime) -> ShownReader:
    """The reader in words."""
    kind, state, words = _state(recipient, report, now)
    gets_more = recipient.state is RecipientState.CONFIRMED and not report.is_over(now)
    return ShownReader(
        id=recipient.id,
        address=recipient.address,
        report=report,
        frequency=FREQUENCIES[recipient.frequency],
        language=language_name(recipient.language),
        zone=zone_words(recipient.timezone),
        kind=kind,
        state=state,
        words=words,
        next=time_in_words(recipient.next_at, recipient.zone) if gets_more and recipient.next_at else "",
        last=_last(last, recipient.zone),
        last_error=f"{last.error}." if last and last.error and last.error != recipient.error else "",
        can_be_asked=recipient.state is not RecipientState.CONFIRMED,
    )


def shown_failure(failed: FailedMail, zone: ZoneInfo) -> ShownFailure:
    """The mail in words, with times in this time zone."""
    result = failed.result
    end = _ENDS.get(result.state, "")
    if result.state is MailState.WAITING and failed.next_try_at:
        end = f"It is tried again on {time_in_words(failed.next_try_at, zone)}."
    return ShownFailure(
        time=time_in_words(result.ended_at or result.created_at, zone),
        address=failed.address,
        what=next((words for begin, words in _KINDS.items() if failed.key.startswith(begin)), "Mail"),
        error=_sentence(result.error or ""),
        end=end,
    )


def try_in_words(result: MailResult, address: str, zone: ZoneInfo) -> str:
    """What became of somebody's last try."""
    begin = f"Your try of {time_in_words(result.created_at, zone)} to {address}"
    match result.state:
        case MailState.SENT:
            return f"{begin} was taken by the mail server."
        case MailState.UNCERTAIN:
            return f"{begin} may have arrived. {_sentence(result.error or '')}"
        case MailState.REFUSED | MailState.GIVEN_UP:
            return f"{begin} was not sent. {_sentence(result.error or '')}"
    return f"{begin} waits. {_sentence(result.error)}" if result.error else f"{begin} is on its way."


def _state(recipient: Recipient, report: Report, now: datetime) -> tuple[str, str, str]:
    """The colour of the reader's state, its name, and what explains it."""
    match recipient.state:
        case RecipientState.REFUSED:
            return "bad", "Refused", _sentence(recipient.error or "The mail server refuses the address")
        case RecipientState.UNSUBSCRIBED:
            return "", "Unsubscribed", "Nothing is sent."
        case RecipientState.UNCONFIRMED:
            end = recipient.expires_at
            until = f"May say yes until {end.astimezone(recipient.zone):%-d %b %Y}." if end else ""
            return "warn", "Asked", until
    if recipient.error:
        return "bad", "Not made", _sentence(recipient.error)
    if report.is_over(now):
        return "bad", "Report closed", "Nothing is sent until the report has a later end."
    since = recipient.confirmed_at
    return "good", "Gets it", f"Said yes on {since.astimezone(recipient.zone):%-d %b %Y}." if since else ""


def _last(last: MailResult | None, zone: ZoneInfo) -> str:
    if last is None:
        return "none yet"
    at = time_in_words(last.ended_at or last.created_at, zone)
    words = {
        MailState.SENT: f"sent {at}",
        MailState.REFUSED: f"not sent, {at}",
        MailState.GIVEN_UP: f"not sent, {at}",
        MailState.UNCERTAIN: f"may be missing, {at}",
        MailState.WAITING: "waits, and is tried again" if last.error else _ON_ITS_WAY,
    }
    return words.get(last.state, _ON_ITS_WAY)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
