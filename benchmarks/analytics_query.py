"""The time of queries of analytics: a week and a year by day and campaign, and what a dashboard asks.

`python -m benchmarks.analytics_query` starts a MongoDB, stores links of a hundred campaigns and counts clicks
of the last year on them as the service does. Then it asks each query in turns and prints the medians, of
processor time too. The first page of a year by day and campaign should cost at most twice that of a week. All
rows at once, as an export has them, cost as much as there are. `--data` keeps what was made.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.clock import utc_now
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.ids import OrgId
from backend.domain.query_period import Comparison, QueryPeriod
from backend.storage.analytics_answers import answer
from backend.storage.mongo import Database, StorageError
from benchmarks.kept_year import Amounts, kept_year

_DAY = timedelta(days=1)
_WHOLE = ", all rows"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--links", type=int, default=300)
    options.add_argument("--clicks", type=int, default=100_000, help="clicks of the year")
    options.add_argument("--rounds", type=int, default=15, help="how often each query is asked")
    options.add_argument("--data", type=Path, help="a folder that keeps the data for the next runs")
    options.add_argument(
        "--like-dashboard", action="store_true", help="the data of benchmarks.dashboard_pages"
    )
    asked = options.parse_args()
    of_dashboard: bool = asked.like_dashboard
    amounts = Amounts(asked.links, asked.clicks, is_even=not of_dashboard, has_history=of_dashboard)
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        asyncio.run(_measure(asked.data or Path(folder), amounts, asked.rounds))


async def _measure(folder: Path, amounts: Amounts, rounds: int) -> None:
    async with kept_year(folder, amounts) as year:
        _print(amounts.links, amounts.clicks, await _times(year.database, year.org_id, rounds))


def _queries() -> dict[str, Query]:
    end = datetime.combine(utc_now().date(), datetime.min.time(), UTC)

    def last(days: int) -> QueryPeriod:
        return QueryPeriod(end - days * _DAY, end, UTC)

    by = (Field.DAY, Field.CAMPAIGN)
    whole = (Measure.CLICKS, Measure.VISITORS, Measure.CONVERSIONS, Measure.REVENUE)
    return {
        "a week by day and campaign": Query(period=last(7), group_by=by),
        "a year by day and campaign": Query(period=last(365), group_by=by),
        f"a week by day and campaign{_WHOLE}": Query(period=last(7), group_by=by),
        f"a year by day and campaign{_WHOLE}": Query(period=last(365), group_by=by),
        "four weeks by day, compared": Query(
            period=last(28), group_by=(Field.DAY,), measures=whole, compare=Comparison.PREVIOUS
        ),
        "four weeks by campaign, compared": Query(
            period=last(28), group_by=(Field.CAMPAIGN,), measures=whole, compare=Comparison.PREVIOUS
        ),
        "a year by campaign": Query(period=last(365), group_by=(Field.CAMPAIGN,)),
        "a year by campaign, compared": Query(
            period=last(365), group_by=(Field.CAMPAIGN,), compare=Comparison.PREVIOUS
        ),
        "a year by country": Query(period=last(365), group_by=(Field.COUNTRY,)),
        "four weeks by link": Query(period=last(28), group_by=(Field.LINK,)),
        "four weeks by country": Query(period=last(28), group_by=(Field.COUNTRY,)),
    }


@dataclass(slots=True)
class _Times:
    """Seconds until each answer, and processor time of this process and of MongoDB; none if it `is_late`."""

    whole: list[float] = field(default_factory=list)
    process: list[float] = field(default_factory=list)
    mongodb: list[float] = field(default_factory=list)
    is_late: bool = False

    @property
    def processor(self) -> float:
        """The processor time of an answer."""
        return statistics.median(self.process) + statistics.median(self.mongodb)


async def _times(database: Database, org_id: OrgId, rounds: int) -> dict[str, _Times]:
    queries = _queries()
    times = {name: _Times() for name in queries}
    for _ in range(rounds):
        for name, query in queries.items():
            await _take(database, org_id, query, times[name], is_whole=name.endswith(_WHOLE))
    return times


async def _take(database: Database, org_id: OrgId, query: Query, times: _Times, *, is_whole: bool) -> None:
    if times.is_late:
        return
    before = await _mongodb_seconds(database)
    started, used = time.perf_counter(), time.process_time()
    try:
        await answer(database, org_id, query, is_whole=is_whole)
    except StorageError:
        times.is_late = True
        return
    times.whole.append(time.perf_counter() - started)
    times.process.append(time.process_time() - used)
    times.mongodb.append(await _mongodb_seconds(database) - before)


async def _mongodb_seconds(database: Database) -> float:
    """The processor time that MongoDB has used."""
    info = (await database.client.admin.command("serverStatus"))["extra_info"]
    return float(info["user_time_us"] + info["system_time_us"]) / 1e6


def _print(number: int, clicks: int, times: dict[str, _Times]) -> None:
    print(f"Queries of analytics, {number:,} links, {clicks:,} clicks in a year, medians:")
    print(f"  {'':<37} {'answer':>11} {'processor':>11} {'MongoDB':>11}")
    for name, each in times.items():
        if each.is_late:
            print(f"  {name:<37} not within its time limit")
        else:
            taken = (each.whole, each.process, each.mongodb)
            print(f"  {name:<37}" + "".join(f" {statistics.median(of) * 1000:8.1f} ms" for of in taken))
    week, year, *_ = times.values()
    ratio = year.processor / week.processor
    print(f"  ratio of a year to a week, of processor time {ratio:8.1f} (target: 2 at most)")


if __name__ == "__main__":
    main()
