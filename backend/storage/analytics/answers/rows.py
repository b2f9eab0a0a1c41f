"""The SELECT of an answer's rows: all figures of its period, and of the one that it is compared with."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Collection, Iterator

from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.query import TIMES
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.measures.clicks import clicks_of, clicks_with_cost_of, visitors_of
from backend.storage.analytics.measures.costs import asks_for_costs, costs_of
from backend.storage.analytics.measures.installs import asks_for_installs, installs_of
from backend.storage.analytics.measures.sales import asks_for_sales, people_of, sales_of

# The prefix of the columns of the period that is compared with.
BEFORE = "before_"
_ADDED = "sum({})::BIGINT"
# How the columns of several sources become one.
_TOGETHER = {
    "clicks": _ADDED,
    "not_counted": _ADDED,
    "opens": _ADDED,
    "visitors": _ADDED,
    "installs": _ADDED,
    "customers": _ADDED,
    "contacts": _ADDED,
    "sold": "any_value({})",
    "spent": "any_value({})",
    "clicks_with_cost": "any_value({})",
}


def rows_of(now: QueriedPeriod, before: QueriedPeriod | None, parameters: SqlParameters) -> str:
    """A SELECT of one row for each group: the columns of the group, `apart`, and the figures.

    If rows are by a part of the time alone, each part has a row, also one without figures.
    """
    periods = {"": now} | ({BEFORE: before} if before else {})
    counted = [
        (columns, _source(period, columns, text, prefix), prefix)
        for prefix, period in periods.items()
        for columns, text in _sources(period, parameters)
    ]
    sources = [text for _, text, _ in counted]
    names = [f"{prefix}{column}" for columns, _, prefix in counted for column in columns]
    if now.has_time and len(now.group_by) == 1:
        sources.append(f"SELECT unnest(range({parameters(len(now.labels))}))::INTEGER AS g0")
    groups = [*now.columns, *(["apart"] if now.query.has_kinds else [])]
    if len(sources) == 1:
        return f"SELECT {', '.join([*groups, *names])} FROM ({sources[0]})"
    values = [f"{_TOGETHER[name.removeprefix(BEFORE)].format(name)} AS {name}" for name in names]
    united = " UNION ALL BY NAME ".join(f"({source})" for source in sources)
    return f"SELECT {', '.join([*groups, *values])} FROM ({united}) GROUP BY ALL"


def totals_of(now: QueriedPeriod, before: QueriedPeriod | None, parameters: SqlParameters) -> str:
    """A SELECT of one row, the totals: what is in several groups counts once."""
    periods = {"": now.in_all} | ({BEFORE: before.in_all} if before else {})
    sources = [
        _source(period, columns, text, prefix)
        for prefix, period in periods.items()
        for columns, text in _sources(period, parameters)
    ]
    # Each source has one row. With commas between them, DuckDB would look at every order to join them in,
    # which takes longer than all sums of small tables; by position it leaves them as they stand.
    beside = " POSITIONAL JOIN ".join(f"({source}) AS s{number}" for number, source in enumerate(sources))
    return f"SELECT * FROM {beside}"


def _sources(period: QueriedPeriod, parameters: SqlParameters) -> Iterator[tuple[list[str], str]]:
    """For each table that figures come from, the names of the figures and the SELECT that counts them."""
    needed = period.query.needed
    if clicks := _names(needed, MeasureKind.CLICKS):
        yield clicks, clicks_of(period, parameters)
    if Measure.VISITORS in needed:
        yield ["visitors"], visitors_of(period, parameters)
    if asks_for_sales(period):
        yield ["sold"], sales_of(period, parameters)
    if people := _names(needed, MeasureKind.PEOPLE):
        yield people, people_of(period, parameters)
    if asks_for_costs(period):
        yield ["spent"], costs_of(period, parameters)
        if Measure.COST_PER_CLICK in period.query.measures and period.knows_cost:
            yield ["clicks_with_cost"], clicks_with_cost_of(period, parameters)
    if asks_for_installs(period):
        yield ["installs"], installs_of(period, parameters)


def _names(needed: Collection[Measure], kind: MeasureKind) -> list[str]:
    return [measure.value for measure in Measure if measure in needed and measure.kind is kind]


def _source(period: QueriedPeriod, columns: list[str], text: str, prefix: str) -> str:
    """The SELECT of a source, with `prefix` before the names of its figures.

    Rows of a time that no part of the period is compared with are left out.
    """
    renamed = ", ".join(f"{column} AS {prefix}{column}" for column in columns)
    star = f"* RENAME ({renamed})" if prefix else "*"
    parts = [name for name, field in zip(period.columns, period.group_by, strict=True) if field in TIMES]
    only = f"WHERE {parts[0]} IS NOT NULL" if parts else ""
    return f"SELECT {star} FROM ({text}) {only}"
