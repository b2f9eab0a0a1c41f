"""Whose devices are, from when to when, and whose sales are."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, CreditTo
from backend.domain.histories import MOST_DEVICES
from backend.storage.analytics.credit_sales import known

# Before and behind all times.
FIRST, LAST = (f"({each})::BIGINT" for each in (-(2**62), 2**62))
_IS_SHARED = "device IN (SELECT device FROM owners WHERE NOT is_only)"


def owner_tables(rules: CreditRules) -> Mapping[str, str]:
    """The tables `spans` and `sales`; where credit goes by customer, also which devices are too many."""
    too_many = _too_many() if rules.to is CreditTo.CUSTOMER else {}
    return {**_spans(rules), **_sales(), **too_many}


def _spans(rules: CreditRules) -> Mapping[str, str]:
    is_own = "true" if rules.to is CreditTo.CUSTOMER else "device IN (SELECT device FROM told)"
    taken_back, replaced = (_by_then(rules, each) for each in ("taken_back_at", "replaced_at"))
    return {
        "holding": f"""NOT MATERIALIZED (
            SELECT device, number, "at", customer FROM identities
            WHERE NOT {replaced} AND NOT {taken_back} AND {known(rules)} AND {is_own}
        )""",
        "owners": """MATERIALIZED (
            SELECT device, min(customer) AS customer, min(customer) = max(customer) AS is_only
            FROM holding GROUP BY device
        )""",
        # Of identities at one time the last counts. Before all of them, a device is the first one's.
        "turns": f"""(
            SELECT device, {FIRST} AS since, arg_min(customer, number) AS customer
            FROM holding WHERE {_IS_SHARED} GROUP BY device
            UNION ALL
            SELECT device, "at", arg_max(customer, number)
            FROM holding WHERE {_IS_SHARED} GROUP BY device, "at"
        )""",
        "spans": f"""MATERIALIZED (
            SELECT device, customer, {FIRST} AS since, {LAST} AS until FROM owners WHERE is_only
            UNION ALL
            SELECT device, customer, since, lead(since, 1, {LAST}) OVER (PARTITION BY device ORDER BY since)
            FROM turns
        )""",
        "wrong": f"""(
            SELECT DISTINCT device, customer FROM identities
            ANTI JOIN holding USING (device, customer)
            WHERE NOT {replaced} AND {taken_back}
        )""",
    }


def _sales() -> Mapping[str, str]:
    return {
        "sales": """MATERIALIZED (
            SELECT told.record, told."at", told.device, told.is_same,
                CASE WHEN told.customer IS NOT NULL AND wrong.device IS NULL THEN told.customer
                    ELSE spans.customer END AS customer,
                told.device IS NOT NULL AND spans.device IS NULL AS is_nobodys
            FROM told
            LEFT JOIN spans
                ON spans.device = told.device AND told."at" >= spans.since AND told."at" < spans.until
            LEFT JOIN wrong ON wrong.device = told.device AND wrong.customer = told.customer
        )"""
    }


def _too_many() -> Mapping[str, str]:
    """Devices of a customer beyond the latest ones. Hardly any customer has so many."""
    return {
        "crowds": f"(SELECT customer FROM spans GROUP BY customer HAVING count(*) > {MOST_DEVICES})",
        "crowded": f"""MATERIALIZED (
            SELECT customer, device
            FROM (SELECT DISTINCT customer, device FROM spans SEMI JOIN crowds USING (customer)) AS theirs
            JOIN devices USING (device)
            QUALIFY row_number() OVER (PARTITION BY customer ORDER BY last_seen_at DESC, device DESC)
                > {MOST_DEVICES}
        )""",
    }


def _by_then(rules: CreditRules, at: str) -> str:
    """The condition that something had been told that was told at this time, if ever."""
    if rules.as_of is None:
        return f"({at} IS NOT NULL)"
    return f"coalesce({at} < $credit_as_of, false)"
