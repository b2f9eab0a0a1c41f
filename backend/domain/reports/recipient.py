"""Recipients of a report: people who get its figures by mail, with or without an account."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, NewType, TypedDict
from zoneinfo import ZoneInfo

from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import QueryPeriod
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.rules import Rule, Uuid, Word
from backend.domain.fields.shapes import TimeText, UuidText, json_of
from backend.domain.fields.time_zones import TimeZone, zone_or_utc
from backend.domain.ids import OrgId, ReportId
from backend.domain.mail.language import Language
from backend.domain.mail.mail import MailResult, MailState

RecipientId = NewType("RecipientId", str)
# Of an organization. Two that are made at the same moment may exceed it.
MOST_RECIPIENTS = 500
# How long somebody may confirm.
CONFIRMED_WITHIN = timedelta(days=7)
# Mails that ask an address to confirm: of all organizations in a day; of one organization while the mails are
# remembered (a hundred days) and nobody confirms; and of one organization in a day to whomever.
ASKED_A_DAY, ASKED_IN_VAIN, ASKED_BY_ORGANIZATION_A_DAY = 3, 5, 100
# Mails that somebody who is signed in may send to themselves in a day, to see what readers get.
TRIES_A_DAY = 20
# The hour of the reader's day at which figures are sent: then the day before is told whole.
_HOUR = 7


class Frequency(StrEnum):
    """How often figures are sent, and of which time they are."""

    WEEKLY = "weekly"
    MONTHLY = "monthly"


class RecipientState(StrEnum):
    """Whether a recipient gets mails. `refused`: the mail server refuses the address for good."""

    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    UNSUBSCRIBED = "unsubscribed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody who gets a report's figures once they have confirmed.

    Whoever has `token` may unsubscribe. `code`, which only the mail that asks to confirm has, confirms until
    `expires_at`. The next mail is due at `next_at`. `error` is why the mail server refuses the address, or
    why the figures could not be made last.
    """

    id: RecipientId
    org_id: OrgId
    report_id: ReportId
    address: str
    frequency: Frequency
    language: Language
    timezone: str
    created_at: datetime
    token: str = field(repr=False)
    state: RecipientState = RecipientState.UNCONFIRMED
    code: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None
    confirmed_at: datetime | None = None
    next_at: datetime | None = None
    error: str | None = None

    @property
    def zone(self) -> ZoneInfo:
        """The time zone whose weeks and months count; UTC where this host does not know it."""
        return zone_or_utc(self.timezone)

    def period_at(self, now: datetime) -> QueryPeriod:
        """The last whole week, from Monday on, or month."""
        weekly = self.frequency is Frequency.WEEKLY
        return (MovingPeriod.LAST_WEEK if weekly else MovingPeriod.LAST_MONTH).at(now, self.zone)

    def next_after(self, now: datetime) -> datetime:
        """When the next mail is due: in the morning after a whole week or month."""
        today = now.astimezone(self.zone).date()
        due = self._first_day(today)
        while (at := datetime(due.year, due.month, due.day, _HOUR, tzinfo=self.zone)) <= now:
            due = self._first_day(due + timedelta(days=32 if self.frequency is Frequency.MONTHLY else 7))
        return at.astimezone(UTC)

    def _first_day(self, day: date) -> date:
        """The first day of the week or month that has this day."""
        if self.frequency is Frequency.MONTHLY:
            return day.replace(day=1)
        return day - timedelta(days=day.weekday())


RECIPIENT_FIELDS: dict[str, Rule[Any]] = {
    "report_id": Uuid(),
    "address": EmailAddress(),
    "frequency": Word(Frequency),
    "language": Word(Language),
    "timezone": TimeZone(),
}
RECIPIENT_REQUIRED = ("report_id", "address", "frequency")
# What can be changed of who has confirmed, without asking them again.
RECIPIENT_SETTINGS = {name: RECIPIENT_FIELDS[name] for name in ("frequency", "language", "timezone")}
RECIPIENT_DEFAULTS: Mapping[str, Any] = {"language": Language.EN, "timezone": ZoneInfo("UTC")}
_LINK_LIKE = re.compile(r"[./:@\\\s]+")


def check_asked_for(before: Recipient, changes: Mapping[str, Any]) -> None:
    """Raise InvalidField for changes by others that bring a reader more mails than they said yes to."""
    is_oftener = before.frequency is Frequency.MONTHLY and changes.get("frequency") is Frequency.WEEKLY
    if is_oftener and before.state is RecipientState.CONFIRMED:
        raise InvalidField(
            "frequency",
            "can be made weekly by the reader only, who said yes to monthly mails, by the link in each mail",
        )


def unlinked(name: str) -> str:
    """A name of an organization or report without what mail programs take for a link.

    It stands in mails to people who did not ask for any.
    """
    return _LINK_LIKE.sub(" ", name).strip()


class _LastMailJson(TypedDict):
    """What became of a mail."""

    state: MailState
    at: TimeText
    error: str | None


class RecipientJson(TypedDict):
    """Who gets the figures of a report by mail."""

    id: UuidText
    report_id: UuidText
    address: str
    frequency: Frequency
    language: str
    timezone: str
    state: RecipientState
    created_at: TimeText
    confirmed_at: TimeText | None
    next_at: Annotated[TimeText | None, "When the next mail is due; null: never."]
    error: Annotated[str | None, "Why the mail server refuses the address, or the figures could not be made."]
    last_mail: Annotated[
        _LastMailJson | None,
        "What became of the last mail, that to confirm included; null: none within a hundred days.",
    ]


def recipient_json(recipient: Recipient, mail: MailResult | None) -> RecipientJson:
    """The recipient, as the organization sees it, with what became of the last mail, if there was one."""
    last = (
        {"state": mail.state, "at": mail.ended_at or mail.created_at, "error": mail.error} if mail else None
    )
    return json_of(RecipientJson, recipient, last_mail=last)
