"""Finds in the facts what the notes on an answer say."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.figures import GroupSums
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.notes import NotedFacts, notes_on, notes_on_former_days, notes_on_time
from backend.domain.analytics.query import Field
from backend.storage.analytics.conditions.moment_answers import execute_parsed, rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import DAY_MS, QueriedPeriod
from backend.storage.analytics.measures.clicks import clicks_of, knows_former_visitors
from backend.storage.analytics.measures.costs import asks_for_costs, currencies_left_out
from backend.storage.analytics.measures.installs import asks_for_installs, installs_of
from backend.storage.analytics.measures.sales import has_sales, left_out_of

# What is counted from records that an organization's retention deletes.
_EXPIRING = (MeasureKind.SALES, MeasureKind.PEOPLE, MeasureKind.INSTALLS)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def notes_of(
    connection: DuckDBPyConnection,
    counted: Sequence[tuple[QueriedPeriod, GroupSums]],
    retention_days: int | None,
) -> list[str]:
    """The notes on the period and on the one that it is compared with, without repetition.

    `counted` has the period and then, if there is one, the one compared with, each with its totals.
    """
    (now, sums), *others = counted
    notes = [*_of_period(connection, now, sums, retention_days), *notes_on_time(now.query)]
    for before, sums_before in others:
        of_before = _of_period(connection, before, sums_before, retention_days)
        notes += [f"In the time compared with: {note}" for note in of_before if note not in notes]
    return list(dict.fromkeys(notes))


def _of_period(
    connection: DuckDBPyConnection, period: QueriedPeriod, sums: GroupSums, retention_days: int | None
) -> list[str]:
    """The notes on the figures of one period."""
    query = period.query
    facts = NotedFacts(
        sums, _kinds(connection, period), _left_out(connection, period), _costs_left_out(connection, period)
    )
    notes = [*_on_former_days(period), *notes_on(query, facts, _missing(connection, period))]
    if retention_days is not None and query.needs(*_EXPIRING):
        notes.append(
            f"Leads, conversions and installs are deleted after {retention_days} days: older ones are in "
            "no figure."
        )
    return notes


def _kinds(connection: DuckDBPyConnection, period: QueriedPeriod) -> set[RowKind]:
    """The kinds of separate rows that the answer has, such as those of purged links."""
    if not period.query.has_kinds:
        return set()
    kinds = set()
    if has_sales(period):
        apart = f"SELECT DISTINCT apart FROM {period.sold} WHERE NOT is_left_out"
        kinds |= {kind for (kind,) in execute_parsed(connection, apart)}
    if asks_for_installs(period) and period.query.has_kinds_of_touches:
        parameters = SqlParameters()
        of_installs = f"SELECT DISTINCT apart FROM ({installs_of(period, parameters)})"
        kinds |= {kind for (kind,) in execute_parsed(connection, of_installs, parameters.values)}
    return {RowKind(kind) for kind in kinds if kind}


def _left_out(connection: DuckDBPyConnection, period: QueriedPeriod) -> Mapping[str, int | Fraction]:
    """How many conversions are in no figure, by their currency."""
    left_out: dict[str, int | Fraction] = {}
    if period.query.currency and has_sales(period):
        for currency, whole, weight in execute_parsed(connection, left_out_of(period)):
            left_out[currency] = left_out.get(currency, 0) + Fraction(weight, whole)
    return left_out


def _costs_left_out(connection: DuckDBPyConnection, period: QueriedPeriod) -> list[str]:
    """The currencies of costs that are in no figure."""
    if not (period.query.currency and period.query.knows_cost_in_all and asks_for_costs(period)):
        return []
    parameters = SqlParameters()
    text = currencies_left_out(period, parameters)
    return [currency for (currency,) in execute_parsed(connection, text, parameters.values)]


def _missing(connection: DuckDBPyConnection, period: QueriedPeriod) -> Mapping[Measure, int]:
    """By how much the totals exceed the sum of all rows: clicks of links that were deleted for good."""
    measures = [measure for measure in period.query.measures if measure.kind is MeasureKind.CLICKS]
    has_all = not period.link_groups or period.filters_links or Field.TAG in period.group_by
    if has_all or not measures:
        return {}
    if not rows_once(connection, "SELECT 1 FROM links WHERE NOT is_kept LIMIT 1"):
        return {}
    parameters = SqlParameters()
    of_purged = "clicks.link IN (SELECT link FROM links WHERE NOT is_kept)"
    counted = clicks_of(period.in_all, parameters, of_purged)
    columns = ", ".join(f"coalesce({measure}, 0)" for measure in measures)
    [row] = execute_parsed(connection, f"SELECT {columns} FROM ({counted})", parameters.values)
    return dict(zip(measures, row, strict=True))


def _on_former_days(period: QueriedPeriod) -> list[str]:
    """The notes on days whose single clicks have expired, if the period has such days."""
    if period.summed_until is None or period.summed_until < period.start // DAY_MS:
        return []
    cut = 0
    if Measure.VISITORS in period.query.needed and knows_former_visitors(period):
        former = (day for day in period.spans.days if day <= period.summed_until)
        cut = sum(map(period.spans.is_cut, former))
    first = (_EPOCH + timedelta(days=period.summed_until + 1)).date()
    return notes_on_former_days(period.query, first, cut)
