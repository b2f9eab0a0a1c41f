"""The sales of a period, as the rules know them: their time, device, and the customer they were told of."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.credit.tables import CreditTables

_IN_PERIOD = '"at" >= $credit_start AND "at" < $credit_end'


def known(rules: CreditRules, known_at: str = "known_at") -> str:
    """The condition that the service had been told of a row by then."""
    return "true" if rules.as_of is None else f"{known_at} < $credit_as_of"


def has_sales(tables: CreditTables, kinds: Sequence[Kind]) -> bool:
    """Whether anything was told of the period. If not, there is nothing to look for."""
    tables.make("found", f"SELECT 1 AS found FROM tellings WHERE {_IN_PERIOD} LIMIT 1")
    return tables.has("found") and bool(kinds)


def find_sales(
    tables: CreditTables, rules: CreditRules, kinds: Sequence[Kind], *, has_people: bool, has_customers: bool
) -> None:
    """Make the table `own` of the sales, with the numbers of their devices; with `has_people` also `people`.

    Devices of which nothing else is known have no number; where visits of several devices count, the names of
    those are in `unlisted`, by which they sort. `has_copies`: copies of touches that are kept with
    a sale are of the device that it is known to be of. `told_person` is the customer that it `is_told` of;
    without `has_customers`, those that no device is identified as have no number.
    """
    tables.make("several", "SELECT DISTINCT record FROM tellings WHERE number > 0")
    if tables.has("several"):
        tables.make("told_again", _told_again(rules, kinds))
    told = _told(tables, rules, kinds)
    if has_people:
        tables.make("people", _people(told if has_customers else None))
    tables.make("own", _own(told, has_people))
    if rules.to is CreditTo.CUSTOMER:
        tables.make("nameless", "SELECT record FROM credit_own WHERE entry IS NULL AND has_copies")
        if tables.has("nameless"):
            tables.make(
                "unlisted", f"SELECT record, device FROM ({told}) SEMI JOIN credit_nameless USING (record)"
            )
    tables.drop("several", "told_again", "nameless")


def _people(told: str | None) -> str:
    named = f"UNION ALL SELECT customer FROM ({told}) WHERE customer IS NOT NULL" if told else ""
    return f"""
        SELECT customer, (row_number() OVER ())::INTEGER AS person
        FROM (SELECT DISTINCT customer FROM (SELECT customer FROM identities {named}))
    """


def _own(told: str, has_people: bool) -> str:
    of_people, people = "", ""
    if has_people:
        of_people = ", people.person AS told_person, customer IS NOT NULL AS is_told"
        people = "LEFT JOIN credit_people AS people USING (customer)"
    return f"""
        SELECT record, "at", entry, is_same AND device IS NOT NULL AS has_copies {of_people}
        FROM ({told}) LEFT JOIN devices USING (device) {people}
    """


def _told(tables: CreditTables, rules: CreditRules, kinds: Sequence[Kind]) -> str:
    """A SELECT of what the rules know of the period's sales."""
    # Nearly all are told once; of these, the telling is all there is to know.
    once = f"""
        SELECT record, "at", device, customer, true AS is_same FROM tellings
        SEMI JOIN (SELECT record FROM records WHERE {_is_wanted(rules, kinds)}) USING (record)
        {"ANTI JOIN credit_several USING (record)" if tables.has("several") else ""}
        WHERE number = 0 AND {_IN_PERIOD} AND {known(rules)}
    """
    return f"{once} UNION ALL FROM credit_told_again" if tables.has("told_again") else once


def _told_again(rules: CreditRules, kinds: Sequence[Kind]) -> str:
    """`is_same`: what they are known to be of is the device that they are of by all tellings."""
    return f"""
        WITH each AS MATERIALIZED (
            SELECT *, {known(rules)} AS is_known FROM tellings SEMI JOIN credit_several USING (record)
            SEMI JOIN (SELECT record FROM records WHERE {_is_wanted(rules, kinds)}) USING (record)
        ),
        names AS (
            SELECT record, {_said("device")} AS device_of_all, {_said("device", "is_known")} AS device,
                {_said("customer", "is_known")} AS customer
            FROM each GROUP BY record HAVING bool_or(is_known)
        ),
        told AS (
            SELECT record, min(each."at") AS "at", names.device, names.customer,
                names.device IS NOT DISTINCT FROM names.device_of_all AS is_same
            FROM each JOIN names USING (record)
            WHERE is_known AND (names.device IS NULL OR each.device = names.device)
            GROUP BY ALL
        )
        FROM told WHERE {_IN_PERIOD}
    """


def _is_wanted(rules: CreditRules, kinds: Sequence[Kind]) -> str:
    names = ", ".join(f"'{each.value}'" for each in kinds)
    of_kinds = f"kind IN ({names})"
    # As of a moment, a record may be known to have been at another time.
    return of_kinds if rules.as_of else f"{of_kinds} AND {_IN_PERIOD}"


def _said(column: str, condition: str = "true") -> str:
    """What servers say, else browsers; of several the earliest, and of these the one that sorts first."""
    said = f"{{'is_browser': NOT is_server, 'at': \"at\", 'name': {column}}}"
    return f"(min({said}) FILTER (WHERE {column} IS NOT NULL AND {condition})).name"
