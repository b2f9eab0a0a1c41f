"""The notes on an answer: what they need to know of facts."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.figures import GroupSums
from backend.domain.analytics.notes import NotedFacts, notes_on, notes_on_former_days, notes_on_time
from backend.domain.analytics.query import SALES, Field, Measure
from backend.storage.analytics.conditions.asked import DAY_MS, Asked
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.measures.clicks import clicks_of, knows_former_visitors
from backend.storage.analytics.measures.installs import asks_for_installs, installs_of
from backend.storage.analytics.measures.sales import asks_for_sales, left_out_of

# What is counted from records that an organization's retention deletes.
_EXPIRING = SALES | {Measure.INSTALLS}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def notes_of(
    connection: DuckDBPyConnection, counted: Sequence[tuple[Asked, GroupSums]], retention_days: int | None
) -> list[str]:
    """What is to be known of the period, and of the one that it is compared with, each once."""
    (now, sums), *others = counted
    notes = [*_of_period(connection, now, sums, retention_days), *notes_on_time(now.query)]
    for before, sums_before in others:
        of_before = _of_period(connection, before, sums_before, retention_days)
        notes += [f"In the time compared with: {each}" for each in of_before if each not in notes]
    return list(dict.fromkeys(notes))


def _of_period(
    connection: DuckDBPyConnection, asked: Asked, sums: GroupSums, retention_days: int | None
) -> list[str]:
    """What is to be known of the figures of a period."""
    query = asked.query
    told = NotedFacts(sums, _kinds(connection, asked), _left_out(connection, asked))
    notes = [*_on_former_days(asked), *notes_on(query, told, _missing(connection, asked))]
    if retention_days is not None and query.needed & _EXPIRING:
        notes.append(
            f"Leads, conversions and installs are deleted after {retention_days} days: older ones are in "
            "no figure."
        )
    return notes


def _kinds(connection: DuckDBPyConnection, asked: Asked) -> set[RowKind]:
    """The kinds of rows apart that there are."""
    if not asked.query.has_kinds:
        return set()
    found = set()
    if asks_for_sales(asked):
        apart = f"SELECT DISTINCT apart FROM {asked.sold} WHERE NOT is_left_out"
        found |= {each for (each,) in connection.execute(apart).fetchall()}
    if asks_for_installs(asked):
        given = Given()
        of_installs = connection.execute(
            f"SELECT DISTINCT apart FROM ({installs_of(asked, given)})", given.values
        )
        found |= {each for (each,) in of_installs.fetchall()}
    return {RowKind(each) for each in found if each}


def _left_out(connection: DuckDBPyConnection, asked: Asked) -> Mapping[str, int | Fraction]:
    """How many conversions are in no figure, by their currency."""
    found: dict[str, int | Fraction] = {}
    if asked.query.currency and asks_for_sales(asked):
        for currency, whole, weight in connection.execute(left_out_of(asked)).fetchall():
            found[currency] = found.get(currency, 0) + Fraction(weight, whole)
    return found


def _missing(connection: DuckDBPyConnection, asked: Asked) -> Mapping[Measure, int]:
    """How much more the totals have than all rows: what is of links that were deleted for good."""
    plain = [each for each in (Measure.CLICKS, Measure.NOT_COUNTED) if each in asked.query.measures]
    has_all = not asked.link_groups or asked.filters_links or Field.TAG in asked.group_by
    if has_all or not plain:
        return {}
    if not connection.execute("SELECT 1 FROM links WHERE NOT is_kept LIMIT 1").fetchone():
        return {}
    given = Given()
    of_purged = "clicks.link IN (SELECT link FROM links WHERE NOT is_kept)"
    counted = clicks_of(asked.in_all, given, of_purged)
    columns = ", ".join(f"coalesce({each}, 0)" for each in plain)
    row = connection.execute(f"SELECT {columns} FROM ({counted})", given.values).fetchone()
    return dict(zip(plain, row or (), strict=True))


def _on_former_days(asked: Asked) -> list[str]:
    """What is told of days whose single clicks have expired, if the period has some."""
    if asked.summed_until is None or asked.summed_until < asked.start // DAY_MS:
        return []
    cut = 0
    if Measure.VISITORS in asked.query.needed and knows_former_visitors(asked):
        former = (day for day in asked.spans.days if day <= asked.summed_until)
        cut = sum(map(asked.spans.is_cut, former))
    first = (_EPOCH + timedelta(days=asked.summed_until + 1)).date()
    return notes_on_former_days(asked.query, first, cut)
