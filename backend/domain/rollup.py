"""Counts clicks of blocks: for each link, and for the organization, by second and by what they were.

`Facts` gathers the clicks of several blocks of one organization. `by_link` and `of_organization` count them.
What they return is to be added to what is stored; storage/rollups does that.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import compress, count, islice, pairwise
from operator import add, ne
from typing import Any, TypeVar

from backend.domain.click_block import DAY_MS, Columns, What
from backend.domain.ids import LinkId

DAY_SECONDS = 24 * 3600
QUARTER_SECONDS = 15 * 60
# Into so many parts links are divided where their clicks are not counted by link at once.
PARTS = 64
# Values of one dimension that a day names; the rest are counted together, under OTHER.
MOST_VALUES = 500
# No host, country or browser has such a name: "%" stands in names only before two digits.
OTHER = "%other"
_NOT_KNOWN = "%none"
_UNSAFE = re.compile(r"[%.$\x00-\x1f\x7f]|^$")
_ESCAPE = re.compile(r"%([0-9a-f]{2})")

ValueT = TypeVar("ValueT", bound=Hashable)


class Dimension(StrEnum):
    """What the clicks of a day are counted by."""

    PLATFORM = "platform"
    SYSTEM = "system"
    BROWSER = "browser"
    COUNTRY = "country"
    REFERRER = "referrer"
    VARIANT = "variant"  # of those that a split decided
    OUTCOME = "outcome"  # of all requests, also those that don't count as clicks
    REASON = "reason"  # why requests don't count


# Those whose values come from outside.
BOUNDED = (Dimension.SYSTEM, Dimension.BROWSER, Dimension.COUNTRY, Dimension.REFERRER, Dimension.VARIANT)
# Names of dimensions where many are looked up: looking up a member of an enumeration takes far longer.
_COUNTRY, _REFERRER, _VARIANT, _REASON = (
    each.value for each in (Dimension.COUNTRY, Dimension.REFERRER, Dimension.VARIANT, Dimension.REASON)
)
# A dimension, and the name of a value.
DimensionValue = tuple[str, str]


def name_of(value: str | None) -> str:
    """The name under which this value is counted: MongoDB does not allow every text as a field's name."""
    if value is None:
        return _NOT_KNOWN
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02x}" if found[0] else "%", value)


def value_of(name: str) -> str | None:
    """The value that the field of this name counts.

    Names that no value has, such as OTHER, stay as they are.
    """
    if name == _NOT_KNOWN:
        return None
    return "" if name == "%" else _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name)


@dataclass(slots=True)
class DayTally:
    """The requests for one link, or of one organization, on one day in UTC.

    `seconds` has the second of the day of each click, in order; `values` counts requests by what they were:
    dimension -> name of the value -> count; `visitors` has the hashes of those who clicked.
    """

    seconds: Sequence[int]
    values: dict[str, dict[str, int]]
    visitors: set[int]


# By the number of the day, counted from 1970.
Tally = Mapping[int, DayTally]


def part_of(link_id: LinkId) -> int:
    """In which of PARTS parts the link is, each of which has about as many links."""
    return zlib.crc32(link_id.encode()) % PARTS


def only_of(columns: Columns, link_ids: Container[LinkId]) -> Columns:
    """What a block has of these links, maybe no click at all."""
    wanted = [each in link_ids for each in columns.links]
    is_theirs = [wanted[each] for each in columns.link]
    return replace(
        columns,
        at=list(compress(columns.at, is_theirs)),
        link=list(compress(columns.link, is_theirs)),
        what=list(compress(columns.what, is_theirs)),
        country=list(compress(columns.country, is_theirs)),
        referrer=list(compress(columns.referrer, is_theirs)),
        variant=list(compress(columns.variant, is_theirs)),
        visitor=list(compress(columns.visitor, is_theirs)),
    )


