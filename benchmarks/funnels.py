"""The time of funnels over a year of five million clicks and 100,000 sales.

`python -m benchmarks.funnels FILE` asks a file of columns, such as one that `benchmarks.analytics_query` with
`--data FOLDER` has left in `FOLDER/analytics`, with the memory and threads that the analytics process has.
The file is only read. What the process adds, a millisecond or two for a question, is not measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from backend.domain.analytics.funnels.answer import FunnelAnswer
from backend.domain.analytics.funnels.funnel import Funnel, FunnelQuery, FunnelStep, FunnelStepKind
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field
from backend.domain.sales.credit_rules import CreditTo
from backend.storage.analytics.funnels.answer import answer_funnel
from backend.storage.columns.tables.store import EngineBounds
from backend.system.clock import utc_now
from benchmarks.measuring.asking import Taken

_CLICK, _LEAD, _SALE = (
    FunnelStep(kind) for kind in (FunnelStepKind.CLICK, FunnelStepKind.LEAD, FunnelStepKind.CONVERSION)
)
_BOTH = (_CLICK, _SALE)
_BY_CUSTOMER = CreditTo.CUSTOMER
_FUNNELS = {
    "click, conversion; by device": Funnel(steps=_BOTH),
    "the same by campaign": Funnel(steps=_BOTH, group_by=Field.CAMPAIGN),
    "the same by country, from single clicks": Funnel(steps=_BOTH, group_by=Field.COUNTRY),
    "click, lead, conversion by link": Funnel(steps=(_CLICK, _LEAD, _SALE), group_by=Field.LINK),
    "click, conversion by campaign; by customer": Funnel(
        steps=_BOTH, by=_BY_CUSTOMER, group_by=Field.CAMPAIGN
    ),
    "the same in any order": Funnel(
        steps=_BOTH, by=_BY_CUSTOMER, group_by=Field.CAMPAIGN, is_ordered=False
    ),
    "two conversions by their campaign; by customer": Funnel(
        steps=(_SALE, _SALE), by=_BY_CUSTOMER, group_by=Field.CAMPAIGN
    ),
    "four clicks, four conversions, a year; by customer": Funnel(
        steps=(*[_CLICK] * 4, *[_SALE] * 4), by=_BY_CUSTOMER, within_days=365
    ),
}  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path, help="a file of columns, which is only read")
    parser.add_argument("--rounds", type=int, default=7, help="how often each funnel is asked")
    asked = parser.parse_args()
    bounds = EngineBounds()
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as spills:
        config: dict[str, Any] = {
            "memory_limit": f"{bounds.memory_mb}MB", "threads": bounds.threads, "temp_directory": spills,
        }  # fmt: skip
        with duckdb.connect(":memory:", config=config) as connection:
            connection.execute(f"ATTACH '{asked.file}' AS year (READ_ONLY)")
            connection.execute("USE year")
            _print_all(connection, asked.rounds)


def _print_all(connection: duckdb.DuckDBPyConnection, rounds: int) -> None:
    [(clicks, last)] = connection.execute('SELECT sum(weight)::BIGINT, max("at") FROM clicks').fetchall()
    [(sales,)] = connection.execute("SELECT count(*) FROM records WHERE kind = 'conversion'").fetchall()
    print(f"{clicks:,} clicks and {sales:,} conversions; medians of {rounds} rounds:")
    period = _year_until(last)
    for name, funnel in _FUNNELS.items():
        taken = Taken()
        answer = _ask(connection, FunnelQuery(funnel=funnel, period=period, now=utc_now()), Taken())
        for _ in range(rounds):
            _ask(connection, answer.query, taken)
        counts = ", ".join(f"{step.count:,}" for step in answer.steps)
        print(
            f"  {name:<52} {taken.median * 1000:6.0f} ms, processor {taken.used * 1000:6.0f} ms: {counts}",
            flush=True,
        )


def _year_until(last: int) -> QueryPeriod:
    """A year until the end of the day of this millisecond."""
    end = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=last // 86_400_000 + 1)
    return QueryPeriod(end - timedelta(days=365), end, UTC)


def _ask(connection: duckdb.DuckDBPyConnection, query: FunnelQuery, taken: Taken) -> FunnelAnswer:
    began, used = time.perf_counter(), time.process_time()
    answer = answer_funnel(connection, query)
    taken.seconds.append(time.perf_counter() - began)
    taken.processor.append(time.process_time() - used)
    return answer


if __name__ == "__main__":
    main()
