"""Draws the clicks and SDK calls of each hour of the demo's history from a seed, always the same ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import accumulate

from backend.domain.clicks.clicks import Click, NotCounted
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import Link
from backend.domain.visitors.batches import Batch
from backend.domain.web.client import ClientKind
from demo_site.history.audience import HABITS, ROBOTS, Channel, Market, Person, somebody
from demo_site.history.catalogue import PlannedLink
from demo_site.history.journeys import LONGEST, Ids, Journey, Purpose
from demo_site.history.rhythm import expected_clicks, share_of_hour

_SEED = "a fair wind"
_ROBOTS, _AHEAD, _AGAIN = 0.05, 0.012, 0.16  # shares of clicks
_LOOKS = 0.012  # share of clicks after which the SDK runs without a lead or sale
_HOUR = timedelta(hours=1)
_COME_BACK_BY = {Channel.EMAIL, Channel.SEARCH, Channel.FACEBOOK}


@dataclass(frozen=True, slots=True)
class UsedLink:
    """A link of the catalogue, and the link that was made of it."""

    plan: PlannedLink
    link: Link


@dataclass(slots=True)
class _Hour:
    clicks: list[Click] = field(default_factory=list)
    later_clicks: list[Click] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)


@dataclass
class History:
    """The clicks and SDK calls from the beginning of the day `begin` (UTC) on.

    All ids begin with `run`, but for those of clicks, which `key` makes.
    """

    run: str
    begin: date
    links: Sequence[UsedLink]
    key: bytes
    retention_days: int | None = None
    _hours: dict[int, _Hour] = field(default_factory=dict)
    _days: dict[int, list[float]] = field(default_factory=dict)

    def at(self, hour: int) -> datetime:
        """When an hour, counted from the history's beginning, begins."""
        return datetime(self.begin.year, self.begin.month, self.begin.day, tzinfo=UTC) + hour * _HOUR

    def clicks(self, hours: range) -> list[Click]:
        """The requests for links in these hours, in the order of their times."""
        start, end = self.at(hours.start), self.at(hours.stop)
        made = [click for hour in hours for click in self._hour(hour).clicks]
        for hour in range(max(0, hours.start - LONGEST // _HOUR), hours.stop):
            made += [click for click in self._hour(hour).later_clicks if start <= click.at < end]
        return sorted(made, key=lambda click: click.at)

    def batches(self, hours: range) -> list[Batch]:
        """The batches that the SDK sends in these hours, in the order of arrival."""
        start, end = self.at(hours.start), self.at(hours.stop)
        earliest = max(0, hours.start - LONGEST // _HOUR)
        for old_hour in [hour for hour in self._hours if hour < earliest]:
            del self._hours[old_hour]
        batches = (batch for hour in range(earliest, hours.stop) for batch in self._hour(hour).batches)
        return sorted(
            (batch for batch in batches if start <= batch.received_at < end),
            key=lambda batch: batch.received_at,
        )

    def _hour(self, hour: int) -> _Hour:
        if hour not in self._hours:
            self._hours[hour] = self._draw(hour)
        return self._hours[hour]

    def _draw(self, hour: int) -> _Hour:
        drawn = random.Random(f"{_SEED}/{hour}")  # noqa: S311 - no secret is drawn
        day = hour // 24
        shares = {market: share_of_hour(market, hour % 24) for market in Market}
        chances = list(
            accumulate(
                weight * shares[used.plan.market]
                for used, weight in zip(self.links, self._expected(day), strict=True)
            )
        )
        made = _Hour()
        if not chances[-1]:
            return made
        number = int(chances[-1] * max(0.3, drawn.gauss(1, 0.15)) + drawn.random())
        people: list[Person] = []
        for second in sorted(drawn.random() * 3600 for _ in range(number)):
            used = drawn.choices(self.links, cum_weights=chances)[0]
            at = self.at(hour) + timedelta(milliseconds=int(second * 1000))
            if people and drawn.random() < _AGAIN:
                person = drawn.choice(people)
            else:
                people.append(person := somebody(drawn, used.plan.channel, used.plan.market))
            click = _click(drawn, used, person, at, day)
            made.clicks.append(click)
            if click.counted and (purpose := _purpose(drawn, used.plan.channel)):
                ids = Ids(self.run, f"{hour}-{len(made.clicks)}")
                way_back = drawn.choice(self._ways_back).link
                journey = Journey(ids, drawn, self.key, click, used.link, way_back)
                made.batches += journey.batches(purpose, self.retention_days)
                made.later_clicks += journey.returns
        return made

    def _expected(self, day: int) -> list[float]:
        """The average number of clicks of each link on this day."""
        if day not in self._days:
            on = self.begin + timedelta(days=day)
            self._days = {day: [expected_clicks(used.plan, day, on) for used in self.links]}
        return self._days[day]

    @cached_property
    def _ways_back(self) -> list[UsedLink]:
        """Links by which people come a second time."""
        back = [used for used in self.links if used.plan.channel in _COME_BACK_BY and used.plan.launched < 0]
        return back or list(self.links)


def _click(drawn: random.Random, used: UsedLink, person: Person, at: datetime, day: int) -> Click:
    device, visitor, referrer = person.device, person.visitor, person.referrer
    outcome, reason = Outcome.WEB, None
    chance = drawn.random()
    if used.plan.disabled is not None and day >= used.plan.disabled:
        outcome, reason = Outcome.NOT_FOUND, NotCounted.DISABLED
    elif chance < _ROBOTS:
        device, referrer = drawn.choice(ROBOTS), None
        is_preview = device.kind is ClientKind.PREVIEW_FETCHER
        reason = NotCounted.PREVIEW_FETCHER if is_preview else NotCounted.CRAWLER
    elif chance < _ROBOTS + _AHEAD:
        reason = drawn.choice([NotCounted.PREFETCH, NotCounted.HEAD])
    return Click(
        org_id=used.link.org_id,
        link_id=used.link.id,
        at=at,
        counted=reason is None,
        reason=reason and reason.value,
        outcome=outcome,
        platform=device.platform.value,
        system=device.system,
        browser=device.browser,
        client_kind=device.kind.value,
        country=person.country,
        referrer_host=referrer,
        visitor=None if reason else visitor,
    )


def _purpose(drawn: random.Random, channel: Channel) -> Purpose | None:
    """The purpose of the visit after a click; None for most visits, in which the SDK does not run."""
    habits = HABITS[channel]
    purposes = {Purpose.LEAD: habits.leads, Purpose.SALE: habits.sales, Purpose.LOOK: _LOOKS}
    chance = drawn.random()
    for purpose, share in purposes.items():
        chance -= share
        if chance < 0:
            return purpose
    return None
