"""Finds spikes and drops in clicks by the hour (decisions, "alerts").

An hour is compared with the same hours of the weeks before it, so that neither the rhythm of the day nor that
of the week is an alert.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import accumulate
from statistics import median

HOUR = timedelta(hours=1)
WEEK_HOURS = 168
WEEKS = 4
# How many weeks of history a drop needs. A campaign that fades in its first week has not dropped.
_WEEKS_FOR_DROP = 2
# Hours without a hit after which what went on is over.
QUIET_HOURS = 3
# How far above the usual clicks a spike is, in units of their usual deviation.
_DEVIATIONS = 4.0
# Scales the median deviation to the standard deviation of a normal distribution.
_TO_STANDARD = 1.4826
# Of the clicks that were to be expected, "nothing" is at most one in so many.
_NEXT_TO_NOTHING = 50


@dataclass(frozen=True, slots=True)
class Hit:
    """An hour in which the clicks were a spike or a drop.

    `clicks` are those of the last `hours`. `usual` of a spike are the most that an hour usually has, and of a
    drop the fewest that the same hours had in any of the weeks before.
    """

    at: datetime
    clicks: int
    hours: int
    usual: float


@dataclass(frozen=True, slots=True)
class Episode:
    """Hits that follow each other. It began in the hour of its first hit; `end` is None while it goes on."""

    first: Hit
    end: datetime | None


@dataclass(frozen=True)
class HourlyCounts:
    """Clicks by the hour from `start` on, an hour in UTC. Before `known_since` there was nothing to count.

    The last hour may not be over: `is_last_partial`.
    """

    start: datetime
    counts: Sequence[int]
    known_since: datetime
    is_last_partial: bool = False

    def time(self, at: int) -> datetime:
        """When the hour at this place begins."""
        return self.start + at * HOUR

    @cached_property
    def first_known(self) -> int:
        """The place of the first whole hour that there was something to count."""
        return max(0, math.ceil((self.known_since - self.start) / HOUR))

    @cached_property
    def sums(self) -> Sequence[int]:
        """At each place the clicks of all hours before it."""
        return [0, *accumulate(self.counts)]

    def sum_until(self, at: int, hours: int) -> int:
        """The clicks of so many hours, of which the one at this place is the last."""
        return self.sums[at + 1] - self.sums[at + 1 - hours]


# Whether the hour at a place is a hit, and whether an hour that is none continues what began with a hit.
Judge = Callable[[HourlyCounts, int], Hit | None]
Continues = Callable[[HourlyCounts, int, Hit], bool]


def spike_at(counts: HourlyCounts, at: int, *, factor: int, least: int) -> Hit | None:
    """The hit, if the hour at this place has unusually many clicks; else None.

    Usual is the median over the weeks before of the most clicks in the same hour or an hour beside it. A
    spike has at least `least` clicks, at least `factor` times the usual ones, and more than these vary by.
    """
    most = [
        max(counts.counts[place - 1 : place + 2])
        for place in (at - week * WEEK_HOURS for week in range(1, WEEKS + 1))
        if place - 1 >= counts.first_known
    ]
    if not most:
        return None
    usual = median(most)
    spread = _TO_STANDARD * median(abs(clicks - usual) for clicks in most)
    varies_by = _DEVIATIONS * max(math.sqrt(usual), spread)
    clicks = counts.counts[at]
    if clicks < max(least, factor * usual, usual + varies_by):
        return None
    return Hit(counts.time(at), clicks, 1, usual)


def drop_at(counts: HourlyCounts, at: int, *, least: int) -> Hit | None:
    """The hit, if next to nothing was clicked in the hours up to this place; else None.

    The hours are as few as had at least `least` clicks in each of the weeks before. So a link with few clicks
    is given more hours, and one quiet week before is enough to say nothing.
    """
    places = [at - week * WEEK_HOURS for week in range(1, WEEKS + 1)]
    places = [place for place in places if place >= counts.first_known]
    if len(places) < _WEEKS_FOR_DROP:
        return None
    for hours in range(1, WEEK_HOURS + 1):
        if places[-1] + 1 - hours < counts.first_known:
            return None
        fewest = min(counts.sum_until(place, hours) for place in places)
        if fewest >= least:
            clicks = counts.sum_until(at, hours)
            is_drop = clicks <= fewest // _NEXT_TO_NOTHING
            return Hit(counts.time(at), clicks, hours, fewest) if is_drop else None
    return None


def is_still_nothing(counts: HourlyCounts, at: int, first: Hit) -> bool:
    """Whether next to nothing was clicked up to this place, measured by what was usual when a drop began.

    After two weeks, the weeks before have no clicks either, so that no hour is a hit: that ends nothing.
    """
    return counts.sum_until(at, first.hours) <= first.usual // _NEXT_TO_NOTHING


def episodes(
    counts: HourlyCounts,
    judge: Judge,
    hours: int,
    *,
    judges_partial: bool,
    continues: Continues = lambda *_: False,
) -> list[Episode]:
    """The episodes of the last so many hours, the oldest first. Only the last one may go on.

    `judges_partial`: whether an hour that is not over can be a hit. It can't be without one.
    """
    found: list[Episode] = []
    first: Hit | None = None
    last = 0
    for at, hit in _judged(counts, judge, hours, judges_partial=judges_partial):
        if hit or (first and continues(counts, at, first)):
            first, last = first or hit, at
        elif first and at - last >= QUIET_HOURS:
            found.append(Episode(first, counts.time(last) + HOUR))
            first = None
    return [*found, Episode(first, None)] if first else found


def _judged(
    counts: HourlyCounts, judge: Judge, hours: int, *, judges_partial: bool
) -> Iterator[tuple[int, Hit | None]]:
    last = len(counts.counts) - 1
    for at in range(max(0, last + 1 - hours), last + 1):
        is_partial = at == last and counts.is_last_partial
        hit = judge(counts, at) if judges_partial or not is_partial else None
        if hit or not is_partial:
            yield at, hit
