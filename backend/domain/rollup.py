"""Counts clicks of blocks: for each link, and for the organization, by second and by what they were.

`Facts` gathers the clicks of several blocks of one organization. `by_link` and `of_organization` count them.
What they return is to be added to what is stored; storage/rollups does that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import compress
from typing import TypeVar

from backend.domain.click_block import Columns, What
from backend.domain.ids import LinkId

DAY_SECONDS = 24 * 3600
QUARTER_SECONDS = 15 * 60
# Values of one dimension that a day names; the rest are counted together, under OTHER.
MOST_VALUES = 500
# No host, country or browser has such a name: "%" stands in names only before two digits (see
# storage/rollups).
OTHER = "%other"

ValueT = TypeVar("ValueT")


class Dimension(StrEnum):
    """What the clicks of a day are counted by."""

    PLATFORM = "platform"
    SYSTEM = "system"
    BROWSER = "browser"
    COUNTRY = "country"
    REFERRER = "referrer"
    OUTCOME = "outcome"  # of all requests, also those that don't count as clicks
    REASON = "reason"  # why requests don't count


# Those whose values come from outside.
BOUNDED = (Dimension.SYSTEM, Dimension.BROWSER, Dimension.COUNTRY, Dimension.REFERRER)
Value = tuple[Dimension, str | None]


@dataclass(slots=True)
class DayTally:
    """The requests for one link, or of one organization, on one day in UTC.

    `seconds` counts clicks by second of the day; `values` counts requests by what they were; `visitors` has
    the hashes of those who clicked.
    """

    seconds: Counter[int] = field(default_factory=Counter)
    values: Counter[Value] = field(default_factory=Counter)
    visitors: set[int] = field(default_factory=set)


# By the number of the day, counted from 1970.
Tally = Mapping[int, DayTally]


class Facts:
    """The clicks of several blocks, a column for each fact. Positions in columns refer to common tables."""

    def __init__(self) -> None:
        self.clicks = 0
        self._links: dict[LinkId, int] = {}
        self._whats: dict[What, int] = {}
        self._countries: dict[str | None, int] = {}
        self._referrers: dict[str | None, int] = {}
        self._columns = _Columns()

    @property
    def links(self) -> int:
        """How many links the clicks are on."""
        return len(self._links)

    def add(self, block: Columns) -> None:
        """Add the clicks of a block."""
        columns = self._columns
        self.clicks += len(block.at)
        columns.second += [at // 1000 for at in block.at]
        columns.link += _common(block.link, block.links, self._links)
        columns.what += _common(block.what, block.whats, self._whats)
        columns.country += _common(block.country, block.countries, self._countries)
        columns.referrer += _common(block.referrer, block.referrers, self._referrers)
        columns.visitor += block.visitor

    def by_link(self, links_at_once: int, after: str = "") -> Iterator[Mapping[LinkId, Tally]]:
        """The counts of each link, in the order of ids and that many links at a time.

        Links with an id up to `after` are left out.
        """
        names = list(self._links)
        ranks = _ranks(names)
        link = self._columns.link
        order = sorted(range(len(link)), key=list(map(ranks.__getitem__, link)).__getitem__)
        begin = next((at for at, row in enumerate(order) if names[link[row]] > after), len(order))
        while begin < len(order):
            end, found = begin, 0
            while end < len(order):
                found += end == begin or link[order[end]] != link[order[end - 1]]
                if found > links_at_once:
                    break
                end += 1
            tallies = self._count(self._columns.rows(order[begin:end]))
            yield {names[each]: tallies[each] for each in sorted(tallies, key=names.__getitem__)}
            begin = end

    def of_organization(self) -> Tally:
        """The counts of all links together."""
        return self._count(replace(self._columns, link=[0] * self.clicks))[0]

    def _count(self, rows: _Columns) -> dict[int, dict[int, DayTally]]:
        """The counts of each link in these rows, by its position in the table."""
        tallies: dict[int, dict[int, DayTally]] = defaultdict(lambda: defaultdict(DayTally))
        whats = list(self._whats)
        days = [second // DAY_SECONDS for second in rows.second]
        for (link, day, what), count in Counter(zip(rows.link, days, rows.what, strict=True)).items():
            values = tallies[link][day].values
            for value in _values(whats[what]):
                values[value] += count
        is_counted = [what[1] is None for what in whats]
        counted = [is_counted[what] for what in rows.what]
        for second, count in Counter(compress(zip(rows.link, rows.second, strict=True), counted)).items():
            day, rest = divmod(second[1], DAY_SECONDS)
            tallies[second[0]][day].seconds[rest] += count
        for dimension, column, names in (
            (Dimension.COUNTRY, rows.country, list(self._countries)),
            (Dimension.REFERRER, rows.referrer, list(self._referrers)),
        ):
            found = Counter(compress(zip(rows.link, days, column, strict=True), counted))
            for (link, day, name), count in found.items():
                tallies[link][day].values[dimension, names[name]] += count
        for link, day, visitor in set(compress(zip(rows.link, days, rows.visitor, strict=True), counted)):
            if visitor is not None:
                tallies[link][day].visitors.add(visitor)
        return tallies


def bounded(stored: Mapping[str, int], added: Mapping[str, int], most: int = MOST_VALUES) -> dict[str, int]:
    """The sum of both, with at most so many names besides OTHER. The sum of all counts is kept.

    Where there are too many, the smallest are counted as OTHER. What is stored wins over what is new only if
    it is larger: so names that strangers make up, each of which comes once, can't keep those out that come
    often.
    """
    total = Counter(stored)
    total.update(added)
    other = total.pop(OTHER, 0)
    kept = total
    if len(total) > most:
        largest = sorted(total, key=lambda name: (-total[name], name not in added, name))[:most]
        kept = Counter({name: total[name] for name in largest})
        other += total.total() - kept.total()
    return dict(kept) | ({OTHER: other} if other else {})


@dataclass(slots=True)
class _Columns:
    link: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    what: list[int] = field(default_factory=list)
    country: list[int] = field(default_factory=list)
    referrer: list[int] = field(default_factory=list)
    visitor: list[int | None] = field(default_factory=list)

    def rows(self, numbers: Sequence[int]) -> _Columns:
        return _Columns(
            [self.link[number] for number in numbers],
            [self.second[number] for number in numbers],
            [self.what[number] for number in numbers],
            [self.country[number] for number in numbers],
            [self.referrer[number] for number in numbers],
            [self.visitor[number] for number in numbers],
        )


def _common(column: Sequence[int], table: Sequence[ValueT], common: dict[ValueT, int]) -> Iterable[int]:
    """The column with positions in the common table, which gets what it lacks."""
    places = [common.setdefault(each, len(common)) for each in table]
    return map(places.__getitem__, column)


def _ranks(names: Sequence[str]) -> list[int]:
    """For each name, its place in alphabetical order."""
    ranks = [0] * len(names)
    for rank, place in enumerate(sorted(range(len(names)), key=names.__getitem__)):
        ranks[place] = rank
    return ranks


def _values(what: What) -> list[Value]:
    outcome, reason, platform, system, browser, _ = what
    if reason is not None:
        return [(Dimension.OUTCOME, outcome), (Dimension.REASON, reason)]
    return [
        (Dimension.OUTCOME, outcome),
        (Dimension.PLATFORM, platform),
        (Dimension.SYSTEM, system),
        (Dimension.BROWSER, browser),
    ]
