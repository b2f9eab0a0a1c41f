"""What touches get of a period's sales: found once for all queries that are answered as of one moment."""

# ruff: noqa: S608 - names of tables are made of digests

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from backend.domain.analytics_query import PEOPLE
from backend.storage.analytics.credit import credited
from backend.storage.analytics.questions.asked import Asked
from backend.storage.analytics.questions.given import Given

# So many tellings' shares are kept for the next query. More would take much memory, and are found again.
_MOST_KEPT = 200_000
_IN_PERIOD = "tellings.at >= $start AND tellings.at < $end"
# What `credited` has, where there is nothing: to make that of facts takes longer.
_NOTHING = """
    SELECT NULL::VARCHAR AS kind, NULL::BIGINT AS "at", NULL::VARCHAR AS customer, NULL::VARCHAR AS name,
        NULL::VARCHAR AS currency, NULL::UTINYINT AS digits, NULL::BIGINT AS amount, NULL::BIGINT AS refunded,
        NULL::BIGINT AS weight, NULL::BIGINT AS whole, NULL::BOOLEAN AS has_touch, NULL::INTEGER AS link,
        NULL::VARCHAR AS campaign, NULL::VARCHAR AS source, NULL::VARCHAR AS medium, NULL::VARCHAR AS term,
        NULL::VARCHAR AS content, NULL::VARCHAR AS variant, NULL::BIGINT AS click_at
    WHERE false
"""


def shares_of(connection: DuckDBPyConnection, asked: Asked, kinds: Sequence[str], given: Given) -> str:
    """A SELECT of the shares of the period's sales, as of `credited`, at least those of these kinds."""
    has_customers = not PEOPLE.isdisjoint(asked.query.needed)
    counted = f"SELECT count(*) FROM tellings WHERE {_IN_PERIOD}"
    period = {"start": asked.start, "end": asked.end}
    [(tellings,)] = connection.execute(counted, period).fetchall()
    if tellings == 0:
        return _NOTHING
    rules = asked.query.rules
    if tellings > _MOST_KEPT:
        return given.take(credited(rules, asked.start, asked.end, kinds, has_customers=has_customers))
    return f"SELECT * FROM {_kept(connection, asked, kinds, has_customers=has_customers)}"


def _kept(connection: DuckDBPyConnection, asked: Asked, kinds: Sequence[str], *, has_customers: bool) -> str:
    """The name of a table with these shares, and maybe more: it is made where there is none."""
    # Queries of a page ask for conversions, and some of them for leads or customers too.
    read = sorted({*kinds, *(["lead", "conversion"] if kinds != ["event"] else [])})
    what = (asked.query.rules, asked.start, asked.end, read)
    names = {has: _name(*what, has) for has in ([True] if has_customers else [True, False])}
    named = "table_name IN (SELECT unnest($names))"
    is_there = f"SELECT table_name FROM duckdb_tables() WHERE temporary AND {named}"
    if found := connection.execute(is_there, {"names": list(names.values())}).fetchone():
        return str(found[0])
    name = names[has_customers]
    shares = credited(*what, has_customers=has_customers)
    connection.execute(f"CREATE TEMP TABLE {name} AS {shares.text}", shares.values)
    return name


def _name(*what: object) -> str:
    return f"shares_{hashlib.sha256(repr(what).encode()).hexdigest()[:16]}"
