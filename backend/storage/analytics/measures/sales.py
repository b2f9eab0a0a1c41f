"""Leads, conversions and events, people and revenue, by what a query asks for.

`keep_sales` makes a table of its own of what a period's sales are credited to. So credit is given once, and
rows, totals and notes are added up from the same.
"""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, PEOPLE, TIMES, Field, Measure
from backend.storage.analytics.conditions.asked import Asked, grouped_by
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.conditions.links import asked_links, link_column
from backend.storage.analytics.conditions.times import TimeColumns
from backend.storage.analytics.measures.shares import earning_of, shares_of

# What is read for which measures.
_READ_FOR = {
    "lead": {Measure.LEADS, Measure.CONTACTS},
    "conversion": {
        Measure.CONVERSIONS, Measure.CUSTOMERS, Measure.CONTACTS, Measure.REVENUE, Measure.REFUNDS,
    },
    "event": {Measure.EVENTS},
}  # fmt: skip
# What the address of a visit said, where it came from no link.
_TOLD = {
    Field.CAMPAIGN: "shares.campaign",
    Field.SOURCE: "shares.source",
    Field.MEDIUM: "shares.medium",
    Field.TERM: "shares.term",
    Field.CONTENT: "shares.content",
}
_NOTHING = "NULL::VARCHAR"
_APART = f"""
    CASE WHEN NOT shares.has_touch THEN '{RowKind.NOT_CREDITED}'
        WHEN shares.link IS NOT NULL AND links.link IS NULL THEN '{RowKind.PURGED_LINKS}' END AS apart
"""
_JOIN_EARNING = "LEFT JOIN earning ON earning.link = shares.link AND earning.clicked_at = shares.click_at"
_SUMS = """
    (sum(weight) FILTER (what = 'lead'))::BIGINT AS leads,
    (sum(weight) FILTER (what = 'conversion'))::BIGINT AS conversions,
    (sum(weight) FILTER (what = 'event'))::BIGINT AS events,
    (sum(weight) FILTER (what = 'conversion' AND is_of_link))::BIGINT AS of_links,
    sum(amount) FILTER (what = 'conversion') AS revenue,
    sum(amount) FILTER (what = 'conversion' AND is_of_link) AS revenue_of_links,
    sum(refunded) FILTER (what = 'conversion') AS refunds
"""
_PEOPLE = {
    Measure.CUSTOMERS: "count(DISTINCT customer) FILTER (what = 'conversion') AS customers",
    Measure.CONTACTS: "count(DISTINCT customer) AS contacts",
}
# As domain/analytics/figures.Sold.
_SOLD = """
    list(struct_pack(
        whole := whole, currency := currency, digits := digits, leads := leads, conversions := conversions,
        events := events, of_links := of_links, revenue := revenue, revenue_of_links := revenue_of_links,
        refunds := refunds
    ) ORDER BY whole, currency, digits) AS sold
"""


def asks_for_sales(asked: Asked) -> bool:
    """Whether anything of sales is asked for."""
    return bool(_kinds(asked))


def _kinds(asked: Asked) -> list[str]:
    return [kind for kind, measures in _READ_FOR.items() if not measures.isdisjoint(asked.query.needed)]


