"""Who did what: the person of each lead, event and conversion, and of each click that a device told of.

A person is a number: of customers an even one, of devices that are nobody's an odd one. Numbers below 0 are
of devices without rows of their own, and of unknown devices that servers told of by a click.
"""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from backend.domain.analytics.funnels.funnel import Funnel, FunnelStepKind
from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.credit.owners import find_owners
from backend.storage.analytics.credit.sales import find_sales
from backend.storage.analytics.credit.tables import CreditTables
from backend.storage.analytics.funnels.tables import FunnelTables

# The click of a visit; its time, where the visit does not say which click led to it.
_CLICK = "visits.link, visits.click_at, visits.click_mark"
_DONE_AT = 'coalesce(visits.click_at, visits."at")'


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From `start` to before `end`, in milliseconds since 1970."""

    start: int
    end: int

    @property
    def values(self) -> dict[str, object]:
        """As parameters of statements."""
        return {"range_start": self.start, "range_end": self.end}


def find_people(
    tables: FunnelTables,
    credit: CreditTables,
    funnel: Funnel,
    kinds: Collection[Kind],
    times: TimeRange,
    *,
    has_names: bool = False,
) -> int:
    """Make the tables `records` and `clicks`, each with `who` did it and when.

    `credit` has the same range of times; the sales of these kinds stay there. With `has_names` also `names`,
    which has the customers and devices of the numbers `who`, as far as they have names. Returns the number
    of sales that are nobody's, and in no table.
    """
    by_customer = funnel.by is CreditTo.CUSTOMER
    # By customer, so that devices without rows of their own are named. Spans of devices need some kind.
    sale_rules = CreditRules(CreditTo.CUSTOMER)
    sale_kinds = [kind for kind in Kind if kind in kinds] or [Kind.LEAD]
    find_sales(credit, sale_rules, sale_kinds, has_people=by_customer, has_customers=by_customer)
    find_owners(credit, funnel.rules, has_people=by_customer)
    tables.make("records", _records(credit))
    if has_names:
        _find_names(tables, credit, by_customer=by_customer)
    has_clicks = any(step.kind is FunnelStepKind.CLICK for step in funnel.steps)
    tables.make("clicks", _clicks(by_customer=by_customer) + " LIMIT 0" * (not has_clicks), times.values)
    return _find_by_clicks(tables, times, by_customer=by_customer)


def _find_names(tables: FunnelTables, credit: CreditTables, *, by_customer: bool) -> None:
    """Make the table `names` of the numbers of people. A device has the customer that it was told of last."""
    held = """
        SELECT entry, nullif(arg_max(customer, number), '') AS customer FROM identities
        WHERE taken_back_at IS NULL AND replaced_at IS NULL GROUP BY entry
    """
    names = [
        f"""
        SELECT 2 * devices.entry + 1 AS who, device, held.customer
        FROM devices LEFT JOIN ({held}) AS held USING (entry)
    """
    ]
    if by_customer:
        names.append("SELECT 2 * person::BIGINT AS who, NULL AS device, customer FROM credit_people")
    if credit.has("unlisted"):
        names.append("SELECT DISTINCT -2 * number AS who, device, NULL AS customer FROM " + _UNLISTED)
    tables.make("names", " UNION ALL ".join(names))


# Devices without rows of their own, each record with the number of its one.
_UNLISTED = """(
    SELECT record, device, dense_rank() OVER (ORDER BY device) AS number FROM credit_unlisted
)"""


def _records(credit: CreditTables) -> str:
    number, unlisted = "NULL::BIGINT", ""
    if credit.has("unlisted"):
        number = "-2 * unlisted.number"
        unlisted = f"LEFT JOIN {_UNLISTED} AS unlisted USING (record)"
    return f"""
        SELECT record, sales."at", coalesce({_of_person("sales")}, {number}) AS who
        FROM credit_sales AS sales {unlisted}
    """


def _of_person(owned: str, entry: str = "") -> str:
    """The number of the customer of a row, else of its device, if it has one."""
    return f"coalesce(2 * {owned}.person::BIGINT, 2 * {entry or f'{owned}.entry'} + 1)"


def _clicks(*, by_customer: bool) -> str:
    """Each click of a person once, however often the person's devices and servers told of it."""
    who = _of_person("spans", "visits.entry") if by_customer else "2 * visits.entry + 1"
    return f"""
        SELECT {who} AS who, {_CLICK}, {_DONE_AT} AS "at", min(visits.variant) AS variant
        FROM visits {_JOIN_SPANS if by_customer else ""}
        WHERE visits.link IS NOT NULL AND {_DONE_AT} >= $range_start AND {_DONE_AT} < $range_end
        GROUP BY ALL
    """


