"""The shares that a model gives to the visits that count."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, Model
from backend.storage.analytics.credit_sales import known
from backend.storage.analytics.credit_visits import is_in_window, visits_before

# Of a visit, in the order of the tables.
_NAMES = {
    "at": "BIGINT",
    "link": "INTEGER",
    **dict.fromkeys(("campaign", "source", "medium", "term", "content", "variant"), "VARCHAR"),
    **dict.fromkeys(("click_at", "click_mark"), "BIGINT"),
}
_NO_VISIT = ", ".join(["false AS is_touch", *(f'NULL::{kind} AS "{name}"' for name, kind in _NAMES.items())])
_OF_SALE = 'sales.record, sales."at" AS sold_at, sales.person'
_OF_SEVERAL = {Model.LINEAR, Model.POSITION_BASED}


def shares(*, has_customers: bool) -> str:
    """A SELECT of the columns of shares, given all tables."""
    customer, people = "NULL::VARCHAR", ""
    if has_customers:
        customer, people = "people.customer", "LEFT JOIN people ON people.person = shares.person"
    return f"""
        SELECT records.kind, shares.record, shares.sold_at AS "at", {customer} AS customer, records.name,
            records.currency, records.digits, records.amount, coalesce(paid_back.amount, 0) AS refunded,
            shares.weight, shares.whole, shares.is_touch AS has_touch,
            CASE WHEN shares.is_touch THEN shares."at" END AS touched_at,
            {", ".join(f"shares.{name}" for name in _NAMES if name != "at")}
        FROM shares JOIN records USING (record) {people} LEFT JOIN paid_back USING (record)
    """


def share_tables(rules: CreditRules) -> Mapping[str, str]:
    """The tables `shares` and `paid_back`, and those that they are made of."""
    plain = _of_several(rules) if rules.model in _OF_SEVERAL else _of_one(rules)
    return {
        "plain": """NOT MATERIALIZED (
            FROM sales LEFT JOIN counted USING (record) ANTI JOIN odd USING (record)
        )""",
        "odd_shares": f"MATERIALIZED ({_of_odd(rules)})",
        "shares": f"""(
            {plain}
            UNION ALL
            SELECT {_OF_SALE}, 1::BIGINT AS weight, 1::BIGINT AS whole, {_NO_VISIT}
            FROM plain AS sales WHERE coalesce(visit_count, 0) = 0
            UNION ALL
            SELECT {_OF_SALE}, weight, whole, {_visit("visits")}
            FROM odd_shares AS sales JOIN visits ON visits.rowid = sales.visit
            UNION ALL
            SELECT {_OF_SALE}, weight, whole, {_visit("kept", is_touch="true")}
            FROM odd_shares AS sales JOIN record_visits AS kept ON kept.rowid = -1 - sales.visit
            UNION ALL
            SELECT {_OF_SALE}, 1, 1, {_NO_VISIT}
            FROM odd_sales AS sales ANTI JOIN odd_shares USING (record)
        )""",
        "paid_back": f"""(
            SELECT record, sum(amount)::BIGINT AS amount FROM refunds WHERE {known(rules)} GROUP BY record
        )""",
    }


def _visit(table: str, is_touch: str = "") -> str:
    columns = ", ".join(f'{table}."{name}"' for name in _NAMES)
    return f"{is_touch or f'{table}.is_touch'} AS is_touch, {columns}"


def _of_one(rules: CreditRules) -> str:
    """Of sales that one visit gets."""
    which = "first" if rules.model is Model.FIRST else "last"
    return f"""
        SELECT {_OF_SALE}, 1::BIGINT AS weight, 1::BIGINT AS whole, {_visit("visits")}
        FROM plain AS sales JOIN visits ON visits.rowid = sales.{which}
    """


def _of_several(rules: CreditRules) -> str:
    """Of sales that all touches before them get a part of."""
    weight, whole = _weights(rules, "sales.visit_count", "visits.rowid IN (sales.first, sales.last)")
    columns = f"sales.person, {weight}::BIGINT AS weight, {whole}::BIGINT AS whole, {_visit('visits')}"
    sales = "(FROM plain WHERE visit_count > 0)"
    return f"""
        SELECT * EXCLUDE (is_own) FROM ({visits_before(sales, columns, rules)}) AS visited
        WHERE {is_in_window(rules, '"at"', "sold_at")}
    """


def _of_odd(rules: CreditRules) -> str:
    chosen = "true"
    if rules.model not in _OF_SEVERAL:
        chosen = "place = 1" if rules.model is Model.FIRST else "place = visit_count"
    weight, whole = _weights(rules, "visit_count", "place IN (1, visit_count)")
    return f"""
        SELECT sales.*, visit, {weight}::BIGINT AS weight, {whole}::BIGINT AS whole
        FROM odd_path JOIN odd_sales AS sales USING (record) WHERE {chosen}
    """


def _weights(rules: CreditRules, count: str, is_end: str) -> tuple[str, str]:
    """The weight of a visit, and the sum of all of so many, as domain/credit has them."""
    if rules.model is Model.LINEAR:
        return "1", count
    if rules.model is Model.POSITION_BASED:
        return (
            f"(CASE WHEN {count} > 2 AND {is_end} THEN 2 * ({count} - 2) ELSE 1 END)",
            f"(CASE WHEN {count} > 2 THEN 5 * ({count} - 2) ELSE {count} END)",
        )
    return "1", "1"
