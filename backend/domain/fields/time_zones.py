"""Time zones by their names."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string


class TimeZone:
    """The name of a time zone, as in the IANA's list."""

    def parse(self, field: str, value: object) -> ZoneInfo:
        """The time zone. Raises InvalidField."""
        name = parse_string(field, value)
        if name not in _zones():
            raise InvalidField(field, "must be the IANA name of a time zone, such as Europe/Berlin")
        return ZoneInfo(name)

    def schema(self) -> Schema:
        """JSON Schema of a name."""
        return {"type": "string", "maxLength": 100, "default": "UTC", "example": "Europe/Berlin"}


def known_zone(name: str) -> ZoneInfo | None:
    """The time zone of a stored name; None if this host has none of it, as hosts with older lists may."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # not there, no name of one, a folder of them
        return None


def zone_or_utc(name: str) -> ZoneInfo:
    """The time zone of a stored name; UTC if this host does not know it, which `zone_words` says."""
    return known_zone(name) or ZoneInfo("UTC")


def zone_words(name: str, otherwise: str = "UTC is used") -> str:
    """The name of a stored time zone, and what is done where this host does not know it."""
    return name if known_zone(name) else f"{name} (this host does not know it: {otherwise})"


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def place_names() -> list[str]:
    """The names of time zones of places, as Europe/Berlin, and UTC: what people choose among."""
    areas = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")
    return ["UTC", *sorted(name for name in _zones() if name.startswith(areas))]
