"""The sales of a period as they were told until the moment of the rules: time, device and customer."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.credit.tables import CreditTables

IN_PERIOD = '"at" >= $credit_start AND "at" < $credit_end'


def is_known(rules: CreditRules, known_at: str = "known_at") -> str:
    """The condition that the service knew of a row at the moment of the rules."""
    return "true" if rules.as_of is None else f"{known_at} < $credit_as_of"


def happened(rules: CreditRules, at: str) -> str:
    """The condition that the column with this name has a time, and one before the moment of the rules."""
    if rules.as_of is None:
        return f"({at} IS NOT NULL)"
    return f"coalesce({at} < $credit_as_of, false)"


def has_sales(tables: CreditTables, kinds: Sequence[Kind]) -> bool:
    """Whether the period has any telling of a sale of these kinds, or any identity if that is among them."""
    if Kind.IDENTIFY in kinds:
        tables.make("any_identity", f"SELECT 1 AS is_there FROM identities WHERE {IN_PERIOD} LIMIT 1")
    tables.make("any_telling", f"SELECT 1 AS is_there FROM tellings WHERE {IN_PERIOD} LIMIT 1")
    return tables.has("any_identity") or (tables.has("any_telling") and bool(kinds))


def find_sales(
    tables: CreditTables,
    rules: CreditRules,
    kinds: Sequence[Kind],
    *,
    more: Sequence[str] = (),
    has_people: bool,
    has_customers: bool,
) -> None:
    """Make the table `told_sales`, with the numbers of their devices; with `has_people` also `people`.

    `more` has SELECTs of what is credited as sales are. It is of none of the `kinds`.

    Devices without rows of their own have no number. Where visits of several devices count, `unlisted` has
    these devices' names, by which they sort. `has_copies`: the copies of touches that are kept with a sale
    are those of the sale's device. `told_person` is the customer that it `is_told` of;
    without `has_customers`, those that no device is identified as have no number.
    """
    tables.make("several", "SELECT DISTINCT record FROM tellings WHERE number > 0")
    if tables.has("several"):
        tables.make("told_again", _told_again(rules, kinds))
    sales = " UNION ALL ".join([_sales(tables, rules, kinds), *more])
    if has_people:
        tables.make("people", _people(sales if has_customers else None))
    tables.make("told_sales", _told_sales(sales, has_people))
    if rules.to is CreditTo.CUSTOMER:
        tables.make("nameless", "SELECT record FROM credit_told_sales WHERE entry IS NULL AND has_copies")
        if tables.has("nameless"):
            tables.make(
                "unlisted", f"SELECT record, device FROM ({sales}) SEMI JOIN credit_nameless USING (record)"
            )
    tables.drop("several", "told_again", "nameless")


def _people(sales: str | None) -> str:
    named = f"UNION ALL SELECT customer FROM ({sales}) WHERE customer IS NOT NULL" if sales else ""
    return f"""
        SELECT customer, (row_number() OVER ())::INTEGER AS person
        FROM (SELECT DISTINCT customer FROM (SELECT customer FROM identities WHERE customer <> '' {named}))
    """


def _told_sales(sales: str, has_people: bool) -> str:
    of_people, people = "", ""
    if has_people:
        of_people = ", people.person AS told_person, customer IS NOT NULL AS is_told"
        people = "LEFT JOIN credit_people AS people USING (customer)"
    return f"""
        SELECT record, "at", entry, is_same AND device IS NOT NULL AS has_copies {of_people}
        FROM ({sales}) LEFT JOIN devices USING (device) {people}
    """


def _sales(tables: CreditTables, rules: CreditRules, kinds: Sequence[Kind]) -> str:
    """A SELECT of the period's sales as they were told until the moment of the rules."""
    # Nearly all sales are told once. Of these, the one telling has everything.
    once = f"""
        SELECT record, "at", device, customer, true AS is_same FROM tellings
        SEMI JOIN (SELECT record FROM records WHERE {_is_of_kinds(rules, kinds)}) USING (record)
        {"ANTI JOIN credit_several USING (record)" if tables.has("several") else ""}
        WHERE number = 0 AND {IN_PERIOD} AND {is_known(rules)}
    """
    return f"{once} UNION ALL FROM credit_told_again" if tables.has("told_again") else once


def _told_again(rules: CreditRules, kinds: Sequence[Kind]) -> str:
    """A SELECT of the sales with several tellings.

    `is_same`: the device that the rules know of is the one that all tellings, also later ones, result in.
    """
    by_it = "telling.device IS NOT DISTINCT FROM names.device"
    return f"""
        WITH sale_tellings AS MATERIALIZED (
            SELECT *, {is_known(rules)} AS is_known FROM tellings SEMI JOIN credit_several USING (record)
            SEMI JOIN (SELECT record FROM records WHERE {_is_of_kinds(rules, kinds)}) USING (record)
        ),
        names AS (
            SELECT record, {_preferred("device")} AS device_of_all,
                {_preferred("device", "is_known")} AS device
            FROM sale_tellings GROUP BY record HAVING bool_or(is_known)
        ),
        sales AS (
            SELECT record, names.device,
                min(telling."at") FILTER (WHERE names.device IS NULL OR {by_it}) AS "at",
                {_preferred("customer", f"(is_server OR {by_it})")} AS customer,
                names.device IS NOT DISTINCT FROM names.device_of_all AS is_same
            FROM sale_tellings AS telling JOIN names USING (record)
            WHERE is_known
            GROUP BY ALL
        )
        SELECT record, "at", device, customer, is_same FROM sales WHERE {IN_PERIOD}
    """


def _is_of_kinds(rules: CreditRules, kinds: Sequence[Kind]) -> str:
    names = ", ".join(f"'{kind.value}'" for kind in kinds)
    of_kinds = f"kind IN ({names})" if names else "false"
    # As of a moment, a record may be known to have been at another time.
    return of_kinds if rules.as_of else f"{of_kinds} AND {IN_PERIOD}"


def _preferred(column: str, condition: str = "true") -> str:
    """The name from a server's telling, else a browser's: the earliest, at equal times the first in order."""
    name = f"{{'is_browser': NOT is_server, 'at': \"at\", 'name': {column}}}"
    return f"(min({name}) FILTER (WHERE {column} IS NOT NULL AND {condition})).name"
