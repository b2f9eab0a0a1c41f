"""Sales with visits beyond those that devices list: visits that servers named, and kept copies of touches."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.storage.analytics.credit.sales import is_known
from backend.storage.analytics.credit.tables import CreditTables
from backend.storage.analytics.credit.visits import is_in_window, visits_before

# What visits of a sale sort by: of no device first. Of these, several may be of one time.
_ORDER = '"at", is_touch, device NULLS FIRST, named_link, named_click_at, named_mark, number'
_KEPT = """
    SELECT sales.record, sales."at", sales.entry, sales.person, sales.has_copies, visits."at" AS kept_at,
        visits.* EXCLUDE (record, "at"), visits.rowid AS place
    FROM credit_odd_sales AS sales JOIN record_visits AS visits USING (record)
"""


def find_odd(tables: CreditTables, rules: CreditRules) -> None:
    """Make the table `odd` of such sales, and `odd_path` of the visits that count of them, in order.

    A `visit` below 0 is one of `record_visits`. These sales are in `plain` no more.
    """
    tables.make("odd", _odd(rules))
    if not tables.has("odd"):
        return
    tables.make("odd_sales", "FROM credit_plain SEMI JOIN credit_odd USING (record)")
    tables.make("kept", _KEPT)
    in_window = is_in_window(rules, '"at"', "sold_at")
    # Each click once: not what servers named where a browser told of it too, and that only once.
    path = f"""
        WITH once AS (
            FROM ({_of_devices(tables, rules)} UNION ALL {_gone(tables, rules)} UNION ALL {_named(rules)})
            QUALIFY NOT is_named OR row_number() OVER (
                PARTITION BY record, link, click_at, click_mark
                ORDER BY is_named, "at", device NULLS LAST, number
            ) = 1
        )
        SELECT record, visit, row_number() OVER path AS place,
            count(*) OVER (PARTITION BY record) AS visit_count
        FROM once WHERE {in_window}
        WINDOW path AS (PARTITION BY record ORDER BY {_ORDER})
    """
    tables.make("odd_path", path)
    tables.drop("kept", "unlisted")


def _odd(rules: CreditRules) -> str:
    return f"""
        SELECT record FROM credit_plain WHERE has_named
        UNION
        SELECT record FROM record_visits AS kept JOIN credit_plain AS sales USING (record)
        WHERE {is_known(rules, "kept.known_at")} AND kept."at" <= sales."at" AND (
            kept.telling IS NOT NULL OR (
                sales.has_copies
                AND NOT coalesce(kept."at" = sales.first_own OR kept."at" = sales.last_own, false)
            )
        )
    """


def _of_devices(tables: CreditTables, rules: CreditRules) -> str:
    device, names = "''", ""
    if rules.to is CreditTo.CUSTOMER:
        device, names = "devices.device", "JOIN devices ON devices.entry = visits.entry"
    columns = f"""
        sales.record, sales."at" AS sold_at, visits.rowid AS visit, visits."at", visits.is_touch,
        {device} AS device, visits.number, visits.is_named, visits.link, visits.click_at, visits.click_mark,
        NULL::VARCHAR AS named_link, NULL::BIGINT AS named_click_at, NULL::BIGINT AS named_mark
    """
    return f"FROM ({visits_before(tables, 'credit_odd_sales', columns, rules, more=names)})"


def _gone(tables: CreditTables, rules: CreditRules) -> str:
    """Copies of touches that the list of the sale's device has no more, while it was not somebody else's."""
    device, owner, is_own = "''", "", "true"
    if rules.to is CreditTo.CUSTOMER:
        device = "devices.device"
        owner = """
            LEFT JOIN devices ON devices.entry = kept.entry
            LEFT JOIN credit_spans AS spans
                ON spans.entry = kept.entry AND kept_at >= spans.since AND kept_at < spans.until
        """
        if tables.has("unlisted"):
            device = "coalesce(devices.device, unlisted.device)"
            owner += "LEFT JOIN credit_unlisted AS unlisted ON unlisted.record = kept.record"
        is_own = "(spans.entry IS NULL OR kept.person IS NULL OR spans.person = kept.person)"
    return f"""
        SELECT kept.record, kept."at", -1 - kept.place, kept_at, true, {device}, -1,
            kept.is_named, kept.link, kept.click_at, kept.click_mark, NULL, NULL, NULL
        FROM credit_kept AS kept {owner}
        ANTI JOIN (
            SELECT entry, "at" FROM visits SEMI JOIN credit_odd_sales USING (entry)
            WHERE is_touch AND {is_known(rules)}
        ) AS listed ON listed.entry = kept.entry AND listed."at" = kept_at
        ANTI JOIN (SELECT record, kept_at FROM credit_kept WHERE telling IS NOT NULL) AS named
            ON named.record = kept.record AND named.kept_at = kept.kept_at
        WHERE kept.telling IS NULL AND kept.has_copies AND kept_at <= kept."at"
            AND {is_known(rules, "kept.known_at")} AND {is_own}
        QUALIFY kept.place = max(kept.place) OVER (PARTITION BY kept.record, kept_at)
    """


def _named(rules: CreditRules) -> str:
    """What servers named for the sales; these visits are of no device."""
    return f"""
        SELECT kept.record, kept."at", -1 - kept.place, kept_at, true, NULL, kept.telling, true,
            kept.link, kept.click_at, kept.click_mark, links.id, kept.click_at, kept.click_mark
        FROM credit_kept AS kept LEFT JOIN links USING (link)
        WHERE kept.telling IS NOT NULL AND kept.click_mark IS NOT NULL AND kept_at <= kept."at"
            AND {is_known(rules, "kept.known_at")}
    """
