"""Limits of a link: from when until when it leads anywhere, and where it leads visitors who come too late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.field_rules import Rule, Schema, WebAddress, parse_string


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


LIMIT_TIMES = ("starts_at", "expires_at")
LIMIT_FIELDS: Mapping[str, Rule[Any]] = {
    **{name: LimitTime() for name in LIMIT_TIMES},
    "expired_url": WebAddress(),
}


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """The limits of a link; None where there is no such limit.

    It leads anywhere from `starts_at` on and before `expires_at`. Who comes later goes to `expired_url`, or
    gets the error page.
    """

    starts_at: datetime | None = None
    expires_at: datetime | None = None
    expired_url: str | None = None

    def is_before_start(self, now: datetime) -> bool:
        """Whether the link does not lead anywhere yet."""
        return self.starts_at is not None and now < self.starts_at

    def is_expired(self, now: datetime) -> bool:
        """Whether the link does not lead to its destination any more."""
        return self.expires_at is not None and now >= self.expires_at

    def changed(self, changes: Mapping[str, Any]) -> LinkLimits:
        """The limits with those of these changes that are about them. Raises InvalidField."""
        own = {name: value for name, value in changes.items() if name in _NAMES}
        if not own:
            return self
        limits = replace(self, **own)
        if limits.starts_at and limits.expires_at and limits.starts_at >= limits.expires_at:
            raise InvalidField("expires_at", "must be after starts_at")
        return limits if limits != NO_LIMITS else NO_LIMITS


_NAMES = frozenset(each.name for each in fields(LinkLimits))
# One object for all links without limits, so that redirects see that by a look at it.
NO_LIMITS = LinkLimits()