class Facts:
    """The clicks of several blocks, a column for each fact. Positions in columns refer to common tables."""

    def __init__(self) -> None:
        self.clicks = 0
        self._links: dict[LinkId, int] = {}
        self._whats: dict[What, int] = {}
        self._countries: dict[str | None, int] = {}
        self._referrers: dict[str | None, int] = {}
        self._variants: dict[str | None, int] = {}
        self._columns = _Columns()

    @property
    def links(self) -> int:
        """How many links the clicks are on."""
        return len(self._links)

    def add(self, block: Columns) -> None:
        """Add the clicks of a block."""
        columns = self._columns
        self.clicks += len(block.at)
        day = block.at[0] // DAY_MS
        start = day * DAY_SECONDS
        columns.day += [day] * len(block.at)
        columns.second += [at // 1000 - start for at in block.at]
        columns.link += _common(block.link, block.links, self._links)
        columns.what += _common(block.what, block.whats, self._whats)
        columns.country += _common(block.country, block.countries, self._countries)
        columns.referrer += _common(block.referrer, block.referrers, self._referrers)
        columns.variant += _common(block.variant, block.variants, self._variants)
        columns.visitor += block.visitor

    def by_link(self, links_at_once: Callable[[], int], after: str = "") -> Iterator[Mapping[LinkId, Tally]]:
        """The counts of each link, in the order of ids and so many links at a time.

        How many is asked for each time. Links with an id up to `after` are left out.
        """
        names = list(self._links)
        counting = self._counting(_ranks(names))
        rows = counting.rows
        most = links_at_once()
        tallies: dict[LinkId, dict[int, DayTally]] = {}
        for begin, end in counting.groups:
            if (name := names[rows.link[begin]]) <= after:
                continue
            if name not in tallies and len(tallies) >= most:
                yield tallies
                most, tallies = links_at_once(), {}
            tallies.setdefault(name, {})[rows.day[begin]] = counting.tally(begin, end)
        if tallies:
            yield tallies

    def by_part(self, after: str = "") -> Iterator[tuple[int, Columns]]:
        """The clicks of each day and part of the links, with the part's number (`part_of`).

        They are in the form of blocks. Links with an id up to `after` are left out.
        """
        links = list(self._links)
        counting = self._counting([part_of(each) if each > after else -1 for each in links])
        rows, whats = counting.rows, list(self._whats)
        countries, referrers, variants = map(list, (self._countries, self._referrers, self._variants))
        for begin, end in counting.groups:
            if (name := links[rows.link[begin]]) <= after:
                continue
            midnight = rows.day[begin] * DAY_SECONDS
            tables: dict[str, Any] = {}
            tables["links"], tables["link"] = _own_table(rows.link[begin:end], links)
            tables["whats"], tables["what"] = _own_table(rows.what[begin:end], whats)
            tables["countries"], tables["country"] = _own_table(rows.country[begin:end], countries)
            tables["referrers"], tables["referrer"] = _own_table(rows.referrer[begin:end], referrers)
            tables["variants"], tables["variant"] = _own_table(rows.variant[begin:end], variants)
            at = [(midnight + second) * 1000 for second in rows.second[begin:end]]
            yield part_of(name), Columns(**tables, at=at, visitor=rows.visitor[begin:end])

    def of_organization(self) -> Tally:
        """The counts of all links together."""
        counting = self._counting([0] * len(self._links))
        return {counting.rows.day[begin]: counting.tally(begin, end) for begin, end in counting.groups}

    def _counting(self, ranks: Sequence[int]) -> _Counting:
        """The rows by their links' ranks and by day, to be counted for each of these."""
        rows = self._columns
        first, last = min(rows.day), max(rows.day)
        begins = [rank * (last - first + 1) - first for rank in ranks]
        keys = list(map(add, map(begins.__getitem__, rows.link), rows.day))
        if len(set(keys)) > 1:
            order = sorted(range(len(keys)), key=keys.__getitem__)
            rows, keys = rows.in_order(order), [keys[number] for number in order]
        ends = [*compress(count(1), map(ne, islice(keys, 1, None), keys)), len(keys)]
        groups = list(pairwise([0, *ends]))
        return _Counting(
            rows,
            groups,
            whats=list(self._whats),
            countries=list(self._countries),
            referrers=list(self._referrers),
            variants=list(self._variants),
        )


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
    day: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)  # of the day
    link: list[int] = field(default_factory=list)
    what: list[int] = field(default_factory=list)
    country: list[int] = field(default_factory=list)
    referrer: list[int] = field(default_factory=list)
    variant: list[int] = field(default_factory=list)
    visitor: list[int | None] = field(default_factory=list)

    def in_order(self, numbers: Sequence[int]) -> _Columns:
        """The rows with these numbers."""
        return _Columns(
            [self.day[number] for number in numbers],
            [self.second[number] for number in numbers],
            [self.link[number] for number in numbers],
            [self.what[number] for number in numbers],
            [self.country[number] for number in numbers],
            [self.referrer[number] for number in numbers],
            [self.variant[number] for number in numbers],
            [self.visitor[number] for number in numbers],
        )


