"""Single clicks as rows of a CSV file or as lines of JSON.

A block is written whole: what repeats in its tables is put into text once, so that a row costs little more
than putting pieces together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from backend.domain.clicks.block import DAY_MS, Columns, moment
from backend.domain.fields.spreadsheets import csv_cell
from backend.domain.ids import LinkId

COLUMNS = (
    "time",
    "link_id",
    "short_url",
    "counted",
    "reason",
    "outcome",
    "platform",
    "system",
    "browser",
    "client_kind",
    "country",
    "referrer_host",
    "variant",
)
_LINK = COLUMNS[1:3]
_WHAT = COLUMNS[3:10]
_Value = str | bool | None


class RowFormat(StrEnum):
    """The form of a file of rows."""

    CSV = "csv"
    NDJSON = "ndjson"
    PARQUET = "parquet"  # which the process that answers questions writes (storage/analytics/files)

    @property
    def media_type(self) -> str:
        """The media type of a file in this form."""
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    RowFormat.CSV: "text/csv; charset=utf-8",
    RowFormat.NDJSON: "application/x-ndjson",
    RowFormat.PARQUET: "application/vnd.apache.parquet",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The clicks from `start`, which is included, to `end`, which is not; of one link, or of all."""

    start: datetime
    end: datetime
    link_id: LinkId | None = None


def head(form: RowFormat) -> str:
    """The line of column names before the rows of a CSV file; "" in other forms."""
    return ",".join(COLUMNS) + "\r\n" if form is RowFormat.CSV else ""


def rows(
    columns: Columns, selection: Selection, short_urls: Mapping[LinkId, str], form: RowFormat
) -> list[str]:
    """The clicks of a block that are selected, in the order of their times.

    `short_urls` has those of the links that still exist.
    """
    write = _cells if form is RowFormat.CSV else _members
    links = [write(_LINK, (link_id, short_urls.get(link_id))) for link_id in columns.links]
    whats = [
        write(_WHAT, (reason is None, reason, outcome, *others)) for outcome, reason, *others in columns.whats
    ]
    countries = [write(("country",), (code,)) for code in columns.countries]
    referrers = [write(("referrer_host",), (host,)) for host in columns.referrers]
    variants = [write(("variant",), (name,)) for name in columns.variants]
    begin, end = ("", "\r\n") if form is RowFormat.CSV else ('{"time":"', "}\n")
    after_time = "," if form is RowFormat.CSV else '",'
    at, link, what = columns.at, columns.link, columns.what
    country, referrer, variant = columns.country, columns.referrer, columns.variant
    day = f"{begin}{moment(at[0]):%Y-%m-%d}T"
    return [
        f"{day}{_time(at[row] % DAY_MS // 1000)}.{at[row] % 1000:03d}Z{after_time}{links[link[row]]},"
        f"{whats[what[row]]},{countries[country[row]]},{referrers[referrer[row]]},"
        f"{variants[variant[row]]}{end}"
        for row in _selected(columns, selection)
    ]


def _selected(columns: Columns, selection: Selection) -> Sequence[int]:
    """The numbers of the rows that are selected, in the order of their times."""
    at = columns.at
    start, end = milliseconds_from(selection.start), milliseconds_from(selection.end)
    is_link = [selection.link_id in {None, link_id} for link_id in columns.links]
    selected = [
        row
        for row, (time, link) in enumerate(zip(at, columns.link, strict=True))
        if start <= time < end and is_link[link]
    ]
    return sorted(selected, key=at.__getitem__)


def milliseconds_from(at: datetime) -> int:
    """The milliseconds from 1970 to this time, rounded up, since clicks have whole milliseconds."""
    past = at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return -(-(past.days * DAY_MS * 1000 + past.seconds * 1_000_000 + past.microseconds) // 1000)


@lru_cache(maxsize=DAY_MS // 1000)
def _time(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def _cells(_: Sequence[str], values: Sequence[_Value]) -> str:
    return ",".join(map(_cell, values))


def _cell(value: _Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return csv_cell(value or "")


def _members(names: Sequence[str], values: Sequence[_Value]) -> str:
    return json.dumps(dict(zip(names, values, strict=True)), separators=(",", ":"))[1:-1]
