"""A year of clicks for the benchmarks of analytics: shipped as the service ships, in blocks as it keeps them.

Few links get most of the clicks, as people's links do.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from backend.domain.clicks.block import DAY_MS, MOST_CLICKS, ClickRow, What, blocks_of_rows
from backend.domain.clicks.clicks import NotCounted
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database

DAYS = 365
_DAY = timedelta(days=1)
_SYSTEMS = (("desktop", "Windows"), ("desktop", "Mac OS X"), ("ios", "iOS"), ("android", "Android"))
_BROWSERS = 25
_COUNTRIES = [f"{first}{second}" for first in "ABCDEFGHIJ" for second in "KLMNO"]
_REFERRERS = [None, *(f"site-{number}.example" for number in range(50))]
# Of a day's clicks, so many may be what a visitor was touched by.
_VISITS_OF_A_DAY = 2_000


class Visit(NamedTuple):
    """A counted click, which may have led a buyer to a site."""

    link_id: LinkId
    at: int  # milliseconds since 1970


async def ship_year(
    database: Database, org_id: OrgId, ids: Sequence[LinkId], clicks: int, until: datetime
) -> list[list[Visit]]:
    """Ship so many clicks on these links, as many on each day of the year until then.

    Returns some of them of each day.
    """
    drawn = random.Random(clicks)  # noqa: S311 - no secret is drawn
    cumulated = list(itertools.accumulate(1 / place for place in range(1, len(ids) + 1)))
    head, visits = LogHead(), []
    for number in range(DAYS):
        start = round((until - (DAYS - number) * _DAY).timestamp() * 1000)
        rows = list(_rows(drawn, org_id, drawn.choices(ids, cum_weights=cumulated, k=clicks // DAYS), start))
        for first in range(0, len(rows), MOST_CLICKS):
            blocks = blocks_of_rows(rows[first : first + MOST_CLICKS])
            head = await ship_blocks(database, "year", head, head.position + 1, blocks)
        visits.append(_visits(rows))
        print(f"\r  {(number + 1) * (clicks // DAYS):,} clicks stored", end="", flush=True)
    print("\r", end="")
    return visits


def _rows(drawn: random.Random, org_id: OrgId, links: Sequence[LinkId], start: int) -> Iterator[ClickRow]:
    """A click on each of these links, on the day that begins then, in the order of time."""
    count = len(links)
    whats = drawn.choices(_WHATS, k=count)
    visitors = [drawn.randrange(HIGHEST_HASH) for _ in range(count // 2 + 1)]
    return zip(
        itertools.repeat(org_id, count),
        links,
        sorted(start + milliseconds for milliseconds in drawn.choices(range(DAY_MS), k=count)),
        whats,
        drawn.choices(_COUNTRIES, k=count),
        drawn.choices(_REFERRERS, k=count),
        (
            None if what[1] else visitor
            for what, visitor in zip(whats, drawn.choices(visitors, k=count), strict=True)
        ),
        itertools.repeat(None, count),
        strict=True,
    )


def _whats() -> Iterator[What]:
    """Clicks of many browsers, one in fifty of a crawler."""
    for browser, (platform, system) in itertools.product(range(_BROWSERS), _SYSTEMS):
        yield Outcome.WEB.value, None, platform, system, f"Browser {browser}", "browser"
    for _ in range(2):
        yield Outcome.WEB.value, NotCounted.CRAWLER.value, "other", "Other", "Crawler", "crawler"


_WHATS = list(_whats())


def _visits(rows: Sequence[ClickRow]) -> list[Visit]:
    some = rows[:: len(rows) // _VISITS_OF_A_DAY + 1]
    return [Visit(link_id, at) for _, link_id, at, what, *_ in some if what[1] is None]