def keep_sales(connection: DuckDBPyConnection, asked: Asked) -> None:
    """Make the table `asked.sold`: what the period's sales are credited to, as far as the query leaves it.

    A row has what sales come to that nothing of the query tells apart.
    """
    given, query = Given(), asked.query
    shares = shares_of(connection, asked, _kinds(asked), given)
    earning = f"earning AS ({earning_of(connection, shares)})," if query.click_fields else ""
    links = asked_links(asked, given)
    times = TimeColumns(asked, "shares.at", given)
    has_people = not PEOPLE.isdisjoint(query.needed)
    columns = [
        f"{times.number or 'NULL::INTEGER'} AS part",
        _APART,
        *(f"{_of_share(each)} AS by_{each}" for each in asked.group_by if each not in {*TIMES, Field.TAG}),
        f"{'links.link' if Field.TAG in asked.group_by else 'NULL::INTEGER'} AS of_link",
        "shares.link IS NOT NULL AS is_of_link",
        f"{_is_left_out(asked, given)} AS is_left_out",
        f"{'customer' if has_people else 'NULL::VARCHAR'} AS customer",
        *("shares.kind AS what", "currency", "digits", "whole"),
    ]
    sums = [
        "sum(weight)::BIGINT AS weight",
        "sum(weight::HUGEINT * amount) AS amount",
        "sum(weight::HUGEINT * refunded) AS refunded",
    ]
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE {asked.sold} AS
        WITH shares AS ({shares.text}), {earning} asked_links AS ({links})
        SELECT {", ".join([*columns, *sums])}
        FROM shares LEFT JOIN asked_links AS links ON links.link = shares.link
        {_JOIN_EARNING if earning else ""} {times.join}
        WHERE {" AND ".join(_conditions(asked, given))}
        {grouped_by(len(columns))}
        """,
        given.values,
    )


def sales_of(asked: Asked, given: Given) -> str:
    """A SELECT of `sold`, a list as domain/analytics/figures.Sold, of each group that has any."""
    tables, source = _source(asked, given)
    groups = _groups(asked)
    names = [each.rpartition(" AS ")[2] for each in groups]
    currency = [f"CASE WHEN what = 'conversion' THEN {each} END AS {each}" for each in ("currency", "digits")]
    return f"""
        {tables}
        SELECT {", ".join([*names, _SOLD])}
        FROM (
            SELECT {", ".join([*groups, "whole", *currency, _SUMS])} FROM {source}
            WHERE NOT is_left_out GROUP BY ALL
        ) AS sums
        GROUP BY ALL
    """


def people_of(asked: Asked, given: Given) -> str:
    """A SELECT of `customers` and `contacts`, those that are asked for, of each group that has any."""
    tables, source = _source(asked, given)
    counts = [_PEOPLE[each] for each in _PEOPLE if each in asked.query.needed]
    kinds = "what <> 'event'" if Measure.CONTACTS in asked.query.needed else "what = 'conversion'"
    return f"""
        {tables}
        SELECT {", ".join([*_groups(asked), *counts])} FROM {source}
        WHERE NOT is_left_out AND {kinds} AND customer IS NOT NULL
        GROUP BY ALL
    """


def left_out_of(asked: Asked) -> str:
    """A SELECT of `currency`, `whole` and the parts of conversions that are in no figure."""
    return f"""
        SELECT currency, whole, sum(weight)::BIGINT FROM {asked.sold} WHERE is_left_out GROUP BY ALL
    """


def _source(asked: Asked, given: Given) -> tuple[str, str]:
    """What sales are added up from: common tables, and what is behind FROM."""
    if asked.tags is None or Field.TAG not in asked.group_by:
        return "", f"{asked.sold} AS sales"
    tables = f"""
        WITH asked_links AS ({asked_links(asked, given)}),
        tagged AS ({asked.tags.of_links("asked_links", given)})
    """
    return tables, f"{asked.sold} AS sales LEFT JOIN tagged ON tagged.link = sales.of_link"


def _groups(asked: Asked) -> list[str]:
    """The columns that rows are by, and what stands apart from them."""
    columns = []
    for each, name in zip(asked.group_by, asked.columns, strict=True):
        column = "part" if each in TIMES else "tagged.tag" if each is Field.TAG else f"by_{each}"
        columns.append(f"{column} AS {name}")
    return [*columns, *(["apart AS apart"] if asked.link_groups else [])]


def _of_share(field: Field) -> str:
    """What a share counts by."""
    if field in LINK_FIELDS:
        own = f"links.{link_column(field)}"
        return f"CASE WHEN shares.link IS NULL THEN {_TOLD[field]} ELSE {own} END" if field in _TOLD else own
    match field:
        case Field.VARIANT:
            return "shares.variant"
        case Field.EVENT:
            return "shares.name"
    return f"earning.click.{field}"


def _conditions(asked: Asked, given: Given) -> list[str]:
    """Which shares count."""
    query = asked.query
    conditions = [f"shares.kind IN ({', '.join(map(given, _kinds(asked)))})"]
    for name, chosen in query.filters.items():
        if name in {*CLICK_FIELDS, Field.EVENT}:
            conditions.append(condition(chosen, _of_share(name), given))
    if Field.VARIANT in query.fields:
        conditions.append("shares.variant IS NOT NULL")
    if asked.filters_links:
        told = [
            condition(chosen, _TOLD.get(name, _NOTHING), given)
            for name, chosen in query.filters.items()
            if name in LINK_FIELDS and name is not Field.TAG
        ]
        told += ["false"] if asked.tags and not asked.tags.without else []
        without = " AND ".join(["shares.link IS NULL", "shares.has_touch", *told])
        conditions.append(f"(links.link IS NOT NULL OR ({without}))")
    return conditions


def _is_left_out(asked: Asked, given: Given) -> str:
    """Whether these are conversions in another currency than the query's."""
    if asked.query.currency is None:
        return "false"
    other = f"coalesce(shares.currency <> {given(asked.query.currency)}, false)"
    return f"(shares.kind = 'conversion' AND {other})"
