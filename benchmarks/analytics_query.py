"""The time of queries of analytics: a week and a year by day and campaign, and what a dashboard asks.

`python -m benchmarks.analytics_query` starts a MongoDB, stores links of a hundred campaigns and counts clicks
of the last year on them as the service does. Then it asks each query in turns and prints the medians. The
first page of a year by day and campaign should cost at most twice that of a week. All rows at once, as an
export has them, cost as much as there are.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backend.app import utc_now
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.ids import OrgId
from backend.domain.query_period import Comparison, QueryPeriod
from backend.settings import Settings
from backend.storage import links
from backend.storage.analytics_answers import answer
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database
from benchmarks.stored_links import prepare_domain, store_links
from benchmarks.year_of_clicks import count_year

_DAY = timedelta(days=1)
_WHOLE = ", all rows"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--links", type=int, default=300)
    options.add_argument("--clicks", type=int, default=100_000, help="clicks of the year")
    options.add_argument("--rounds", type=int, default=15, help="how often each query is asked")
    asked = options.parse_args()
    asyncio.run(_measure(asked.links, asked.clicks, asked.rounds))


async def _measure(number: int, clicks: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = Settings(mongodb_uri=server.uri, data_dir=Path(folder))
            async with open_database(settings) as database:
                org_id = OrgId(await prepare_domain(database))
                await store_links(database, org_id, 0, number)
                ids = await database[links.NAME].distinct("_id", {"org_id": org_id})
                await count_year(database, org_id, ids, clicks)
                _print(number, clicks, await _medians(database, org_id, rounds))


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
        "four weeks by link": Query(period=last(28), group_by=(Field.LINK,)),
        "four weeks by country": Query(period=last(28), group_by=(Field.COUNTRY,)),
    }


async def _medians(database: Database, org_id: OrgId, rounds: int) -> dict[str, float]:
    queries = _queries()
    seconds: dict[str, list[float]] = {name: [] for name in queries}
    for _ in range(rounds):
        for name, query in queries.items():
            started = time.perf_counter()
            await answer(database, org_id, query, is_whole=name.endswith(_WHOLE))
            seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def _print(number: int, clicks: int, medians: dict[str, float]) -> None:
    print(f"Queries of analytics, {number:,} links, {clicks:,} clicks in a year, median:")
    for name, median in medians.items():
        print(f"  {name:<37} {median * 1000:8.1f} ms")
    week, year, *_ = medians.values()
    print(f"  ratio of a year to a week             {year / week:8.1f}     (target: 2 at most)")


if __name__ == "__main__":
    main()
