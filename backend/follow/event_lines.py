"""Events as lines: of a CSV file, or of JSON.

A line of JSON is the event as the REST API gives it. A CSV file has one table for all types: a column for
each field that is known when the file is begun, and `more`, with the other fields as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from backend.domain.feed.event_json import event_json
from backend.domain.feed.events import Event, EventType
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.fields.times.json_times import exact_time_json
from backend.follow.event_fields import fields_of, values_of

_MORE = "more"
_HEAD = ("id", "type", "at", "org_id")


class LineForm(StrEnum):
    """The form of lines."""

    CSV = "csv"
    NDJSON = "ndjson"


class Lines:
    """Writes events as lines of this form.

    `begun` is the first line of a file that is continued, whose columns stay as they are.
    """

    def __init__(self, form: LineForm, begun: str = "") -> None:
        self._form = form
        self._columns = begun.strip().split(",") if begun else [*_HEAD, *_data_columns(), _MORE]

    def head(self) -> str:
        """The line before the first event; empty for JSON."""
        return csv_line(self._columns) if self._form is LineForm.CSV else ""

    def lines(self, events: Iterable[Event]) -> str:
        """A line for each event."""
        write = self._csv if self._form is LineForm.CSV else _json
        return "".join(map(write, events))

    def _csv(self, event: Event) -> str:
        own_values = {
            "id": event.id,
            "type": event.type.value,
            "at": exact_time_json(event.at),
            "org_id": event.org_id,
        }
        known_values, other_values = values_of(event.type, event.data)
        values = known_values | own_values
        other_values |= {name: value for name, value in values.items() if name not in self._columns}
        cells = [_cell(values.get(name)) for name in self._columns[:-1]]
        return csv_line([*cells, as_json(other_values) if other_values else None])


def _json(event: Event) -> str:
    return as_json(event_json(event)) + "\n"


def as_json(value: object) -> str:
    """The value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return as_json(value)


def _data_columns() -> list[str]:
    """The fields of all types, each name once."""
    return list(dict.fromkeys(field.name for type_ in EventType for field in fields_of(type_)))
