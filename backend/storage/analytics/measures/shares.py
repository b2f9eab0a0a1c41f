"""The shares of a period's sales, worked out once for all queries that are answered as of one moment."""

# ruff: noqa: S608 - names of tables are made of digests

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from backend.domain.analytics.query import PEOPLE
from backend.storage.analytics.conditions.moment_answers import parsed, rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.credit.credit import credited
from backend.storage.analytics.credit.shares import NO_SHARES
from backend.storage.analytics.credit.tables import forget_credit

# The shares of at most so many tellings are kept for the next query. More would take much memory, and are
# worked out again.
_MOST_TELLINGS_KEPT = 200_000
# The click that earned a sale: of several in one millisecond always the same one, and one that counts where
# one does. Clicks that were added up are left out. The other columns are read only of the clicks that match.
_EARNING = """
    SELECT link, "at" AS clicked_at, min(struct_pack(
        is_other := reason IS NOT NULL, country := country, platform := platform, system := system,
        browser := browser, referrer := referrer, outcome := outcome
    )) AS click
    FROM clicks
    WHERE rowid IN (
        SELECT clicks.rowid FROM clicks
        JOIN (SELECT DISTINCT link, click_at FROM {} WHERE click_at IS NOT NULL) AS touched
            ON touched.link = clicks.link AND touched.click_at = clicks."at"
        WHERE weight = 1
    )
    GROUP BY ALL
"""
_TOLD = 'SELECT count(*) FROM {} WHERE "at" >= $start AND "at" < $end'
# Queries of a page ask for conversions, and some of them for leads too.
_ASKED_TOGETHER = frozenset({"lead", "conversion"})


_KEPT = "CREATE TEMP TABLE IF NOT EXISTS kept_shares (asked VARCHAR, kinds VARCHAR[], has_customers BOOLEAN)"
_KEEP = "INSERT INTO temp.kept_shares VALUES ($asked, $kinds, $has_customers)"
# What was worked out with more kinds, or with customers, serves who asks for less.
_HAS_ALL = """
    SELECT kinds, has_customers FROM temp.kept_shares
    WHERE asked = $asked AND list_has_all(kinds, $kinds) AND (has_customers OR NOT $has_customers) LIMIT 1
"""


class Shares(NamedTuple):
    """A SELECT of shares, for the next statement. `digest` names what is kept of them, if it is kept."""

    text: str
    digest: str | None = None


def shares_of(
    connection: DuckDBPyConnection, period: QueriedPeriod, kinds: Sequence[str], parameters: SqlParameters
) -> Shares:
    """The shares of the period's sales, as of `credited`, at least those of these kinds."""
    rules, start, end = period.query.rules, period.start, period.end
    has_customers = not PEOPLE.isdisjoint(period.query.needed)
    tables = [_TOLD.format(table) for table in ("tellings", *(["identities"] if "identify" in kinds else []))]
    counted = f"SELECT {' + '.join(f'({table})' for table in tables)}"
    [(tellings,)] = rows_once(connection, counted, {"start": start, "end": end})
    if not tellings:
        return Shares(NO_SHARES)
    if tellings > _MOST_TELLINGS_KEPT:
        shares = credited(connection, rules, start, end, kinds, has_customers=has_customers)
        return Shares(parameters.take(shares))
    together = _ASKED_TOGETHER if _ASKED_TOGETHER.intersection(kinds) else ()
    asked = _digest(rules, start, end)
    all_kinds = sorted({*kinds, *together})
    wanted = {"kinds": all_kinds, "has_customers": has_customers}
    # DuckDB's own list of tables would hold the files of all organizations open, as in credit/tables.
    connection.execute(_KEPT)
    kept = connection.execute(_HAS_ALL, wanted | {"asked": asked}).fetchone()
    digest = _digest(asked, kept or tuple(wanted.values()))
    name = f"shares_{digest}"
    if not kept:
        shares = credited(connection, rules, start, end, all_kinds, has_customers=has_customers)
        connection.execute(parsed(connection, f"CREATE TEMP TABLE {name} AS {shares.text}"), shares.values)
        connection.execute(_KEEP, wanted | {"asked": asked})
        forget_credit(connection)
    return Shares(f"SELECT * FROM {name}", digest)


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def earning_of(connection: DuckDBPyConnection, shares: Shares) -> str:
    """A SELECT of the clicks that earned these shares, by `link` and `clicked_at`.

    It may name `shares`, which are these.
    """
    if shares.digest is None:
        return clicks_of("shares")
    name, kept = f"earning_{shares.digest}", f"shares_{shares.digest}"
    connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} AS {clicks_of(kept)}")
    return f"SELECT * FROM {name}"


def clicks_of(touches: str) -> str:
    """A SELECT of the clicks of the rows of this table, by `link` and `clicked_at`."""
    return _EARNING.format(touches)
