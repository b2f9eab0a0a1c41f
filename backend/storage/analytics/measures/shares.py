"""The shares of a period's sales, worked out once for all queries that are answered as of one moment."""

# ruff: noqa: S608 - names of tables are made of digests

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from backend.domain.analytics.measures import MeasureKind
from backend.domain.analytics.query import CLICK_FIELDS, Field
from backend.storage.analytics.conditions.moment_answers import execute_parsed, once, rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.credit.credit import credited
from backend.storage.analytics.credit.shares import NO_SHARES
from backend.storage.analytics.credit.tables import forget_credit

# The shares of at most so many tellings are kept for the next query. More would take much memory, and are
# worked out again.
_MOST_TELLINGS_KEPT = 200_000
_NOT_OF_CLICK = {Field.VARIANT, Field.REFERRING_SITE}  # of the touch, and of the referrer
_OF_CLICK = ", ".join(f"{field} := {field}" for field in Field if field in CLICK_FIELDS - _NOT_OF_CLICK)
# The click that earned a sale: of several in one millisecond always the same one, and one that counts where
# one does. Clicks that were added up are left out. The other columns are read only of the clicks that match.
_EARNING = f"""
    SELECT link, "at" AS clicked_at, min(struct_pack(
        is_other := reason IS NOT NULL, {_OF_CLICK}
    )) AS click
    FROM clicks
    WHERE ("at", rowid) IN (
        SELECT (clicks."at", clicks.rowid) FROM clicks
        JOIN (SELECT DISTINCT link, click_at FROM {{}} WHERE click_at IS NOT NULL) AS touched
            ON touched.link = clicks.link AND touched.click_at = clicks."at"
        WHERE weight = 1
    )
    GROUP BY ALL
"""
_TOLD = 'SELECT count(*) FROM {} WHERE "at" >= $start AND "at" < $end'
# Queries of a page ask for conversions, and some of them for leads too.
_ASKED_TOGETHER = frozenset({"lead", "conversion"})


class _KeptShares(NamedTuple):
    """A table of shares that is there already."""

    kinds: frozenset[str]
    has_customers: bool
    digest: str

    def has_all(self, kinds: frozenset[str], *, has_customers: bool) -> bool:
        """Whether it serves who asks for these: it may have more kinds, and customers too."""
        return self.kinds >= kinds and self.has_customers >= has_customers


class Shares(NamedTuple):
    """A SELECT of shares, for the next statement. `digest` names what is kept of them, if it is kept."""

    text: str
    digest: str | None = None


def shares_of(
    connection: DuckDBPyConnection, period: QueriedPeriod, kinds: Sequence[str], parameters: SqlParameters
) -> Shares:
    """The shares of the period's sales, as of `credited`, at least those of these kinds."""
    rules, start, end = period.query.rules, period.start, period.end
    has_customers = period.query.needs(MeasureKind.PEOPLE)
    tables = [_TOLD.format(table) for table in ("tellings", *(["identities"] if "identify" in kinds else []))]
    counted = f"SELECT {' + '.join(f'({table})' for table in tables)}"
    [(tellings,)] = rows_once(connection, counted, {"start": start, "end": end})
    if not tellings:
        return Shares(NO_SHARES)
    if tellings > _MOST_TELLINGS_KEPT:
        shares = credited(connection, rules, start, end, kinds, has_customers=has_customers)
        return Shares(parameters.take(shares))
    together = _ASKED_TOGETHER if _ASKED_TOGETHER.intersection(kinds) else ()
    all_kinds = frozenset((*kinds, *together))
    kept_shares = once(connection, (_KeptShares, rules, start, end), list[_KeptShares])
    for kept in kept_shares:
        if kept.has_all(all_kinds, has_customers=has_customers):
            return Shares(f"SELECT * FROM shares_{kept.digest}", kept.digest)
    digest = _digest(rules, start, end, sorted(all_kinds), has_customers)
    shares = credited(connection, rules, start, end, sorted(all_kinds), has_customers=has_customers)
    text = f"CREATE TEMP TABLE shares_{digest} AS {shares.text}"
    execute_parsed(connection, text, shares.values)
    kept_shares.append(_KeptShares(all_kinds, has_customers, digest))
    forget_credit(connection)
    return Shares(f"SELECT * FROM shares_{digest}", digest)


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def earning_of(connection: DuckDBPyConnection, shares: Shares) -> str:
    """A SELECT of the clicks that earned these shares, by `link` and `clicked_at`.

    It may name `shares`, which are these.
    """
    if shares.digest is None:
        return clicks_of("shares")
    name, kept = f"earning_{shares.digest}", f"shares_{shares.digest}"
    execute_parsed(connection, f"CREATE TEMP TABLE IF NOT EXISTS {name} AS {clicks_of(kept)}")
    return f"SELECT * FROM {name}"


def clicks_of(touches: str) -> str:
    """A SELECT of the clicks of the rows of this table, by `link` and `clicked_at`."""
    return _EARNING.format(touches)
