"""The shares that a model gives to the visits that count."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, Model
from backend.storage.analytics.credit_sales import known
from backend.storage.analytics.credit_visits import is_in_window, visits_before

_TOLD = "campaign, source, medium, term, content, variant, click_at, click_mark"
_NAMES = ("at", "link", *_TOLD.split(", "))
_OF_SEVERAL = {Model.LINEAR, Model.POSITION_BASED}
_NUMBERS = {"at": "BIGINT", "link": "INTEGER", "click_at": "BIGINT", "click_mark": "BIGINT"}
_NO_VISIT = "false AS is_touch, " + ", ".join(
    f'NULL::{_NUMBERS.get(name, "VARCHAR")} AS "{name}"' for name in _NAMES
)
SHARES = f"""
SELECT records.kind, records.record, sales."at", sales.customer, records.name, records.currency,
    records.digits, records.amount, coalesce(paid_back.amount, 0) AS refunded, shares.weight, shares.whole,
    shares.is_touch AS has_touch, CASE WHEN shares.is_touch THEN shares."at" END AS touched_at, shares.link,
    {", ".join(f"shares.{name}" for name in _NAMES[2:])}
FROM shares JOIN sales USING (record) JOIN records USING (record) LEFT JOIN paid_back USING (record)
"""


def share_tables(rules: CreditRules) -> Mapping[str, str]:
    """The tables `shares` and `paid_back`, and those that they are made of."""
    plain = _of_several(rules) if rules.model in _OF_SEVERAL else _of_one(rules)
    return {
        "plain": "(FROM counted ANTI JOIN odd USING (record) WHERE visit_count > 0)",
        "plain_shares": f"({plain})",
        "odd_shares": f"MATERIALIZED ({_of_odd(rules)})",
        "shares": f"""(
            FROM plain_shares
            UNION ALL
            SELECT record, weight, whole, {_visit("visits")} FROM odd_shares AS chosen
            JOIN visits ON visits.rowid = chosen.visit
            UNION ALL
            SELECT record, weight, whole, {_visit("kept", is_touch="true")} FROM odd_shares AS chosen
            JOIN record_visits AS kept USING (record) WHERE kept.rowid = -1 - chosen.visit
            UNION ALL
            SELECT record, 1, 1, {_NO_VISIT} FROM sales
            ANTI JOIN plain USING (record) ANTI JOIN odd_shares USING (record)
        )""",
        "paid_back": f"""(
            SELECT record, sum(amount)::BIGINT AS amount FROM refunds WHERE {known(rules)} GROUP BY record
        )""",
    }


def _visit(table: str, is_touch: str = "") -> str:
    columns = ", ".join(f'{table}."{name}"' for name in _NAMES)
    return f"{is_touch or f'{table}.is_touch'} AS is_touch, {columns}"


def _of_one(rules: CreditRules) -> str:
    """Of sales that one visit gets, as it is nearly always."""
    which = "first" if rules.model is Model.FIRST else "last"
    return f"""
        SELECT plain.record, 1 AS weight, 1 AS whole, {_visit("visits")}
        FROM plain JOIN visits ON visits.rowid = plain.{which}
    """


def _of_several(rules: CreditRules) -> str:
    """Of sales that all touches before them get a part of."""
    weight, whole = _weights(rules, "sales.visit_count", "visits.rowid IN (sales.first, sales.last)")
    columns = f"{weight} AS weight, {whole} AS whole, {_visit('visits')}"
    sales = (
        "(SELECT sales.*, plain.visit_count, plain.first, plain.last FROM sales JOIN plain USING (record))"
    )
    found = visits_before("plain_sales", columns, rules)
    return f"""
        WITH plain_sales AS {sales}
        SELECT * EXCLUDE (sold_at, is_own) FROM ({found}) AS visited
        WHERE {is_in_window(rules, 'visited."at"', "visited.sold_at")}
    """


def _of_odd(rules: CreditRules) -> str:
    chosen = {Model.FIRST: "place = 1"}.get(rules.model, "place = visit_count")
    if rules.model in _OF_SEVERAL:
        chosen = "true"
    weight, whole = _weights(rules, "visit_count", "place IN (1, visit_count)")
    return f"SELECT record, visit, {weight} AS weight, {whole} AS whole FROM odd_path WHERE {chosen}"


def _weights(rules: CreditRules, count: str, is_end: str) -> tuple[str, str]:
    """The weight of a visit, and the sum of all of so many, as domain/credit has them."""
    if rules.model is Model.LINEAR:
        return "1", count
    if rules.model is Model.POSITION_BASED:
        return (
            f"CASE WHEN {count} > 2 AND {is_end} THEN 2 * ({count} - 2) ELSE 1 END",
            f"CASE WHEN {count} > 2 THEN 5 * ({count} - 2) ELSE {count} END",
        )
    return "1", "1"
