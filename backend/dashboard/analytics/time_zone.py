"""The time zone whose days a person sees: the address names it, else the browser does, else it is UTC."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from quart import request

from backend.dashboard.frame.form import field
from backend.domain.analytics.input import UTC_ZONE
from backend.domain.errors import InvalidField
from backend.domain.fields.time_zones import TimeZone

# Set by dashboard.js with the name of the browser's time zone.
COOKIE = "waylink_zone"
_RULE = TimeZone()


def zone_named(name: str) -> ZoneInfo | None:
    """The time zone of this name; None if there is none."""
    try:
        return _RULE.parse("zone", name)
    except InvalidField:
        return None


def zone_of_browser() -> ZoneInfo:
    """The time zone of the browser that sent the current request; UTC if it did not say."""
    return zone_named(request.cookies.get(COOKIE, "")) or UTC_ZONE


def zone_of_form(name: str) -> ZoneInfo:
    """The time zone of the times in the form that was sent, which has its name in this field.

    Without such a form, the browser's.
    """
    return (zone_named(field(name)) or UTC_ZONE) if field(name) else zone_of_browser()


def with_zone(text: str, zone: ZoneInfo) -> str:
    """A time that was typed into a form, with its zone; the text itself if it is no time."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone).isoformat()
    except (ValueError, OverflowError):
        return text


def time_in_words(at: datetime, zone: tzinfo) -> str:
    """A day and a time, as pages write them."""
    return f"{at.astimezone(zone):%-d %b %Y, %H:%M}"