_JOIN_SPANS = """
    LEFT JOIN credit_spans AS spans ON spans.entry = visits.entry
        AND visits."at" >= spans.since AND visits."at" < spans.until
"""


def _find_by_clicks(tables: FunnelTables, times: TimeRange, *, by_customer: bool) -> int:
    """Find the person of sales that name nobody, by the first click that servers named for them.

    It is whoever told of that click, a browser before a server and then the device that sorts first; else an
    unknown device, which has done that click. Returns the number of sales for which nobody is found.
    """
    if tables.make("named", _named(by_customer=by_customer)):
        tables.make("tellers", _tellers(by_customer=by_customer))
        tables.make("by_click", _BY_CLICK)
        tables.connection.execute(
            "UPDATE funnel_records SET who = found.who FROM funnel_by_click AS found "
            "WHERE funnel_records.who IS NULL AND found.record = funnel_records.record"
        )
        tables.connection.execute(_UNKNOWN_CLICKS, times.values)
        tables.drop("tellers", "by_click")
    left = tables.connection.execute("SELECT count(*) FROM funnel_records WHERE who IS NULL").fetchone()
    tables.drop("named")
    return int(left[0]) if left else 0


def _named(*, by_customer: bool) -> str:
    names = "device IS NOT NULL" + " OR customer IS NOT NULL" * by_customer
    return f"""
        SELECT record, visits.link, visits.click_at, visits.click_mark, visits.variant
        FROM record_visits AS visits JOIN links USING (link)
        ANTI JOIN (SELECT record FROM tellings WHERE {names}) AS named USING (record)
        WHERE visits.telling IS NOT NULL AND visits.click_mark IS NOT NULL
        QUALIFY row_number() OVER (
            PARTITION BY record ORDER BY visits.click_at, links.id, visits.click_mark, visits.telling
        ) = 1
    """


_IS_SAME_CLICK = """
    {0}.link = {1}.link AND {0}.click_at = {1}.click_at AND {0}.click_mark = {1}.click_mark
"""
_BY_CLICK = f"""
    SELECT named.* EXCLUDE (number), tellers.who IS NULL AS is_unknown,
        coalesce(tellers.who, -1 - 2 * number) AS who
    FROM (
        SELECT *, dense_rank() OVER (ORDER BY link, click_at, click_mark) AS number FROM funnel_named
    ) AS named
    LEFT JOIN funnel_tellers AS tellers ON {_IS_SAME_CLICK.format("tellers", "named")}
"""
_UNKNOWN_CLICKS = """
    INSERT INTO funnel_clicks BY NAME
    SELECT who, link, click_at, click_mark, click_at AS "at", min(variant) AS variant FROM funnel_by_click
    WHERE is_unknown AND click_at >= $range_start AND click_at < $range_end GROUP BY ALL
"""


def _tellers(*, by_customer: bool) -> str:
    """Who told of the named clicks."""
    who = _of_person("spans", "visits.entry") if by_customer else "2 * visits.entry + 1"
    return f"""
        SELECT {_CLICK}, {who} AS who
        FROM visits JOIN devices ON devices.entry = visits.entry {_JOIN_SPANS if by_customer else ""}
        WHERE EXISTS (FROM funnel_named AS named WHERE {_IS_SAME_CLICK.format("named", "visits")})
        QUALIFY row_number() OVER (
            PARTITION BY {_CLICK} ORDER BY visits.is_named, devices.device, visits."at", visits.number
        ) = 1
    """
