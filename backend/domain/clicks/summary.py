"""Summaries: clicks of one organization and one day in UTC, added up because single ones are kept no longer.

Requests that are alike in all that analytics asks of them are one row with a weight: how many they are. Of
when they were, only the quarter of an hour is left, since days of all time zones begin at one. Who they were
of is left as pairs of a link and a visitor, so that visitors stay exact by link and whatever links have, but
by nothing else.

The same clicks in any order give the same bytes, and large days several summaries.
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

# Of a summary, and as many pairs.
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
BriefWhat = tuple[str, str | None, str, str, str]
# Link, quarter, what it was, country, referrer, variant.
Alike = tuple[LinkId, int, BriefWhat, str | None, str | None, str | None]
# The same as positions in the tables, and the weight.
_Row = tuple[int, ...]
_Pair = tuple[int, int]


class UnreadableSummary(ValueError):
    """Bytes that were stored as a summary can't be read as one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary to be stored: of which day, counted from 1970, and of how many requests."""

    day: int
    clicks: int
    packed: bytes


@dataclass(frozen=True, slots=True)
class SummaryColumns:
    """A summary's rows, one entry in each column for each, and the pairs of a link and a visitor's number.

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
        """What is alike of the requests of each row: all but the weight."""
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
        whats: list[BriefWhat] = [each[:5] for each in clicks.whats]
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
        known = zip(links, clicks.visitor, strict=True)
        self._visitors.update((link, visitor) for link, visitor in known if visitor is not None)

    def summaries(self, numbers: VisitorNumbers, most: int = MOST_ROWS) -> list[Summary]:
        """What was added, in as few summaries as have at most so many rows, and as many pairs, each."""
        links, _, *others = (set(each) for each in zip(*self._rows, strict=True))
        tables = [_ordered(each) for each in (links, *others)]
        of_link, *of_others = ({each: place for place, each in enumerate(table)} for table in tables)
        rows = sorted(
            (of_link[link], quarter, *(of[each] for of, each in zip(of_others, what, strict=True)), weight)
            for (link, quarter, *what), weight in self._rows.items()
        )
        pairs = sorted((of_link[link], numbers.of(hashed)) for link, hashed in self._visitors)
        found: list[Summary] = []
        for start in range(0, max(len(rows), len(pairs)), most):
            end = start + most
            found += _summaries(self._day, tables, rows[start:end], pairs[start:end])
        return found


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
    """The order of a table: what is not known comes first."""
    texts = value if isinstance(value, tuple) else (value,)
    return tuple((each is not None, each or "") for each in texts)


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
    """The columns as they are written, with those values in the tables that these rows and pairs have."""
    link, quarter, *others, weight = zip(*rows, strict=True) if rows else ((),) * 7
    visitor_link, visitor = zip(*pairs, strict=True) if pairs else ((), ())
    columns: dict[str, object] = {"day": day, "quarter": quarter, "weight": weight, "visitor": visitor}
    for name, table, column in zip(_TABLES, tables, (link, *others), strict=True):
        used = sorted({*column, *visitor_link} if name == "link" else {*column})
        places = {former: place for place, former in enumerate(used)}
        columns[f"{name}_table"] = [table[each] for each in used]
        columns[name] = [places[each] for each in column]
        if name == "link":
            columns["visitor_link"] = [places[each] for each in visitor_link]
    return columns


def _checked(columns: dict[str, Any]) -> SummaryColumns:
    """The columns, if every entry of theirs is what `DaySum` writes.

    Raises UnreadableColumns, ValueError, TypeError, KeyError.
    """
    tables = {name: [_text_or_what(name, each) for each in columns[f"{name}_table"]] for name in _TABLES}
    if any(_rank(before) >= _rank(after) for each in tables.values() for before, after in pairwise(each)):
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
    found = packed_columns.integers(column)
    if found and not lowest <= min(found) <= max(found) <= highest:
        raise UnreadableColumns("a number is out of its range")
    return found


def _text_or_what(name: str, value: Any) -> Any:
    if name != "what":
        return _known(value) if name == "link" else packed_columns.text(value)
    outcome, reason, *others = value
    platform, system, browser = (_known(each) for each in others)
    return Outcome(outcome).value, packed_columns.text(reason), platform, system, browser


def _known(value: Any) -> str:
    text = packed_columns.text(value)
    if text is None:
        raise UnreadableColumns("a table lacks a text")
    return text
