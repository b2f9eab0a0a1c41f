"""Summaries: clicks of one organization and one day in UTC, added up because single ones are kept no longer.

Requests that are alike in everything that analytics asks of them become one row, whose weight is their
number. Of their times only the quarter of an hour is kept, since the days of all time zones begin at one.
Their visitors are kept as pairs of a link and a visitor. So numbers of visitors stay exact by link and by the
fields of links, but by nothing else.

The same clicks give the same bytes in any order. A day of many clicks has several summaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from backend.domain.clicks import block as click_block
from backend.domain.clicks import packed_columns
from backend.domain.clicks.block import DAY_MS
from backend.domain.clicks.packed_columns import UnreadableColumns, columns_in, text_in
from backend.domain.clicks.visitor_numbers import HIGHEST_NUMBER, VisitorNumbers
from backend.domain.ids import LinkId
from backend.domain.links.destinations.destination import Outcome

# The most rows of a summary. It may have as many pairs.
MOST_ROWS = 50_000
HIGHEST_WEIGHT = 2**32 - 1
QUARTER_MS = 15 * 60 * 1000
_QUARTERS = DAY_MS // QUARTER_MS
_COLUMNS = b"\x81"  # the format, before the compressed columns; no block begins so
_LEVEL = 6  # of zlib
_LARGEST = 16_000_000  # bytes of a summary when it is not compressed
_LATEST_DAY = 2_932_896  # the end of the year 9999
_TABLES = ("link", "what", "country", "referrer", "variant")

# Outcome, reason, platform, system, browser.
BriefWhat = tuple[str, str | None, str, str | None, str | None]
# Link, quarter, what it was, country, referrer, variant.
Alike = tuple[LinkId, int, BriefWhat, str | None, str | None, str | None]
# The same as positions in the tables, and the weight.
_Row = tuple[int, ...]
_Pair = tuple[int, int]


class UnreadableSummary(ValueError):
    """Bytes that were stored as a summary can't be read as one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary to be stored. `day` counts from 1970, and `clicks` is the number of requests."""

    day: int
    clicks: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class SummaryColumns:
    """A summary's rows as columns, and its pairs of a link and a visitor's number.

    `link`, `what`, `country`, `referrer`, `variant` and `visitor_link` are positions in the table named after
    them, the last in that of links. `quarter` counts from the beginning of the day.
    """

    day: int
    links: Sequence[LinkId]
    whats: Sequence[BriefWhat]
    countries: Sequence[str | None]
    referrers: Sequence[str | None]
    variants: Sequence[str | None]
    link: Sequence[int]
    quarter: Sequence[int]
    what: Sequence[int]
    country: Sequence[int]
    referrer: Sequence[int]
    variant: Sequence[int]
    weight: Sequence[int]
    visitor_link: Sequence[int]
    visitor: Sequence[int]

    @property
    def alike(self) -> Iterator[tuple[int, ...]]:
        """What the requests of each row have in common: all columns of rows but the weight."""
        return zip(self.link, self.quarter, self.what, self.country, self.referrer, self.variant, strict=True)

    @property
    def clicks(self) -> int:
        """How many requests it has."""
        return sum(self.weight)


