"""Time zones by their names."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

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


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def place_names() -> list[str]:
    """The names of time zones of places, as Europe/Berlin, and UTC: what people choose among."""
    areas = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")
    return ["UTC", *sorted(name for name in _zones() if name.startswith(areas))]
