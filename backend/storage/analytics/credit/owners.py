"""Which customer each device belonged to, from when to when, and which customer each sale belongs to."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.sales.histories import MOST_DEVICES, MOST_FIRST, MOST_LATEST
from backend.storage.analytics.credit.sales import happened, is_known
from backend.storage.analytics.credit.tables import CreditTables

# Before and behind all times.
_FIRST, _LAST = (f"({time})::BIGINT" for time in (-(2**62), 2**62))
_HOLDING = "(FROM credit_identified WHERE NOT is_back)"
# The number of nobody, where identities were not kept.
_NOBODY = -1
# The number of customers that sales name and no device is identified as, where those have none of their own.
_SOMEBODY_ELSE = -2
_IS_SHARED = "entry IN (SELECT entry FROM credit_owners WHERE NOT is_only)"
_OWNERS = f"""
    SELECT entry, min(person) AS person, min(person) = max(person) AS is_only FROM {_HOLDING} GROUP BY entry
"""
# Of identities at one time the last counts. Before all of them, a device is the first one's.
_SPANS = f"""
    WITH turns AS (
        SELECT entry, {_FIRST} AS since, arg_min(person, number) AS person
        FROM {_HOLDING} WHERE {_IS_SHARED} GROUP BY entry
        UNION ALL
        SELECT entry, "at", arg_max(person, number) FROM {_HOLDING} WHERE {_IS_SHARED} GROUP BY entry, "at"
    )
    SELECT entry, person, {_FIRST} AS since, {_LAST} AS until FROM credit_owners WHERE is_only
    UNION ALL
    SELECT entry, person, since, lead(since, 1, {_LAST}) OVER (PARTITION BY entry ORDER BY since) FROM turns
"""
_WRONG = f"""
    SELECT DISTINCT entry, person FROM credit_identified ANTI JOIN {_HOLDING} USING (entry, person)
    WHERE is_back
"""
_CROWDED = f"""
    WITH claims AS (
        SELECT person, entry, coalesce(bool_or(is_server), false) AS is_server, min(known_at) AS told_at
        FROM {_HOLDING} SEMI JOIN (
            SELECT person FROM {_HOLDING} WHERE person <> {_NOBODY}
            GROUP BY person HAVING count(DISTINCT entry) > {MOST_DEVICES}
        ) USING (person)
        GROUP BY person, entry
    ), seen AS (
        SELECT person, entry, is_server, told_at, device, row_number() OVER (
            PARTITION BY person, is_server ORDER BY last_seen_at DESC, device DESC
        ) AS place
        FROM claims JOIN devices USING (entry)
    ), earlier AS (
        SELECT person, entry, row_number() OVER (PARTITION BY person ORDER BY told_at, device) AS place
        FROM seen WHERE NOT is_server AND place > {MOST_LATEST}
    )
    SELECT person, entry FROM seen WHERE is_server AND place > {MOST_DEVICES}
    UNION ALL
    SELECT person, entry FROM earlier WHERE place > {MOST_FIRST}
"""


def find_owners(tables: CreditTables, rules: CreditRules, *, has_people: bool) -> None:
    """Make the table `sales`; with `has_people` also `spans`, in which devices were a customer's.

    Where credit goes by customer also `crowded`: devices of a customer beyond those that count.
    """
    if not has_people:
        nobody = "NULL::INTEGER AS person, entry IS NOT NULL AS is_nobodys"
        tables.make("sales", f'SELECT record, "at", entry, has_copies, {nobody} FROM credit_told_sales')
        tables.drop("told_sales")
        return
    _find_spans(tables, rules)
    tables.make("sales", _sales(tables))
    tables.drop("told_sales", "wrong")


def _find_spans(tables: CreditTables, rules: CreditRules) -> None:
    taken_back, replaced = (happened(rules, column) for column in ("taken_back_at", "replaced_at"))
    of_sales = "SEMI JOIN credit_told_sales USING (entry)" if rules.to is CreditTo.DEVICE else ""
    identified = f"""
        SELECT entry, number, "at", coalesce(person, {_NOBODY}) AS person, {taken_back} AS is_back,
            known_at, is_server
        FROM identities {of_sales} LEFT JOIN credit_people USING (customer)
        WHERE NOT {replaced} AND ({taken_back} OR {is_known(rules)})
    """
    tables.make("identified", identified)
    tables.make("owners", _OWNERS)
    tables.make("spans", _SPANS)
    tables.make("wrong", _WRONG)
    if rules.to is CreditTo.CUSTOMER:
        tables.make("crowded", _CROWDED)
    tables.drop("identified", "owners")


def _sales(tables: CreditTables) -> str:
    is_right, wrong = "sales.is_told", ""
    if tables.has("wrong"):
        is_right += " AND wrong.entry IS NULL"
        wrong = """
            LEFT JOIN credit_wrong AS wrong ON wrong.entry = sales.entry AND wrong.person = sales.told_person
        """
    told = f"coalesce(sales.told_person, {_SOMEBODY_ELSE})"
    owner = f"CASE WHEN {is_right} THEN {told} ELSE nullif(spans.person, {_NOBODY}) END"
    return f"""
        SELECT sales.record, sales."at", sales.entry, sales.has_copies, {owner} AS person,
            sales.entry IS NOT NULL AND (spans.entry IS NULL OR {owner} IS NULL) AS is_nobodys
        FROM credit_told_sales AS sales
        LEFT JOIN credit_spans AS spans
            ON spans.entry = sales.entry AND sales."at" >= spans.since AND sales."at" < spans.until
        {wrong}
    """
