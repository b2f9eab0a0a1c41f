"""The SQL of leads, conversions, events, identities, people and revenue, as a query asks for them.

`keep_sales` makes a table of what a period's sales are credited to. So credit is worked out once, and rows,
totals and notes are added up from the same table.
"""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from duckdb import DuckDBPyConnection

from backend.domain.analytics.event_properties import event_fields
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, TIMES, Field, is_of_events
from backend.storage.analytics.conditions.empty_tables import nothing_of
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.links import matching_links
from backend.storage.analytics.conditions.moment_answers import execute_parsed
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod, grouped_by
from backend.storage.analytics.conditions.share_values import APART, OF_ADDRESS, value_of_share
from backend.storage.analytics.conditions.sql import Sql
from backend.storage.analytics.conditions.times import TimeColumns
from backend.storage.analytics.measures.costs import asks_what_has_cost, campaigns_with_cost
from backend.storage.analytics.measures.shares import earning_of, shares_of

# The measures for which each kind of record is read.
_READ_FOR = {
    "lead": {Measure.LEADS, Measure.CONTACTS},
    "conversion": {
        Measure.CONVERSIONS, Measure.CUSTOMERS, Measure.CONTACTS, Measure.REVENUE, Measure.REFUNDS,
    },
    "event": {Measure.EVENTS},
    "identify": {Measure.IDENTITIES},
}  # fmt: skip
_NOTHING = "NULL::VARCHAR"
# Events by properties, whose credit is kept for all queries of a page.
_JOIN_EVENTS = """
    LEFT JOIN (SELECT record AS told_record, metadata FROM records WHERE kind = 'event') AS told
        ON told.told_record = shares.record AND shares.kind = 'event'
"""
JOIN_EARNING = "LEFT JOIN earning ON earning.link = shares.link AND earning.clicked_at = shares.click_at"
_SUMS = """
    (sum(weight) FILTER (what = 'lead'))::BIGINT AS leads,
    (sum(weight) FILTER (what = 'conversion'))::BIGINT AS conversions,
    (sum(weight) FILTER (what = 'event'))::BIGINT AS events,
    (sum(weight) FILTER (what = 'identify'))::BIGINT AS identities,
    (sum(weight) FILTER (what = 'conversion' AND is_of_link))::BIGINT AS of_links,
    sum(amount) FILTER (what = 'conversion') AS revenue,
    sum(amount) FILTER (what = 'conversion' AND is_of_link) AS revenue_of_links,
    sum(refunded) FILTER (what = 'conversion') AS refunds
"""
_COUNTS = ("leads", "conversions", "events", "identities", "of_links")
_AMOUNTS = ("revenue", "revenue_of_links", "refunds")
_PEOPLE = {
    Measure.CUSTOMERS: "count(DISTINCT customer) FILTER (what = 'conversion') AS customers",
    Measure.CONTACTS: "count(DISTINCT customer) AS contacts",
}
# As domain/analytics/figures.Sold.
_SOLD = """
    list(struct_pack(
        whole := whole, currency := currency, digits := digits, leads := leads, conversions := conversions,
        events := events, identities := identities, of_links := of_links, revenue := revenue,
        revenue_of_links := revenue_of_links, refunds := refunds, costs_in := costs_in
    ) ORDER BY whole, currency, digits, costs_in) AS sold
"""
_SOLD_TYPES = {"whole": "BIGINT", "currency": "VARCHAR", "digits": "UTINYINT"}
_SOLD_TYPES |= dict.fromkeys(_COUNTS, "BIGINT") | dict.fromkeys(_AMOUNTS, "HUGEINT")
_SOLD_TYPES |= {"costs_in": "VARCHAR[]"}
_SOLD_TYPE = f"STRUCT({', '.join(f'{name} {kind}' for name, kind in _SOLD_TYPES.items())})[]"


def asks_for_sales(period: QueriedPeriod) -> bool:
    """Whether the query needs leads, conversions, events or identities."""
    return bool(_kinds(period))


def has_sales(period: QueriedPeriod) -> bool:
    """Whether the query needs any of these, and the period has some, of whatever kind."""
    tables = {"identities" if kind == "identify" else "tellings" for kind in _kinds(period)}
    return not tables <= period.empty


def _kinds(period: QueriedPeriod) -> list[str]:
    return [kind for kind, measures in _READ_FOR.items() if not measures.isdisjoint(period.query.needed)]


