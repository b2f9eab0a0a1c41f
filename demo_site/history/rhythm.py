"""When the links of the demo's history are clicked: over days, weeks and the hours of a day."""

from __future__ import annotations

from datetime import date

from demo_site.history.audience import HABITS, Market
from demo_site.history.catalogue import PlannedLink

# Shares of a day's clicks in each of its hours in UTC: in Europe, and five or six hours later.
_EUROPE = (0.7, 0.4, 0.3, 0.3, 0.6, 1.6, 3.2, 4.6, 5.0, 4.8, 4.9, 5.4, 5.2, 4.9, 4.8, 5.2, 6.0, 7.0, 8.6, 9.2,
           7.8, 5.2, 2.8, 1.5)  # fmt: skip
_HOURS = {
    Market.HOME: _EUROPE,
    Market.AMERICA: (*_EUROPE[-6:], *_EUROPE[:-6]),
    Market.WORLD: tuple((_EUROPE[hour] + _EUROPE[hour - 6]) / 2 for hour in range(24)),
}
_GROWTH = 0.006  # a day
_CLICKS = 0.58  # for a weight of one: makes some 500 clicks a day of all links


def expected_clicks(link: PlannedLink, day: int, on: date) -> float:
    """The average number of the link's clicks on a day. `day` is counted from the history's first day."""
    age = day - link.launched
    if age < 0 or day >= link.ended:
        return 0.0
    habits = HABITS[link.channel]
    freshness = max(habits.tail, habits.fades**age)
    weekend = habits.weekend if on.weekday() >= 5 else 1.0
    return _CLICKS * link.weight * freshness * weekend * (1 + _GROWTH * min(day, 90))


def share_of_hour(market: Market, hour: int) -> float:
    """The share of a day's clicks that come in this hour (UTC)."""
    return _HOURS[market][hour] / 100
