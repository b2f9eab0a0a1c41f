"""The time of reports of 100,000 sales by campaign, for each way to give credit.

`python -m benchmarks.credit` starts a MongoDB with a year of clicks and sales, of customers with up to three
devices and touches on each. It asks for conversions and revenue by campaign, and prints what that takes
beside a query that asks DuckDB directly for the last touch of each sale's device: the ratios are to that. It
ends with an error where the total of a report is not the sales to the cent. A million sales:
`--links 0 --clicks 0 --sales 1000000 --only "customer, linear"`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from datetime import timedelta
from decimal import Decimal

from backend.domain.analytics.input import UTC_ZONE
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Query
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.question import NoAnswer
from benchmarks.data.kept_year import kept_year, options
from benchmarks.data.year_of_sales import CURRENCY
from benchmarks.measuring.asking import Asking, Taken, asking

_DAY = timedelta(days=1)
_DIRECTLY = """
    SELECT coalesce(links.campaign, visits.campaign) AS campaign, count(*), sum(amount)
    FROM records JOIN tellings USING (record)
    ASOF LEFT JOIN visits ON visits.device = tellings.device AND visits."at" <= tellings."at"
    LEFT JOIN links ON links.link = visits.link
    WHERE kind = 'conversion' AND currency = $currency
        AND records."at" >= $start AND records."at" < $end
    GROUP BY 1 ORDER BY 2 DESC
"""
_SOLD = """
    SELECT sum(amount / pow(10, digits)::DECIMAL(18, 0)) FROM records
    WHERE kind = 'conversion' AND currency = $currency AND "at" >= $start AND "at" < $end
"""
_TARGET = "customer, linear"
_RULES = {
    f"{to.value}, {model.value.replace('_', ' ')}": CreditRules(to, model)
    for to in CreditTo
    for model in (Model.LAST_NON_DIRECT, *(model for model in Model if model is not Model.LAST_NON_DIRECT))
} | {
    "device, last non direct, of 30 days": CreditRules(lookback_days=30),
    "customer, linear, of 30 days": CreditRules(CreditTo.CUSTOMER, Model.LINEAR, 30),
}


def main() -> None:
    """Measure and print."""
    parser = options(__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each report is asked for")
    parser.add_argument("--only", default="", help="only rules whose names have this")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(asked: argparse.Namespace) -> None:
    async with kept_year(asked) as year:
        period = QueryPeriod(year.until - 365 * _DAY, year.until, UTC_ZONE)
        print(f"{year.amounts}, all sales by campaign; medians:")
        async with asking(year) as who:
            report = _Report(who, period)
            chosen = {name: rules for name, rules in _RULES.items() if asked.only in name}
            await report.print_all(chosen, asked.rounds)
            print(f"  memory of the process: {who.process.most_megabytes:.0f} MB at the most")
        print(f"  target of a million sales by {_TARGET}: 3 s of processor time")


class _Report:
    """The sales of a period by campaign."""

    def __init__(self, who: Asking, period: QueryPeriod) -> None:
        self._who = who
        self._period = period
        start, end = (round(at.timestamp() * 1000) for at in (period.start, period.end))
        self._values = {"currency": CURRENCY, "start": start, "end": end}
        [(sold,)] = who.ask_directly(_SOLD, self._values, Taken())
        self._sold = round(Decimal(sold), 2)

    async def print_all(self, rules_by_name: dict[str, CreditRules], rounds: int) -> None:
        """Print what the reports by these rules take, beside asking directly."""
        limit = Taken()
        for _ in range(rounds):
            self._who.ask_directly(_DIRECTLY, self._values, limit)
        self._print("DuckDB directly, last touch of the device", limit, limit)
        for name, rules in rules_by_name.items():
            taken = Taken()
            try:
                for _ in range(rounds):
                    await self._ask(rules, taken)
            except NoAnswer as error:
                print(f"  {name:<42} {error}", flush=True)
            else:
                self._print(name, taken, limit)

    async def _ask(self, rules: CreditRules, taken: Taken) -> None:
        query = Query(
            period=self._period,
            measures=(Measure.CONVERSIONS, Measure.REVENUE),
            group_by=(Field.CAMPAIGN,),
            currency=CURRENCY,
            rules=rules,
        )
        [answer] = await self._who.ask(AskQuery(query, is_whole=True), taken)
        if answer.totals.values[Measure.REVENUE] != self._sold:
            sys.exit(f"The total of the report is {answer.totals.values}, and sold was {self._sold}.")

    def _print(self, name: str, taken: Taken, limit: Taken) -> None:
        print(
            f"  {name:<42} {taken.median:6.2f} s, processor time {taken.used:6.2f} s, "
            f"ratio {taken.used / limit.used:5.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