def keep_sales(connection: DuckDBPyConnection, period: QueriedPeriod) -> str:
    """Make the table `period.sold` of the shares of the period's sales that pass the query's filters.

    A row is the sum of the shares that the query does not tell apart. Returns what says which shares these
    are: where it is the same, all rows together have the same sums.
    """
    parameters, query = SqlParameters(), period.query
    shares = shares_of(connection, period, _kinds(period), parameters)
    earning = f"earning AS ({earning_of(connection, shares)})," if query.click_fields else ""
    links = matching_links(period, parameters)
    times = TimeColumns(period, "shares.at", parameters)
    with_cost = _join_costs(period, parameters)
    has_people = query.needs(MeasureKind.PEOPLE)
    columns = [
        f"{times.number or 'NULL::INTEGER'} AS part",
        f"{APART if query.has_kinds_of_touches else _NOTHING} AS apart",
        *(
            f"{value_of_share(field, parameters)} AS by_{name}"
            for field, name in zip(period.group_by, period.columns, strict=True)
            if field not in {*TIMES, Field.TAG}
        ),
        f"{'links.link' if Field.TAG in period.group_by else 'NULL::INTEGER'} AS of_link",
        "shares.link IS NOT NULL AS is_of_link",
        f"{'with_cost.currencies' if with_cost else 'NULL::VARCHAR[]'} AS costs_in",
        f"{_is_left_out(period, parameters)} AS is_left_out",
        f"{'customer' if has_people else 'NULL::VARCHAR'} AS customer",
        *("shares.kind AS what", "currency", "digits", "whole"),
    ]
    sums = [
        "sum(weight)::BIGINT AS weight",
        "sum(weight::HUGEINT * amount) AS amount",
        "sum(weight::HUGEINT * refunded) AS refunded",
    ]
    conditions = conditions_of_shares(period, parameters)
    text = f"""
        CREATE OR REPLACE TEMP TABLE {period.sold} AS
        WITH shares AS ({shares.text}), {earning} matching_links AS ({links})
        SELECT {", ".join([*columns, *sums])}
        FROM shares LEFT JOIN matching_links AS links ON links.link = shares.link
        {JOIN_EARNING if earning else ""} {_JOIN_EVENTS if event_fields(query.fields) else ""} {times.join}
        {with_cost}
        WHERE {" AND ".join(conditions)}
        {grouped_by(len(columns))}
    """
    execute_parsed(connection, text, parameters.values)
    return repr((shares.text, links, times.join, conditions, parameters.values, query.currency))


def single_sales_of(connection: DuckDBPyConnection, period: QueriedPeriod) -> Sql:
    """A SELECT of how many shares pass the query's filters, and of each: its sale, its part, and its touch.

    The newest come first. It takes `$most` of them, behind `$skipped` ones.
    """
    parameters = SqlParameters()
    shares = shares_of(connection, period, _kinds(period), parameters)
    earning = earning_of(connection, shares)
    conditions = [*conditions_of_shares(period, parameters), f"NOT {_is_left_out(period, parameters)}"]
    campaign = value_of_share(Field.CAMPAIGN, parameters)
    return parameters.whole(f"""
        WITH shares AS ({shares.text}), earning AS ({earning}),
        matching_links AS ({matching_links(period, parameters)})
        SELECT count(*) OVER (), shares.at, shares.name, told_records.transaction_id, shares.customer,
            shares.currency, shares.digits, shares.amount, shares.refunded, weight, whole, has_touch,
            links.id, links.link_name, {campaign}, earning.click.country, earning.click.platform
        FROM shares LEFT JOIN matching_links AS links ON links.link = shares.link
        LEFT JOIN (SELECT record, kind, transaction_id FROM records) AS told_records
            ON told_records.record = shares.record AND told_records.kind = shares.kind
        {JOIN_EARNING} {_JOIN_EVENTS if event_fields(period.query.fields) else ""}
        WHERE {" AND ".join(conditions)}
        ORDER BY shares.at DESC, shares.record DESC, shares.touched_at DESC NULLS LAST
        LIMIT $most OFFSET $skipped
    """)


