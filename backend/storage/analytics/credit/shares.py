"""The shares that a model gives to the visits that count."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Iterator

from backend.domain.sales.credit_rules import CreditRules, Model
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.credit.sales import is_known
from backend.storage.analytics.credit.tables import CreditTables
from backend.storage.analytics.credit.visits import is_in_window, visits_before

# Of a visit, in the order of the tables.
_NAMES = {
    "at": "BIGINT",
    "link": "INTEGER",
    **dict.fromkeys(("campaign", "source", "medium", "term", "content", "variant"), "VARCHAR"),
    **dict.fromkeys(("click_at", "click_mark"), "BIGINT"),
}
_NO_VISIT = ", ".join(["false AS is_touch", *(f'NULL::{kind} AS "{name}"' for name, kind in _NAMES.items())])
_RECORD = ("kind", "name", "currency", "digits", "amount")
_SALE = ", ".join(f"sales.{name}" for name in ("record", "at", "customer", *_RECORD, "refunded"))
_SALE = _SALE.replace("sales.at", 'sales."at" AS sold_at')
_ALL = f"{_SALE}, 1::BIGINT AS weight, 1::BIGINT AS whole"
# What `shares` selects, where there is nothing.
_SHARE = {
    **{"kind": "VARCHAR", "record": "BIGINT", "at": "BIGINT", "customer": "VARCHAR", "name": "VARCHAR"},
    **{"currency": "VARCHAR", "digits": "UTINYINT"},
    **dict.fromkeys(("amount", "refunded", "weight", "whole"), "BIGINT"),
    **{"has_touch": "BOOLEAN", "touched_at": "BIGINT"},
    **{name: kind for name, kind in _NAMES.items() if name != "at"},
}
_NULLS = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in _SHARE.items())
NO_SHARES = f"SELECT {_NULLS} WHERE false"
# What the amounts were that a later telling changed.
_AMOUNTS = """
    SELECT record, arg_max({'currency': currency, 'digits': digits, 'amount': amount}, known_at) AS then
    FROM amounts SEMI JOIN credit_plain USING (record) WHERE known_at < $credit_as_of GROUP BY record