class _Counting:
    """Rows that are counted together stand together: `groups` says from where to where."""

    def __init__(
        self,
        rows: _Columns,
        groups: Sequence[tuple[int, int]],
        *,
        whats: Sequence[What],
        countries: Sequence[str | None],
        referrers: Sequence[str | None],
        variants: Sequence[str | None],
    ) -> None:
        self.rows = rows
        self.groups = groups
        self._is_counted = [what[1] is None for what in whats]
        self._values = list(map(_values, whats))
        self._countries = list(map(name_of, countries))
        self._referrers = list(map(name_of, referrers))
        self._variants = [None if each is None else name_of(each) for each in variants]
        self._has_variants = any(each is not None for each in variants)

    def tally(self, begin: int, end: int) -> DayTally:
        """The counts of these rows, which are of one day."""
        rows = self.rows
        whats, seconds, visitors = rows.what[begin:end], rows.second[begin:end], rows.visitor[begin:end]
        countries, referrers = rows.country[begin:end], rows.referrer[begin:end]
        values: dict[str, dict[str, int]] = {}
        for what, found in _counts(whats).items():
            for dimension, value in self._values[what]:
                of_dimension = values.setdefault(dimension, {})
                of_dimension[value] = of_dimension.get(value, 0) + found
        if self._has_variants and (found_variants := self._count_variants(begin, end)):
            values[_VARIANT] = found_variants
        if _REASON in values:
            is_counted = [self._is_counted[what] for what in whats]
            seconds, visitors = list(compress(seconds, is_counted)), list(compress(visitors, is_counted))
            countries, referrers = (
                list(compress(countries, is_counted)),
                list(compress(referrers, is_counted)),
            )
        if seconds:
            values[_COUNTRY] = {self._countries[each]: found for each, found in _counts(countries).items()}
            values[_REFERRER] = {self._referrers[each]: found for each, found in _counts(referrers).items()}
        return DayTally(sorted(seconds), values, {each for each in visitors if each is not None})

    def _count_variants(self, begin: int, end: int) -> dict[str, int]:
        """How often each variant got a click, of those that have one."""
        rows = self.rows
        pairs = zip(rows.variant[begin:end], rows.what[begin:end], strict=True)
        found = Counter(self._variants[variant] for variant, what in pairs if self._is_counted[what])
        return {name: count for name, count in found.items() if name is not None}


def _counts(column: Sequence[ValueT]) -> Mapping[ValueT, int]:
    """How often each value is there."""
    return {column[0]: 1} if len(column) == 1 else Counter(column)  # a Counter takes a microsecond to make


def _common(column: Sequence[int], table: Sequence[ValueT], common: dict[ValueT, int]) -> Iterable[int]:
    """The column with positions in the common table, which gets what it lacks."""
    places = [common.setdefault(each, len(common)) for each in table]
    return map(places.__getitem__, column)


def _own_table(column: Sequence[int], table: Sequence[ValueT]) -> tuple[list[ValueT], list[int]]:
    """A table of what these positions in the table refer to, and the positions in that one."""
    places = {place: at for at, place in enumerate(dict.fromkeys(column))}
    return [table[each] for each in places], list(map(places.__getitem__, column))


def _ranks(names: Sequence[str]) -> list[int]:
    """For each name, its place in alphabetical order."""
    ranks = [0] * len(names)
    for rank, place in enumerate(sorted(range(len(names)), key=names.__getitem__)):
        ranks[place] = rank
    return ranks


def _values(what: What) -> list[DimensionValue]:
    outcome, reason, platform, system, browser, _ = what
    if reason is not None:
        found = {Dimension.OUTCOME: outcome, Dimension.REASON: reason}
    else:
        found = {
            Dimension.OUTCOME: outcome,
            Dimension.PLATFORM: platform,
            Dimension.SYSTEM: system,
            Dimension.BROWSER: browser,
        }
    return [(dimension.value, name_of(value)) for dimension, value in found.items()]
