"""The visits of devices that count for sales, and the figures of them that credit needs."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.storage.analytics.credit.sales import is_known
from backend.storage.analytics.credit.tables import CreditTables

# Which ends of the visits a model asks for.
_ENDS = {
    Model.LAST_NON_DIRECT: ("last",),
    Model.LAST: ("last",),
    Model.FIRST: ("first",),
    Model.LINEAR: (),
    Model.POSITION_BASED: ("first", "last"),
}
# Devices in the order of their names.
_RANKS = """
    SELECT entry, (row_number() OVER (ORDER BY device))::INTEGER AS rank
    FROM devices SEMI JOIN (
        SELECT entry FROM credit_spans UNION ALL SELECT entry FROM credit_sales WHERE is_nobodys
    ) USING (entry)
"""


def count_visits(tables: CreditTables, rules: CreditRules) -> None:
    """Make the table `plain` of all sales, with the number and the ends of the visits before them."""
    has_ranks = rules.to is CreditTo.CUSTOMER and bool(_ENDS[rules.model])
    if has_ranks:
        tables.make("ranks", _RANKS)
    if rules.to is CreditTo.CUSTOMER:
        tables.make("nobodys", "FROM credit_sales WHERE is_nobodys")
    ranks = "JOIN credit_ranks AS ranks ON ranks.entry = visits.entry" if has_ranks else ""
    place = _place(rules) if _ENDS[rules.model] else "0"
    columns = f"""
        sales.record, sales."at" AS sold_at, visits.entry = sales.entry AS is_own,
        visits.rowid AS visit, {place} AS place, visits."at", visits.is_touch, visits.is_named
    """
    in_window = is_in_window(rules, '"at"', "sold_at")
    own_touch = '"at") FILTER (WHERE is_own AND is_touch)'
    visits = visits_before(tables, "credit_sales", columns, rules, more=ranks)
    counted = f"""
        SELECT record, count(*) FILTER (WHERE {in_window}) AS visit_count, {_ends(rules, in_window)}
            bool_or(is_named) AS has_named, min({own_touch} AS first_own, max({own_touch} AS last_own
        FROM ({visits}) GROUP BY record
    """
    tables.make("counted", counted)
    tables.make("plain", "FROM credit_sales LEFT JOIN credit_counted USING (record)")
    tables.drop("ranks", "counted", "sales")


def visits_before(
    tables: CreditTables, sales: str, columns: str, rules: CreditRules, *, more: str = ""
) -> str:
    """A SELECT of these columns of `sales` and `visits` for each visit until one of these sales.

    Visits that servers named for a sale, and copies that are kept with a sale, are not among them. `more` is
    joined to each visit.
    """
    is_touch = "true" if rules.model is Model.LAST else "visits.is_touch"
    until = f'visits."at" <= sales."at" AND {is_touch} AND {is_known(rules, "visits.known_at")} {more}'
    during = 'visits."at" >= spans.since AND visits."at" < spans.until'
    selected = f"SELECT {columns}"
    if rules.to is CreditTo.DEVICE:
        return f"{selected} FROM {sales} AS sales JOIN visits ON visits.entry = sales.entry AND {until}"
    spans = "credit_spans"
    if tables.has("crowded"):
        spans = "(FROM credit_spans ANTI JOIN credit_crowded USING (person, entry))"
    visits = f"""
        {selected} FROM {sales} AS sales JOIN {spans} AS spans ON spans.person = sales.person
        JOIN visits ON visits.entry = spans.entry AND {during} AND {until}
    """
    if tables.has("nobodys"):
        visits += f"""
            UNION ALL {selected} FROM (FROM {sales} WHERE is_nobodys) AS sales
            JOIN visits ON visits.entry = sales.entry AND {until}
        """
    if tables.has("crowded"):
        visits += f"""
            UNION ALL {selected} FROM (FROM {sales} SEMI JOIN credit_crowded USING (person, entry)) AS sales
            JOIN credit_spans AS spans ON spans.entry = sales.entry AND spans.person = sales.person
            JOIN visits ON visits.entry = spans.entry AND {during} AND {until}
        """
    return visits


def is_in_window(rules: CreditRules, at: str, sold_at: str) -> str:
    """The condition that a visit was not too long before the sale."""
    return "true" if rules.lookback_days is None else f"{at} >= {sold_at} - $credit_lookback"


def _place(rules: CreditRules) -> str:
    """A number by which visits before a sale sort: by time, direct ones first, by device, as it lists them.

    Lists are shorter than 1,024, and begin with direct visits.
    """
    if rules.to is CreditTo.DEVICE:
        return 'visits."at" * 1024 + visits.number'
    is_touch = "visits.is_touch::BIGINT" if rules.model is Model.LAST else "0"
    return f"""
        visits."at"::HUGEINT * 2199023255552
        + ({is_touch} * 1099511627776 + ranks.rank::BIGINT * 1024 + visits.number)
    """


def _ends(rules: CreditRules, in_window: str) -> str:
    functions = {"first": "arg_min", "last": "arg_max"}
    return "".join(
        f"{functions[end]}(visit, place) FILTER (WHERE {in_window}) AS {end}, " for end in _ENDS[rules.model]
    )
