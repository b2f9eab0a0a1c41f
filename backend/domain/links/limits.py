"""Limits of a link: in which time, for how many clicks and with which password it leads anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from backend.domain.accounts.users import LONGEST_PASSWORD
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Rule, Schema, WebAddress, parse_string


class LimitTime:
    """A time in ISO 8601 with a zone. Links are limited to whole seconds."""

    def parse(self, field: str, value: object) -> datetime:
        """The time in UTC, without its fraction of a second. Raises InvalidField."""
        try:
            moment = datetime.fromisoformat(parse_string(field, value))
            if moment.tzinfo:
                return moment.astimezone(UTC).replace(microsecond=0)
        except (ValueError, OverflowError):
            pass
        raise InvalidField(field, "must be an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z")

    def schema(self) -> Schema:
        """JSON Schema of a date and time with a zone."""
        return {"type": "string", "format": "date-time"}


class ClickCount:
    """A number of clicks from 1."""

    _MOST = 10**9

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField, also for true and false, which Python takes for numbers."""
        if type(value) is not int or not 1 <= value <= self._MOST:
            raise InvalidField(field, f"must be a whole number from 1 to {self._MOST}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": 1, "maximum": self._MOST}


class LinkPassword:
    """A password that visitors are asked for. It is stored as its hash."""

    _SHORTEST = 4

    def parse(self, field: str, value: object) -> str:
        """The password, unchanged. Raises InvalidField."""
        text = parse_string(field, value)
        if not self._SHORTEST <= len(text) <= LONGEST_PASSWORD:
            rule = f"must have {self._SHORTEST} to {LONGEST_PASSWORD} characters"
            raise InvalidField(field, rule)
        return text

    def schema(self) -> Schema:
        """JSON Schema of a text that is never answered."""
        return {
            "type": "string",
            "minLength": self._SHORTEST,
            "maxLength": LONGEST_PASSWORD,
            "writeOnly": True,
        }


LIMIT_TIMES = ("starts_at", "expires_at")
# Other times can't be told in every time zone: some would be before the year 1, or after 9999.
_FIRST_YEAR, _LAST_YEAR = 1970, 9998
LIMIT_FIELDS: Mapping[str, Rule[Any]] = {
    **{name: LimitTime() for name in LIMIT_TIMES},
    "max_clicks": ClickCount(),
    "click_to_continue": Flag(),
    "expired_url": WebAddress(),
    "password": LinkPassword(),
}
# The limits that are stored. Of a password only the hash is stored.
_KEPT = frozenset({*LIMIT_FIELDS, "password_hash"} - {"password"})


class Obstacle(StrEnum):
    """Why a link's limits keep a visitor from its destination."""

    EXPIRED = "expired"
    NOT_STARTED = "not_started"
    PASSWORD = "password"  # noqa: S105 - the name of a reason
    CONTINUE = "continue"


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """The limits of a link; None where there is no such limit.

    The link leads anywhere from `starts_at` on, before `expires_at`, and for `max_clicks` clicks.
    `is_used_up` is set some time after all of these clicks were taken. Visitors who come too late go to
    `expired_url`, or get the error page if there is none. With `click_to_continue`, a click is taken by a
    button on a page, which programs that open every link of a mail do not press.
    """

    starts_at: datetime | None = None
    expires_at: datetime | None = None
    max_clicks: int | None = None
    expired_url: str | None = None
    password_hash: str | None = field(default=None, repr=False)
    is_used_up: bool = False
    click_to_continue: bool = False

    def is_before_start(self, now: datetime) -> bool:
        """Whether the link does not lead anywhere yet."""
        return self.starts_at is not None and now < self.starts_at

    def is_expired(self, now: datetime) -> bool:
        """Whether the link does not lead to its destination any more."""
        return self.is_used_up or (self.expires_at is not None and now >= self.expires_at)

    def obstacle(
        self, now: datetime, *, has_password: bool = False, has_continued: bool = False
    ) -> Obstacle | None:
        """What keeps a visitor from the destination at this time; None if nothing does.

        `has_password` says whether the visitor gave the link's password, which no program does either;
        `has_continued` whether the visitor pressed the page's button. Clicks are not counted here.
        """
        if self.is_expired(now):
            return Obstacle.EXPIRED
        if self.is_before_start(now):
            return Obstacle.NOT_STARTED
        if self.password_hash:
            return None if has_password else Obstacle.PASSWORD
        return Obstacle.CONTINUE if self.click_to_continue and not has_continued else None

    @property
    def asks_by_form(self) -> bool:
        """Whether visitors get a form first, while the link leads anywhere."""
        return self.password_hash is not None or self.click_to_continue

    @property
    def stays_in_browser(self) -> bool:
        """Whether apps are left out: the system would open them without asking the service."""
        return self.max_clicks is not None or self.password_hash is not None

    @property
    def by_name(self) -> dict[str, Any]:
        """The limits that are set, by name."""
        return {} if self is NO_LIMITS else {name: value for name, value in asdict(self).items() if value}

    def with_taken(self, clicks: int) -> LinkLimits:
        """The limits of a link of which so many clicks were taken."""
        is_used_up = self.max_clicks is not None and clicks >= self.max_clicks
        return self if is_used_up == self.is_used_up else replace(self, is_used_up=is_used_up)

    def changed(self, changes: Mapping[str, Any]) -> LinkLimits:
        """The limits after those of the changes that are about limits. Raises InvalidField."""
        limit_changes = {name: value for name, value in changes.items() if name in _KEPT}
        if not limit_changes:
            return self
        limits = replace(self, **limit_changes)
        limits = replace(limits, click_to_continue=bool(limits.click_to_continue))
        for name in LIMIT_TIMES:
            time = getattr(limits, name)
            if time and not _FIRST_YEAR <= time.year <= _LAST_YEAR:
                raise InvalidField(name, f"must be in the years from {_FIRST_YEAR} to {_LAST_YEAR}")
        if limits.starts_at and limits.expires_at and limits.starts_at >= limits.expires_at:
            raise InvalidField("expires_at", "must be after starts_at")
        if limits.max_clicks is None:
            if limit_changes.get("click_to_continue"):
                raise InvalidField("click_to_continue", "is for links with max_clicks")
            limits = replace(limits, is_used_up=False, click_to_continue=False)
        return limits if limits != NO_LIMITS else NO_LIMITS


# All links without limits share this object, so that redirects recognize it by its identity.
NO_LIMITS = LinkLimits()
