"""The fields of an annotation that its organization says, and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.analytics.period import EARLIEST, LATEST
from backend.domain.annotations.annotation import LONGEST_TEXT, NotedTime
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Instant, Rule, Schema, Text, Uuid, parse_string

_DAY_LENGTH = len("2026-03-02")


class DayOrTime:
    """A date, which means that whole day, or a time in ISO 8601 with a zone."""

    _RULE = Instant()

    def parse(self, field: str, value: object) -> NotedTime:
        """The day, or the time in UTC and whole seconds. Raises InvalidField."""
        text = parse_string(field, value)
        at = self._RULE.parse(field, text).replace(microsecond=0)
        if not EARLIEST <= at < LATEST:
            raise InvalidField(field, f"must be between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d}")
        return NotedTime(at, is_of_day=len(text) == _DAY_LENGTH)

    def schema(self) -> Schema:
        """JSON Schema of a date or time."""
        return self._RULE.schema()


ANNOTATION_FIELDS: Mapping[str, Rule[Any]] = {
    "at": DayOrTime(),
    "text": Text(LONGEST_TEXT, shown=True),
    "link_id": Uuid(),
}
ANNOTATION_REQUIRED = ("at", "text")
# What may be null or empty: a note of no link.
ANNOTATION_CLEARABLE = frozenset({"link_id"})
