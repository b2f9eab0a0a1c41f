"""One row of a file, in the columns of `waylink import csv`, wherever the file came from."""

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
    """A value of the other service's link that ours has no place for, and why."""

    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """What a row asks for: a link, whether it is enabled, and when it was made elsewhere."""

    new: NewLink
    is_enabled: bool = True
    created_at: datetime | None = None

    def with_state(self, link: Link) -> Link:
        """The new link in the state that it had elsewhere."""
        return replace(link, is_enabled=self.is_enabled, created_at=self.created_at or link.created_at)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the file: the line it ends at, its cells by column, and how often the same row came before."""

    line: int
    cells: dict[str, str]
    earlier: int
    left_out: tuple[LeftOut, ...] = ()

    @property
    def text(self) -> str:
        """The row in one form, whatever the order of the columns: the same text is the same link."""
        return json.dumps([self.cells, self.earlier], sort_keys=True)

    def parse(self) -> ImportedLink:
        """The link that the row asks for; raises RequestError as create-link's body does."""
        body = {name: _value(name, cell) for name, cell in self.cells.items() if name not in STATE_COLUMNS}
        return ImportedLink(parse_new_link(body), _is_enabled(self.cells), _created_at(self.cells))


class Repeats:
    """Counts equal rows, so that each is a link of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def earlier(self, cells: Mapping[str, str]) -> int:
        """How often these cells came before."""
        text = json.dumps(cells, sort_keys=True)
        self._seen[text] = self._seen.get(text, -1) + 1
        return self._seen[text]


def parse_flag(column: str, text: str) -> bool:
    """True or false, as spreadsheets and programs write them; raises InvalidField."""
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