"""
_OF_SEVERAL = {Model.LINEAR, Model.POSITION_BASED}


def shares(tables: CreditTables, rules: CreditRules, *, has_customers: bool) -> str:
    """A SELECT of the columns of shares."""
    paid_back = f"""
        SELECT record, currency, sum(amount)::BIGINT AS refunded
        FROM refunds SEMI JOIN credit_plain USING (record)
        WHERE {is_known(rules)} GROUP BY record, currency
    """
    tables.make("paid_back", paid_back)
    if rules.as_of is not None:
        tables.make("amounts", _AMOUNTS)
    odd = ""
    if tables.has("odd"):
        odd = f", odd AS NOT MATERIALIZED ({_sales(tables, 'odd_sales', has_customers)})"
    return f"""
        WITH plain AS NOT MATERIALIZED ({_sales(tables, "plain", has_customers)})
        {odd}
        SELECT kind, record, sold_at AS "at", customer, name, currency, digits, amount, refunded,
            weight, whole, is_touch AS has_touch, CASE WHEN is_touch THEN "at" END AS touched_at,
            {", ".join(name for name in _NAMES if name != "at")}
        FROM ({" UNION ALL ".join(_parts(tables, rules))})
    """


def _sales(tables: CreditTables, name: str, has_customers: bool) -> str:
    """A SELECT of these sales with the columns that every share of them has."""
    customer, people = "NULL::VARCHAR AS customer", ""
    refunded, paid_back = "0::BIGINT AS refunded", ""
    columns, amounts = {column: f"records.{column}" for column in _RECORD}, ""
    if tables.has("amounts"):
        for column in ("currency", "digits", "amount"):
            columns[column] = f"coalesce(amounts.then.{column}, records.{column})"
        amounts = "LEFT JOIN credit_amounts AS amounts USING (record)"
    if has_customers:
        customer, people = "people.customer", "LEFT JOIN credit_people AS people USING (person)"
    if tables.has("paid_back"):
        refunded = f"least(coalesce(paid_back.refunded, 0), {columns['amount']}) AS refunded"
        paid_back = f"""
            LEFT JOIN credit_paid_back AS paid_back
                ON paid_back.record = sales.record AND paid_back.currency = {columns["currency"]}
        """
    join = "JOIN"
    if tables.has("any_identity"):
        columns["kind"], join = f"coalesce(records.kind, '{Kind.IDENTIFY}')", "LEFT JOIN"
    is_odd = "ANTI JOIN credit_odd USING (record)" if tables.has("odd") and name == "plain" else ""
    return f"""
        SELECT sales.*, {customer}, {refunded},
            {", ".join(f"{value} AS {column}" for column, value in columns.items())}
        FROM credit_{name} AS sales {join} records USING (record) {people} {amounts} {paid_back} {is_odd}
    """


def _parts(tables: CreditTables, rules: CreditRules) -> Iterator[str]:
    yield _of_several(tables, rules) if rules.model in _OF_SEVERAL else _of_one(rules)
    yield f"SELECT {_ALL}, {_NO_VISIT} FROM plain AS sales WHERE coalesce(visit_count, 0) = 0"
    if tables.has("odd"):
        odd = _of_odd(rules)
        yield f"""
            SELECT {_SALE}, weight, whole, {_visit("visits")}
            FROM {odd} AS sales JOIN visits ON visits.rowid = sales.visit
        """
        yield f"""
            SELECT {_SALE}, weight, whole, {_visit("kept", is_touch="true")}
            FROM {odd} AS sales JOIN record_visits AS kept ON kept.rowid = -1 - sales.visit
        """
        yield f"SELECT {_ALL}, {_NO_VISIT} FROM odd AS sales ANTI JOIN credit_odd_path USING (record)"


def _visit(table: str, is_touch: str = "") -> str:
    columns = ", ".join(f'{table}."{name}"' for name in _NAMES)
    return f"{is_touch or f'{table}.is_touch'} AS is_touch, {columns}"


def _of_one(rules: CreditRules) -> str:
    """A SELECT of the shares of sales of which one visit gets everything."""
    which = "first" if rules.model is Model.FIRST else "last"
    return f"""
        SELECT {_ALL}, {_visit("visits")} FROM plain AS sales JOIN visits ON visits.rowid = sales.{which}
    """


def _of_several(tables: CreditTables, rules: CreditRules) -> str:
    """A SELECT of the shares of sales of which all touches before them get a part."""
    weight, whole = _weights(rules, "sales.visit_count", "visits.rowid IN (sales.first, sales.last)")
    columns = f"{_SALE}, {weight}::BIGINT AS weight, {whole}::BIGINT AS whole, {_visit('visits')}"
    visits = visits_before(tables, "(FROM plain WHERE visit_count > 0)", columns, rules)
    in_window = is_in_window(rules, '"at"', "sold_at")
    return f"FROM ({visits}) AS visited WHERE {in_window}"


def _of_odd(rules: CreditRules) -> str:
    chosen = "true"
    if rules.model not in _OF_SEVERAL:
        chosen = "path.place = 1" if rules.model is Model.FIRST else "path.place = path.visit_count"
    weight, whole = _weights(rules, "path.visit_count", "path.place IN (1, path.visit_count)")
    return f"""(
        SELECT odd.*, visit, {weight}::BIGINT AS weight, {whole}::BIGINT AS whole
        FROM credit_odd_path AS path JOIN odd USING (record) WHERE {chosen}
    )"""


def _weights(rules: CreditRules, count: str, is_end: str) -> tuple[str, str]:
    """The weight of a visit, and the sum of all of so many, as domain/sales/credit has them."""
    if rules.model is Model.LINEAR:
        return "1", count
    if rules.model is Model.POSITION_BASED:
        return (
            f"(CASE WHEN {count} > 2 AND {is_end} THEN 2 * ({count} - 2) ELSE 1 END)",
            f"(CASE WHEN {count} > 2 THEN 5 * ({count} - 2) ELSE {count} END)",
        )
    return "1", "1"
