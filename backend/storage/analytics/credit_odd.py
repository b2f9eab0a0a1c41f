"""Sales with visits of their own: such as servers named for them, and copies of what a device has no more."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, CreditTo
from backend.storage.analytics.credit_sales import known
from backend.storage.analytics.credit_visits import is_in_window, visits_before

# The click that led to a visit; null is none.
_CLICK = "{0}.link, {0}.click_at, {0}.click_mark"
# What visits sort by. Of the sale's own that are of no device, several may be of one time.
_ORDER = '"at", is_touch, device, named_link, named_click_at, named_mark, number'


def odd_tables(rules: CreditRules) -> Mapping[str, str]:
    """The table `odd_path` of the visits that count of odd sales; `visit` below 0 is of `record_visits`."""
    in_window = is_in_window(rules, '"at"', "sold_at")
    return {
        "odd": _odd(rules),
        "odd_sales": "MATERIALIZED (FROM sales SEMI JOIN odd USING (record))",
        "named_times": """(
            SELECT DISTINCT record, "at" FROM record_visits SEMI JOIN odd USING (record)
            WHERE telling IS NOT NULL
        )""",
        "gone": _gone(rules),
        "named": _named(rules),
        "all_odd": f"(({_of_devices(rules)}) UNION ALL FROM gone UNION ALL FROM named)",
        # Each click once: not what servers named where a browser told of it too, and that only once.
        "once": """(
            FROM all_odd QUALIFY NOT is_named OR row_number() OVER (
                PARTITION BY record, link, click_at, click_mark
                ORDER BY is_named, "at", is_of_none, device, number
            ) = 1
        )""",
        "odd_path": f"""(
            SELECT record, visit, is_touch, row_number() OVER path AS place,
                count(*) OVER (PARTITION BY record) AS visit_count
            FROM once WHERE {in_window}
            WINDOW path AS (PARTITION BY record ORDER BY {_ORDER})
        )""",
    }


def _odd(rules: CreditRules) -> str:
    return f"""MATERIALIZED (
        SELECT record FROM counted WHERE has_named
        UNION
        SELECT record FROM record_visits AS kept JOIN sales USING (record) LEFT JOIN counted USING (record)
        WHERE {known(rules, "kept.known_at")} AND kept."at" <= sales."at" AND (
            kept.telling IS NOT NULL OR (
                sales.is_same AND sales.device IS NOT NULL
                AND NOT coalesce(kept."at" = counted.first_own OR kept."at" = counted.last_own, false)
            )
        )
    )"""


def _of_devices(rules: CreditRules) -> str:
    columns = f"""
        visits.rowid AS visit, visits."at", visits.is_touch, visits.device, visits.number::BIGINT AS number,
        visits.is_named, {_CLICK.format("visits")},
        false AS is_of_none, NULL::VARCHAR AS named_link, NULL::BIGINT AS named_click_at,
        NULL::BIGINT AS named_mark
    """
    return f"SELECT * EXCLUDE (is_own) FROM ({visits_before('odd_sales', columns, rules)})"


def _gone(rules: CreditRules) -> str:
    """Copies of touches that the list of the sale's device has no more, while it was not somebody else's."""
    owner, is_own = "", "true"
    if rules.to is CreditTo.CUSTOMER:
        owner = """LEFT JOIN spans ON spans.device = sales.device
            AND kept."at" >= spans.since AND kept."at" < spans.until"""
        is_own = "(spans.customer IS NULL OR spans.customer = sales.customer)"
    return f"""(
        SELECT sales.record, sales."at" AS sold_at, -1 - kept.rowid AS visit, kept."at", true AS is_touch,
            sales.device, -1::BIGINT AS number, kept.is_named, {_CLICK.format("kept")},
            false AS is_of_none, NULL::VARCHAR AS named_link, NULL::BIGINT AS named_click_at,
            NULL::BIGINT AS named_mark
        FROM odd_sales AS sales JOIN record_visits AS kept USING (record)
        {owner}
        ANTI JOIN (
            SELECT device, "at" FROM visits WHERE is_touch AND {known(rules)}
            AND device IN (SELECT device FROM odd_sales)
        ) AS listed ON listed.device = sales.device AND listed."at" = kept."at"
        ANTI JOIN named_times ON named_times.record = kept.record AND named_times."at" = kept."at"
        WHERE kept.telling IS NULL AND sales.is_same AND sales.device IS NOT NULL
            AND kept."at" <= sales."at" AND {known(rules, "kept.known_at")} AND {is_own}
        QUALIFY kept.rowid = max(kept.rowid) OVER (PARTITION BY kept.record, kept."at")
    )"""


def _named(rules: CreditRules) -> str:
    return f"""(
        SELECT sales.record, sales."at" AS sold_at, -1 - named.rowid AS visit, named."at", true AS is_touch,
            '' AS device, named.telling::BIGINT AS number, true AS is_named, {_CLICK.format("named")},
            true AS is_of_none, links.id AS named_link, named.click_at AS named_click_at,
            named.click_mark AS named_mark
        FROM odd_sales AS sales JOIN record_visits AS named USING (record) LEFT JOIN links USING (link)
        WHERE named.telling IS NOT NULL AND named.click_mark IS NOT NULL
            AND named."at" <= sales."at" AND {known(rules, "named.known_at")}
    )"""
