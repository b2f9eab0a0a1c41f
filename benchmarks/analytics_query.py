"""The time of questions of analytics, beside that of the same questions asked of DuckDB directly.

`python -m benchmarks.analytics_query` starts a MongoDB with a year of clicks on 40,000 links, and lets the
process that answers questions put them into columns, which is measured first. Then it asks each question in
turns: that process, and a copy of its file by SQL, with as many threads. Of both, all rows are taken into
Python. An answer should take at most twice as long, or 30 ms more; the process at most 300 MB; and clicks
should go into columns at 300,000 a second. With other amounts (`--clicks 50000000`), there are no targets.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from typing import Any

import duckdb

from backend.domain.ids import LinkId
from backend.storage.analytics.question import NoAnswer
from benchmarks.data.kept_year import kept_year, options, target
from benchmarks.measuring.asked_directly import AskedDirectly, questions
from benchmarks.measuring.asking import Asking, Taken, asking
from benchmarks.measuring.making_columns import MOST_MEGABYTES, print_loading, print_making

_TIMES, _MORE = 2, 0.030


def main() -> None:
    """Measure and print."""
    parser = options(__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11, help="how often each question is asked")
    parser.add_argument("--only", default="", help="only questions whose names have this")
    parser.add_argument("--without-loading", action="store_true", help="use the columns that are there")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    async with kept_year(asked) as year:
        print(f"{year.amounts}:", flush=True)
        if not asked.without_loading:
            await print_loading(year)
            await print_making(year)
        async with asking(year) as who:
            columns = ("rows", "DuckDB ms", "processor", "answer ms", "processor")
            print(f"  {'':<47} " + " ".join(f"{column:>9}" for column in columns))
            for name, question in questions(year, _busiest_link(who.directly)).items():
                if asked.only in name:
                    await _print_question(who, name, question, asked.rounds)
            most = who.process.most_megabytes
            print(
                f"  memory of the process: {most:.0f} MB at the most, by these{target(year, MOST_MEGABYTES)}"
            )
        print(f"  target of an answer: {_TIMES} times DuckDB's time at most, or {_MORE * 1000:.0f} ms more")


def _busiest_link(directly: duckdb.DuckDBPyConnection) -> LinkId:
    busiest = directly.execute(
        "SELECT id FROM links WHERE link = "
        "(SELECT link FROM clicks GROUP BY link ORDER BY count(*) DESC LIMIT 1)"
    ).fetchone()
    assert busiest
    return LinkId(busiest[0])


async def _print_question(who: Asking, name: str, asked: AskedDirectly, rounds: int) -> None:
    limit, ours, rows, answer = Taken(), Taken(), 0, []
    try:
        for number in range(-1, rounds):
            print(f"\r  {name}, {number + 1} of {rounds}", end=" " * 20, flush=True)
            at_first = number < 0  # that fills caches
            rows = len(who.ask_directly(asked.sql, asked.values, Taken() if at_first else limit))
            answer = await who.ask(asked.question, Taken() if at_first else ours)
    except NoAnswer as error:
        print(f"\r  {name:<47} {error}", flush=True)
        return
    print(f"\r  {name:<47} {rows:9,} {_ms(limit)} {_ms(ours)}  {_compared(who, ours, limit)}", flush=True)
    if rows != (answered := _rows(answer)):
        print(f"    but the answer has {answered:,} rows")


def _compared(who: Asking, ours: Taken, limit: Taken) -> str:
    pairs = list(zip(ours.seconds, limit.seconds, strict=True))
    ratio = statistics.median(one / other for one, other in pairs)
    more = statistics.median(one - other for one, other in pairs)
    verdict = target(who.year, "met" if ratio <= _TIMES or more <= _MORE else "MISSED")
    return f"ratio {ratio:.2f}, by processor time {ours.used / limit.used:.2f}{verdict}"


def _ms(taken: Taken) -> str:
    return f"{taken.median * 1000:9.1f} {taken.used * 1000:9.1f}"


def _rows(answer: list[Any]) -> int:
    """How many rows an answer has; one that has none is a row itself."""
    return sum(len(part.rows) if hasattr(part, "rows") else 1 for part in answer)


if __name__ == "__main__":
    main()
