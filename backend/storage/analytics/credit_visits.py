"""The visits of devices that count for sales, and what is to be known of them to give credit."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, CreditTo, Model
from backend.storage.analytics.credit_sales import known

# A list of visits is shorter than this.
_LONGEST = 1_024


def visit_tables(rules: CreditRules) -> Mapping[str, str]:
    """The table `counted` of sales before which there were visits."""
    in_window = is_in_window(rules, 'visited."at"', "sold_at")
    own_touch = 'visited."at") FILTER (WHERE visited.is_own AND visited.is_touch'
    found = {
        Model.LINEAR: "NULL::BIGINT AS first, NULL::BIGINT AS last",
        Model.FIRST: f"{_end('arg_min', rules, in_window)} AS first, NULL::BIGINT AS last",
        Model.POSITION_BASED: f"{_end('arg_min', rules, in_window)} AS first, "
        f"{_end('arg_max', rules, in_window)} AS last",
    }.get(rules.model, f"NULL::BIGINT AS first, {_end('arg_max', rules, in_window)} AS last")
    columns = (
        'visits.rowid AS visit, visits.device, visits.number, visits."at", visits.is_touch, visits.is_named'
    )
    return {
        "counted": f"""MATERIALIZED (
            SELECT record, count(*) FILTER (WHERE {in_window}) AS visit_count, {found},
                bool_or(visited.is_named) AS has_named,
                min({own_touch}) AS first_own, max({own_touch}) AS last_own
            FROM ({visits_before("sales", columns, rules)}) AS visited GROUP BY record
        )"""
    }


def visits_before(sales: str, columns: str, rules: CreditRules) -> str:
    """A SELECT of the record, `sold_at`, `is_own` and these columns for each visit until one of these sales.

    Of what servers named for a sale, and of copies that are kept with it, there is nothing here.
    """
    is_touch = "true" if rules.model is Model.LAST else "visits.is_touch"
    is_own = "visits.device IS NOT DISTINCT FROM sales.device"
    selected = f'SELECT sales.record, sales."at" AS sold_at, {is_own} AS is_own, {columns}'
    until = f'visits."at" <= sales."at" AND {is_touch} AND {known(rules, "visits.known_at")}'
    during = 'visits."at" >= spans.since AND visits."at" < spans.until'
    if rules.to is CreditTo.DEVICE:
        return f"""
            {selected} FROM {sales} AS sales JOIN visits ON visits.device = sales.device AND {until}
        """
    return f"""
        {selected} FROM {sales} AS sales
        JOIN (FROM spans ANTI JOIN crowded USING (customer, device)) AS spans
            ON spans.customer = sales.customer
        JOIN visits ON visits.device = spans.device AND {during} AND {until}
        UNION ALL
        {selected} FROM (FROM {sales} WHERE is_nobodys) AS sales
        JOIN visits ON visits.device = sales.device AND {until}
        UNION ALL
        {selected} FROM (FROM {sales} SEMI JOIN crowded USING (customer, device)) AS sales
        JOIN spans ON spans.device = sales.device AND spans.customer = sales.customer
        JOIN visits ON visits.device = spans.device AND {during} AND {until}
    """


def is_in_window(rules: CreditRules, at: str, sold_at: str) -> str:
    """The condition that a visit was not too long before the sale."""
    return "true" if rules.lookback_days is None else f"{at} >= {sold_at} - $credit_lookback"


def place(rules: CreditRules) -> str:
    """What visits before one sale sort by."""
    if rules.to is CreditTo.DEVICE:  # direct visits stand first in a device's list
        return f'visited."at" * {_LONGEST} + visited.number'
    is_touch = "visited.is_touch, " if rules.model is Model.LAST else ""
    return f'row(visited."at", {is_touch}visited.device, visited.number)'


def _end(which: str, rules: CreditRules, condition: str) -> str:
    return f"{which}(visited.visit, {place(rules)}) FILTER (WHERE {condition})"