class DaySum:
    """Clicks of one day while they are added up."""

    def __init__(self, day: int) -> None:
        """`day` is counted from 1970, in UTC."""
        self._day = day
        self._rows: Counter[Alike] = Counter()
        self._visitors: set[tuple[LinkId, int]] = set()

    def add(self, clicks: click_block.Columns) -> None:
        """Add the clicks of a block of this day."""
        begin = self._day * DAY_MS
        assert begin <= min(clicks.at) <= max(clicks.at) < begin + DAY_MS
        whats: list[BriefWhat] = [what[:5] for what in clicks.whats]
        links = list(map(clicks.links.__getitem__, clicks.link))
        rows = zip(
            links,
            [(at - begin) // QUARTER_MS for at in clicks.at],
            map(whats.__getitem__, clicks.what),
            map(clicks.countries.__getitem__, clicks.country),
            map(clicks.referrers.__getitem__, clicks.referrer),
            map(clicks.variants.__getitem__, clicks.variant),
            strict=True,
        )
        self._rows.update(rows)
        link_visitors = zip(links, clicks.visitor, strict=True)
        self._visitors.update((link, visitor) for link, visitor in link_visitors if visitor is not None)

    def summaries(self, numbers: VisitorNumbers, most: int = MOST_ROWS) -> list[Summary]:
        """The added clicks in as few summaries as possible, each of at most `most` rows and `most` pairs."""
        links, _, *others = (set(column) for column in zip(*self._rows, strict=True))
        tables = [_ordered(values) for values in (links, *others)]
        of_link, *of_others = ({value: place for place, value in enumerate(table)} for table in tables)
        rows = sorted(
            (of_link[link], quarter, *(of[value] for of, value in zip(of_others, what, strict=True)), weight)
            for (link, quarter, *what), weight in self._rows.items()
        )
        pairs = sorted((of_link[link], numbers.of(hashed)) for link, hashed in self._visitors)
        summaries: list[Summary] = []
        for start in range(0, max(len(rows), len(pairs)), most):
            end = start + most
            summaries += _summaries(self._day, tables, rows[start:end], pairs[start:end])
        return summaries


def unpack(packed: bytes) -> SummaryColumns:
    """The columns of a summary. Raises UnreadableSummary."""
    try:
        return columns_in(text_in(packed, _COLUMNS, _LARGEST), _checked)
    except UnreadableColumns as error:
        raise UnreadableSummary(str(error)) from None


def json_of(packed: bytes) -> str:
    """The columns of a summary as JSON, once each entry is checked. Raises UnreadableSummary."""
    try:
        text = text_in(packed, _COLUMNS, _LARGEST)
        columns_in(text, _checked)
    except UnreadableColumns as error:
        raise UnreadableSummary(str(error)) from None
    return text.decode("ascii")


def _ordered(values: Iterable[Any]) -> list[Any]:
    return sorted(values, key=_rank)


def _rank(value: Any) -> tuple[tuple[bool, str], ...]:
    """What the values of a table are sorted by: None comes first."""
    texts = value if isinstance(value, tuple) else (value,)
    return tuple((text is not None, text or "") for text in texts)


def _summaries(
    day: int, tables: Sequence[Sequence[Any]], rows: Sequence[_Row], pairs: Sequence[_Pair]
) -> list[Summary]:
    """A summary of these rows and pairs, or more where their texts are too long for one."""
    text = packed_columns.text_of(_columns_of(day, tables, rows, pairs))
    if len(text) <= _LARGEST:
        clicks = sum(weight for *_, weight in rows)
        return [Summary(day, clicks, packed_columns.packed(_COLUMNS, text, _LEVEL))]
    row, pair = len(rows) // 2, len(pairs) // 2
    first = _summaries(day, tables, rows[:row], pairs[:pair])
    return first + _summaries(day, tables, rows[row:], pairs[pair:])


def _columns_of(
    day: int, tables: Sequence[Sequence[Any]], rows: Sequence[_Row], pairs: Sequence[_Pair]
) -> dict[str, object]:
    """The columns as they are written. Their tables have only the values that these rows and pairs use."""
    link, quarter, *others, weight = zip(*rows, strict=True) if rows else ((),) * 7
    visitor_link, visitor = zip(*pairs, strict=True) if pairs else ((), ())
    columns: dict[str, object] = {"day": day, "quarter": quarter, "weight": weight, "visitor": visitor}
    for name, table, column in zip(_TABLES, tables, (link, *others), strict=True):
        used = sorted({*column, *visitor_link} if name == "link" else {*column})
        places = {former: place for place, former in enumerate(used)}
        columns[f"{name}_table"] = [table[former] for former in used]
        columns[name] = [places[former] for former in column]
        if name == "link":
            columns["visitor_link"] = [places[former] for former in visitor_link]
    return columns


def _checked(columns: dict[str, Any]) -> SummaryColumns:
    """The columns, if `DaySum` could have written every entry.

    Raises UnreadableColumns, ValueError, TypeError, KeyError.
    """
    tables = {name: [_text_or_what(name, value) for value in columns[f"{name}_table"]] for name in _TABLES}
    if any(_rank(before) >= _rank(after) for table in tables.values() for before, after in pairwise(table)):
        raise UnreadableColumns("a table is not in its order")
    rows, pairs = len(columns["weight"]), len(columns["visitor"])
    link, what, country, referrer, variant = (
        packed_columns.positions(columns[name], tables[name], rows) for name in _TABLES
    )
    [day] = _within([columns["day"]], 0, _LATEST_DAY)
    checked = SummaryColumns(
        day=day,
        links=tables["link"],
        whats=tables["what"],
        countries=tables["country"],
        referrers=tables["referrer"],
        variants=tables["variant"],
        link=link,
        quarter=_within(columns["quarter"], 0, _QUARTERS - 1),
        what=what,
        country=country,
        referrer=referrer,
        variant=variant,
        weight=_within(columns["weight"], 1, HIGHEST_WEIGHT),
        visitor_link=packed_columns.positions(columns["visitor_link"], tables["link"], pairs),
        visitor=_within(columns["visitor"], 0, HIGHEST_NUMBER),
    )
    if not 0 < max(rows, pairs) <= MOST_ROWS:
        raise UnreadableColumns("it has no rows, or more than a summary has")
    _check_order(checked.alike)
    _check_order(zip(checked.visitor_link, checked.visitor, strict=True))
    return checked


def _check_order(rows: Iterable[tuple[int, ...]]) -> None:
    if any(before >= after for before, after in pairwise(rows)):
        raise UnreadableColumns("rows are not in their order, or there twice")


def _within(column: Any, lowest: int, highest: int) -> list[int]:
    numbers = packed_columns.integers(column)
    if numbers and not lowest <= min(numbers) <= max(numbers) <= highest:
        raise UnreadableColumns("a number is out of its range")
    return numbers


def _text_or_what(name: str, value: Any) -> Any:
    if name != "what":
        return _required_text(value) if name == "link" else packed_columns.text(value)
    outcome, reason, *others = value
    platform, system, browser = others
    texts = _required_text(platform), packed_columns.text(system), packed_columns.text(browser)
    return Outcome(outcome).value, packed_columns.text(reason), *texts


def _required_text(value: Any) -> str:
    text = packed_columns.text(value)
    if text is None:
        raise UnreadableColumns("a table lacks a text")
    return text
