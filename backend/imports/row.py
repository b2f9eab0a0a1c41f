"""A row of an imported file in the columns of `waylink import csv`, whatever the file's own format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from backend.domain.errors import InvalidField
from backend.domain.link_input import CREATE_OPTIONAL, CREATE_REQUIRED, NewLink, parse_new_link
from backend.domain.links import Link

# What a link of another service has besides the fields of create-link.
STATE_COLUMNS = ("is_enabled", "created_time")
COLUMNS = (*CREATE_REQUIRED, *CREATE_OPTIONAL, *STATE_COLUMNS)
_NUMBERS = ("ios_behavior", "android_behavior")
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A value of the other service's link that a Waylink link can't hold, and why."""

    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """The link in a row: its fields, whether it is enabled, and when it was created in the other service."""

    new: NewLink
    is_enabled: bool = True
    created_at: datetime | None = None

    def with_state(self, link: Link) -> Link:
        """The link as it was in the other service: enabled or not, with its time of creation."""
        return replace(link, is_enabled=self.is_enabled, created_at=self.created_at or link.created_at)


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row of a file: the line it ends on, its cells by column, and how many equal rows came before it."""

    line: int
    cells: dict[str, str]
    earlier: int
    left_out: tuple[LeftOut, ...] = ()

    @property
    def text(self) -> str:
        """The row as text, in which the order of columns does not matter.

        Rows with the same text are the same link.
        """
        return json.dumps([self.cells, self.earlier], sort_keys=True)

    def parse(self) -> ImportedLink:
        """The link in this row. Raises RequestError, as the body of create-link does."""
        body = {name: _value(name, cell) for name, cell in self.cells.items() if name not in STATE_COLUMNS}
        return ImportedLink(parse_new_link(body), _is_enabled(self.cells), _created_at(self.cells))


class Repeats:
    """Counts equal rows: each of them is a link of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def earlier(self, cells: Mapping[str, str]) -> int:
        """How many rows with these cells were counted before. Counts this one too."""
        text = json.dumps(cells, sort_keys=True)
        self._seen[text] = self._seen.get(text, -1) + 1
        return self._seen[text]


def parse_flag(column: str, text: str) -> bool:
    """The boolean in the text, as spreadsheets or programs write it.

    Raises InvalidField that names `column`.
    """
    try:
        return _FLAGS[text.strip().lower()]
    except KeyError:
        raise InvalidField(column, "must be true or false") from None


def _is_enabled(cells: Mapping[str, str]) -> bool:
    return parse_flag("is_enabled", cells["is_enabled"]) if "is_enabled" in cells else True


def _created_at(cells: Mapping[str, str]) -> datetime | None:
    if "created_time" not in cells:
        return None
    try:
        moment = datetime.fromisoformat(cells["created_time"].strip())
        in_utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidField("created_time", "must be a date-time such as 2024-05-31T12:00:00Z") from None
    return in_utc.replace(microsecond=0)


def _value(name: str, cell: str) -> object:
    if name in _NUMBERS and cell.strip().isdecimal():
        return int(cell)
    return _json(cell) if name == "custom_data" else cell


def _json(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise InvalidField("custom_data", "must be a JSON object") from None
