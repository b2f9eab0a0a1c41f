"""Sales with visits of their own: such as servers named for them, and copies of what a device has no more."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.credit_rules import CreditRules, CreditTo
from backend.storage.analytics.credit_sales import known
from backend.storage.analytics.credit_visits import is_in_window, visits_before

# What visits of a sale sort by: of no device first. Of these, several may be of one time.
_ORDER = '"at", is_touch, device NULLS FIRST, named_link, named_click_at, named_mark, number'


def odd_tables(rules: CreditRules) -> Mapping[str, str]:
    """The table `odd_path` of the visits that count of odd sales; `visit` below 0 is of `record_visits`."""
    in_window = is_in_window(rules, '"at"', "sold_at")
    return {
        "odd": _odd(rules),
        "odd_sales": "MATERIALIZED (FROM sales SEMI JOIN odd USING (record))",
        "kept": """NOT MATERIALIZED (
            SELECT sales.*, visits."at" AS kept_at, visits.* EXCLUDE (record, "at"), visits.rowid AS place
            FROM odd_sales AS sales JOIN record_visits AS visits USING (record)
        )""",
        "gone": _gone(rules),
        "named": _named(rules),
        "all_odd": f"({_of_devices(rules)} UNION ALL FROM gone UNION ALL FROM named)",
        # Each click once: not what servers named where a browser told of it too, and that only once.
        "once": """(
            FROM all_odd QUALIFY NOT is_named OR row_number() OVER (
                PARTITION BY record, link, click_at, click_mark
                ORDER BY is_named, "at", device NULLS LAST, number
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
                sales.has_copies
                AND NOT coalesce(kept."at" = counted.first_own OR kept."at" = counted.last_own, false)
            )
        )
    )"""


def _of_devices(rules: CreditRules) -> str:
    is_one = rules.to is CreditTo.DEVICE
    columns = f"""
        visits.rowid AS visit, visits."at", visits.is_touch, {"''" if is_one else "devices.device"} AS device,
        visits.number::BIGINT AS number, visits.is_named, visits.link, visits.click_at, visits.click_mark,
        NULL::VARCHAR AS named_link, NULL::BIGINT AS named_click_at, NULL::BIGINT AS named_mark
    """
    names = "" if is_one else "JOIN devices ON devices.entry = visits.entry"
    return f"SELECT * EXCLUDE (is_own) FROM ({visits_before('odd_sales', columns, rules, more=names)})"


def _gone(rules: CreditRules) -> str:
    """Copies of touches that the list of the sale's device has no more, while it was not somebody else's."""
    device, owner, is_own = "''", "", "true"
    if rules.to is CreditTo.CUSTOMER:
        device = "told.device"
        owner = """JOIN told USING (record) LEFT JOIN spans ON spans.entry = kept.entry
            AND kept_at >= spans.since AND kept_at < spans.until"""
        is_own = "(spans.entry IS NULL OR spans.person = kept.person)"
    return f"""(
        SELECT kept.record, kept."at", -1 - kept.place, kept_at, true, {device}, -1,
            kept.is_named, kept.link, kept.click_at, kept.click_mark, NULL, NULL, NULL
        FROM kept {owner}
        ANTI JOIN (
            SELECT entry, "at" FROM visits SEMI JOIN odd_sales USING (entry)
            WHERE is_touch AND {known(rules)}
        ) AS listed ON listed.entry = kept.entry AND listed."at" = kept_at
        ANTI JOIN (SELECT record, kept_at FROM kept WHERE telling IS NOT NULL) AS named
            ON named.record = kept.record AND named.kept_at = kept.kept_at
        WHERE kept.telling IS NULL AND kept.has_copies AND kept_at <= kept."at"
            AND {known(rules, "kept.known_at")} AND {is_own}
        QUALIFY kept.place = max(kept.place) OVER (PARTITION BY kept.record, kept_at)
    )"""


def _named(rules: CreditRules) -> str:
    """What servers named for the sales; these visits are of no device."""
    return f"""(
        SELECT kept.record, kept."at", -1 - kept.place, kept_at, true, NULL, kept.telling, true,
            kept.link, kept.click_at, kept.click_mark, links.id, kept.click_at, kept.click_mark
        FROM kept LEFT JOIN links USING (link)
        WHERE kept.telling IS NOT NULL AND kept.click_mark IS NOT NULL AND kept_at <= kept."at"
            AND {known(rules, "kept.known_at")}
    )"""