def sales_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `sold`, a list as domain/analytics/figures.Sold, of each group that has any."""
    if not has_sales(period):
        return nothing_of(period, {"sold": _SOLD_TYPE})
    tables, source = _source(period, parameters)
    groups = _groups(period)
    names = [group.rpartition(" AS ")[2] for group in groups]
    currency = [
        f"CASE WHEN what = 'conversion' THEN {column} END AS {column}"
        for column in ("currency", "digits", "costs_in")
    ]
    return f"""
        {tables}
        SELECT {", ".join([*names, _SOLD])}
        FROM (
            SELECT {", ".join([*groups, "whole", *currency, _SUMS])} FROM {source}
            WHERE NOT is_left_out GROUP BY ALL
        ) AS sums
        GROUP BY ALL
    """


def people_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `customers` and `contacts`, those that the query needs, of each group that has any."""
    asked = [measure for measure in _PEOPLE if measure in period.query.needed]
    if not has_sales(period):
        return nothing_of(period, dict.fromkeys(asked, "BIGINT"))
    tables, source = _source(period, parameters)
    counts = [_PEOPLE[measure] for measure in asked]
    has_contacts = Measure.CONTACTS in period.query.needed
    kinds = "what IN ('lead', 'conversion')" if has_contacts else "what = 'conversion'"
    return f"""
        {tables}
        SELECT {", ".join([*_groups(period), *counts])} FROM {source}
        WHERE NOT is_left_out AND {kinds} AND customer IS NOT NULL
        GROUP BY ALL
    """


def left_out_of(period: QueriedPeriod) -> str:
    """A SELECT of `currency`, `whole` and the parts of conversions that are in no figure."""
    return f"""
        SELECT currency, whole, sum(weight)::BIGINT FROM {period.sold} WHERE is_left_out GROUP BY ALL
    """


def _source(period: QueriedPeriod, parameters: SqlParameters) -> tuple[str, str]:
    """The WITH and FROM clauses of the statements that add up sales."""
    if period.tags is None or Field.TAG not in period.group_by:
        return "", f"{period.sold} AS sales"
    tables = f"""
        WITH matching_links AS ({matching_links(period, parameters)}),
        tagged AS ({period.tags.of_links("matching_links", parameters)})
    """
    return tables, f"{period.sold} AS sales LEFT JOIN tagged ON tagged.link = sales.of_link"


def _groups(period: QueriedPeriod) -> list[str]:
    """The columns that rows are grouped by, and `apart` if some rows are separate from all links."""
    columns = []
    for field, name in zip(period.group_by, period.columns, strict=True):
        column = "part" if field in TIMES else "tagged.tag" if field is Field.TAG else f"by_{name}"
        columns.append(f"{column} AS {name}")
    return [*columns, *(["apart AS apart"] if columns and period.query.has_kinds else [])]


def conditions_of_shares(period: QueriedPeriod, parameters: SqlParameters) -> list[str]:
    """Which shares count. `links` are those that match the query, `earning` the clicks that earned them."""
    query = period.query
    conditions = [f"shares.kind IN ({', '.join(map(parameters, _kinds(period)))})"]
    for name, chosen in query.filters.items():
        if name in CLICK_FIELDS or is_of_events(name):
            conditions.append(condition(chosen, value_of_share(name, parameters), parameters))
    if Field.VARIANT in query.fields:
        conditions.append("shares.variant IS NOT NULL")
    if period.filters_links:
        of_address = [
            condition(chosen, OF_ADDRESS.get(name, _NOTHING), parameters)
            for name, chosen in query.filters.items()
            if name in LINK_FIELDS and name is not Field.TAG
        ]
        is_of_links_only = query.reach or (period.tags and not period.tags.without)
        of_address += ["false"] if is_of_links_only else []
        without = " AND ".join(["shares.link IS NULL", "shares.has_touch", *of_address])
        conditions.append(f"(links.link IS NOT NULL OR ({without}))")
    return conditions


def _join_costs(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A join of shares with the currencies in which their campaign's cost is known; "" if nobody asks."""
    if not asks_what_has_cost(period):
        return ""
    return f"""
        LEFT JOIN (
            SELECT campaign, list(currency ORDER BY currency) AS currencies
            FROM ({campaigns_with_cost(period, parameters)}) GROUP BY campaign
        ) AS with_cost ON with_cost.campaign = {value_of_share(Field.CAMPAIGN, parameters)}
    """


def _is_left_out(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """Whether these are conversions in another currency than the query's."""
    if period.query.currency is None:
        return "false"
    other = f"coalesce(shares.currency <> {parameters(period.query.currency)}, false)"
    return f"(shares.kind = 'conversion' AND {other})"
