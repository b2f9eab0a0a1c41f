"""Whose devices are, from when to when, and whose sales are."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, CreditTo
from backend.domain.histories import MOST_DEVICES
from backend.storage.analytics.credit_sales import known

# Before and behind all times.
_FIRST, _LAST = (f"({each})::BIGINT" for each in (-(2**62), 2**62))
_IS_SHARED = "entry IN (SELECT entry FROM owners WHERE NOT is_only)"


def owner_tables(rules: CreditRules, *, has_customers: bool) -> Mapping[str, str]:
    """The table `sales`; where customers matter also `people`, who have numbers here, and `spans`.

    Where credit goes by customer also `crowded`: devices of a customer beyond the latest ones.
    """
    if rules.to is CreditTo.CUSTOMER:
        return {**_people(has_customers), **_spans(rules), **_sales("devices USING (device)"), **_crowded()}
    if has_customers:
        listed = "MATERIALIZED (SELECT record, entry FROM told JOIN devices USING (device))"
        sales = _sales("listed AS devices USING (record)")
        return {"listed": listed, **_people(has_customers), **_spans(rules), **sales}
    return {
        "sales": """MATERIALIZED (
            SELECT record, "at", entry, is_same AND device IS NOT NULL AS has_copies, NULL::INTEGER AS person
            FROM told LEFT JOIN devices USING (device)
        )"""
    }


def _people(has_customers: bool) -> Mapping[str, str]:
    told = "UNION ALL SELECT customer FROM told WHERE customer IS NOT NULL" if has_customers else ""
    return {
        "people": f"""MATERIALIZED (
            SELECT customer, (row_number() OVER ())::INTEGER AS person
            FROM (SELECT DISTINCT customer FROM (SELECT customer FROM identities {told}))
        )"""
    }


def _spans(rules: CreditRules) -> Mapping[str, str]:
    taken_back, replaced = (_by_then(rules, each) for each in ("taken_back_at", "replaced_at"))
    listed = "" if rules.to is CreditTo.CUSTOMER else "SEMI JOIN listed USING (entry)"
    return {
        "identified": f"""MATERIALIZED (
            SELECT entry, number, "at", person, {taken_back} AS is_back
            FROM identities {listed} JOIN people USING (customer)
            WHERE NOT {replaced} AND ({taken_back} OR {known(rules)})
        )""",
        "holding": "NOT MATERIALIZED (FROM identified WHERE NOT is_back)",
        "owners": """MATERIALIZED (
            SELECT entry, min(person) AS person, min(person) = max(person) AS is_only
            FROM holding GROUP BY entry
        )""",
        # Of identities at one time the last counts. Before all of them, a device is the first one's.
        "turns": f"""(
            SELECT entry, {_FIRST} AS since, arg_min(person, number) AS person
            FROM holding WHERE {_IS_SHARED} GROUP BY entry
            UNION ALL
            SELECT entry, "at", arg_max(person, number) FROM holding WHERE {_IS_SHARED} GROUP BY entry, "at"
        )""",
        "spans": f"""MATERIALIZED (
            SELECT entry, person, {_FIRST} AS since, {_LAST} AS until FROM owners WHERE is_only
            UNION ALL
            SELECT entry, person, since, lead(since, 1, {_LAST}) OVER (PARTITION BY entry ORDER BY since)
            FROM turns
        )""",
        "wrong": """(
            SELECT DISTINCT entry, person FROM identified ANTI JOIN holding USING (entry, person)
            WHERE is_back
        )""",
    }


def _sales(devices: str) -> Mapping[str, str]:
    return {
        "sales": f"""MATERIALIZED (
            SELECT told.record, told."at", devices.entry,
                told.is_same AND told.device IS NOT NULL AS has_copies,
                CASE WHEN told.customer IS NOT NULL AND wrong.entry IS NULL THEN people.person
                    ELSE spans.person END AS person,
                spans.entry IS NULL AS is_nobodys
            FROM told
            LEFT JOIN {devices}
            LEFT JOIN people ON people.customer = told.customer
            LEFT JOIN spans
                ON spans.entry = devices.entry AND told."at" >= spans.since AND told."at" < spans.until
            LEFT JOIN wrong ON wrong.entry = devices.entry AND wrong.person = people.person
        )"""
    }


def _crowded() -> Mapping[str, str]:
    """Hardly any customer has so many devices."""
    return {
        "crowds": f"(SELECT person FROM spans GROUP BY person HAVING count(*) > {MOST_DEVICES})",
        "crowded": f"""MATERIALIZED (
            SELECT person, entry
            FROM (SELECT DISTINCT person, entry FROM spans SEMI JOIN crowds USING (person)) AS theirs
            JOIN devices USING (entry)
            QUALIFY row_number() OVER (PARTITION BY person ORDER BY last_seen_at DESC, device DESC)
                > {MOST_DEVICES}
        )""",
    }


def _by_then(rules: CreditRules, at: str) -> str:
    """The condition that something had been told that was told at this time, if ever."""
    if rules.as_of is None:
        return f"({at} IS NOT NULL)"
    return f"coalesce({at} < $credit_as_of, false)"
