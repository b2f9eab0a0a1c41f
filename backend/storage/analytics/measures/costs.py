"""The SQL of what campaigns cost, and of which campaigns that is known.

A cost is of a calendar day: it counts where that day's noon is in the query's time zone.
"""

# ruff: noqa: S608 - names of columns are constants, and values are parameters

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import TIMES, Field
from backend.storage.analytics.conditions.empty_tables import nothing_of
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import DAY_MS, QueriedPeriod
from backend.storage.analytics.conditions.times import TimeColumns

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).date()
_NOON = time(12)
# As domain/analytics/figures.Spent.
_SPENT_TYPE = "STRUCT(currency VARCHAR, digits UTINYINT, amount HUGEINT)[]"
_SPENT = """
    list(struct_pack(currency := currency, digits := digits, amount := amount)
        ORDER BY currency, digits) AS spent
"""


def asks_for_costs(period: QueriedPeriod) -> bool:
    """Whether the query asks for costs."""
    return Measure.COST in period.query.needed


def asks_what_has_cost(period: QueriedPeriod) -> bool:
    """Whether the query asks for what came of the campaigns whose cost is known, and any is."""
    if "costs" in period.empty:
        return False
    return period.query.asks_what_came_of_costs and period.query.knows_cost_in_all


def costs_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `spent`, a list as domain/analytics/figures.Spent, of each group that has any.

    No group has any where it is not known what such groups cost.
    """
    if not period.knows_cost or "costs" in period.empty:
        return nothing_of(period, {"spent": _SPENT_TYPE})
    times = TimeColumns(period, "noon", parameters)
    groups = [
        f"{times.number if field in TIMES else 'campaign'} AS {name}"
        for field, name in zip(period.group_by, period.columns, strict=True)
    ]
    sums = f"""
        SELECT {", ".join([*groups, "currency", "digits", "sum(amount) AS amount"])}
        FROM ({_counted(period, parameters)}) {times.join} GROUP BY ALL
    """
    return f"SELECT {', '.join([*period.columns, _SPENT])} FROM ({sums}) GROUP BY ALL"


def campaigns_with_cost(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `campaign` and `currency`: each currency in which its cost is known in the period."""
    return f"SELECT DISTINCT campaign, currency FROM ({_counted(period, parameters)})"


def currencies_left_out(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of the other currencies than the query's that costs of the period are in."""
    counted = _counted(period, parameters, has_other_currencies=True)
    return f"SELECT DISTINCT currency FROM ({counted}) ORDER BY currency"


def _counted(period: QueriedPeriod, parameters: SqlParameters, *, has_other_currencies: bool = False) -> str:
    """A SELECT of the costs that count, each with the `noon` of its day."""
    days, noons = _noons(period)
    conditions = ["true"]
    if period.query.currency:
        differs = "<>" if has_other_currencies else "="
        conditions.append(f"currency {differs} {parameters(period.query.currency)}")
    if (chosen := period.query.filters.get(Field.CAMPAIGN)) is not None:
        conditions.append(condition(chosen, "campaign", parameters))
    return f"""
        SELECT costs.*, noon FROM costs
        JOIN (
            SELECT unnest({parameters(days)}::INTEGER[]) AS day, unnest({parameters(noons)}::BIGINT[]) AS noon
        ) USING (day)
        WHERE {" AND ".join(conditions)}
    """


def _noons(period: QueriedPeriod) -> tuple[list[int], list[int]]:
    """The days, counted from 1970, whose noon is in the period, and these noons in milliseconds."""
    zone = period.query.period.zone
    days, noons = [], []
    for day in range(period.start // DAY_MS - 1, period.end // DAY_MS + 2):
        at = datetime.combine(_EPOCH + timedelta(days=day), _NOON, zone)
        noon = round(at.timestamp()) * 1000
        if period.start <= noon < period.end:
            days.append(day)
            noons.append(noon)
    return days, noons
