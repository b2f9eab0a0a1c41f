"""The SQL of clicks, requests that do not count, and visitors, filtered and grouped as a query asks."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, TIMES, Field, QueryField, is_of_events
from backend.domain.links.destinations.destination import Outcome
from backend.storage.analytics.conditions.empty_tables import nothing_of
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.links import link_column, link_groups, matching_links
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import DAY_MS, QueriedPeriod, grouped_by
from backend.storage.analytics.conditions.referring_sites import site_in_sql
from backend.storage.analytics.conditions.sql import Sql
from backend.storage.analytics.conditions.times import TimeColumns
from backend.storage.analytics.measures.costs import campaigns_with_cost

# Which rows of `clicks` each measure counts.
_WHICH = {
    Measure.CLICKS: "reason IS NULL",
    Measure.NOT_COUNTED: "reason IS NOT NULL",
    Measure.OPENS: f"reason IS NULL AND outcome = '{Outcome.APP}'",
}
_WITH_COST_TYPE = "STRUCT(currency VARCHAR, clicks BIGINT)[]"
_WITH_COST = """
    list(struct_pack(currency := currency, clicks := clicks) ORDER BY currency) AS clicks_with_cost
"""
# What is counted has several of them, as a link has tags, or several make one, as hosts make a site.
_OF_SEVERAL = frozenset({Field.TAG, Field.REFERRING_SITE})
# What a field is made of that has no column.
_STORED: Mapping[QueryField, Field] = {Field.REFERRING_SITE: Field.REFERRER}
# The sites of all referrers are looked up once: that takes a thousand times as long as to compare a text.
_FILTERED_BY_SITE = """
    coalesce(clicks.referrer, '') IN (
        SELECT coalesce(referrer, '') FROM (SELECT DISTINCT referrer FROM clicks) AS known WHERE {}
    )
"""
# A visitor's hash, of 32 bits, tells visitors of one day in UTC apart: the day is put before it.
_WHO = "{day} * 4294967296 + visitor AS who"


def clicks_with_cost_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `clicks_with_cost` of each group that has any: those of campaigns whose cost is known.

    It is a list with the clicks for each currency of the costs. Groups are by fields that costs have.
    """
    if period.empty & {"clicks", "costs"}:
        return nothing_of(period, {"clicks_with_cost": _WITH_COST_TYPE})
    by_campaign = period if Field.CAMPAIGN in period.group_by else period.grouped_too(Field.CAMPAIGN)
    clicks = clicks_of(by_campaign, parameters, only=frozenset({Measure.CLICKS}))
    campaign = by_campaign.columns[by_campaign.group_by.index(Field.CAMPAIGN)]
    sums = f"""
        SELECT {", ".join([*period.columns, "currency", "sum(clicks)::BIGINT AS clicks"])}
        FROM ({clicks}) AS counted JOIN ({campaigns_with_cost(period, parameters)}) AS with_cost
            ON with_cost.campaign = counted.{campaign}
        GROUP BY ALL
    """
    return f"SELECT {', '.join([*period.columns, _WITH_COST])} FROM ({sums}) GROUP BY ALL"


def clicks_of(
    period: QueriedPeriod,
    parameters: SqlParameters,
    more: str = "",
    only: frozenset[Measure] = frozenset(_WHICH),
) -> str:
    """A SELECT of `clicks`, `not_counted` and `opens` of each group that has any of them, as is asked.

    `more` is a condition for clicks; `only` are those of the measures that may be counted.
    """
    asks = [measure for measure in _WHICH if measure in period.query.needed & only]
    if "clicks" in period.empty:
        return nothing_of(period, dict.fromkeys(asks, "BIGINT"))
    sums = [f"(sum(weight) FILTER ({_WHICH[measure]}))::BIGINT AS {measure}" for measure in asks]
    counts_all = {Measure.CLICKS, Measure.NOT_COUNTED} <= {*asks}
    counted_ones = [] if counts_all else [f"({' OR '.join(_WHICH[measure] for measure in asks)})"]
    times = TimeColumns(period, "clicks.at", parameters)
    columns = _counted_by(period, times)
    is_event = bool(period.group_by) and not columns  # no row of nothing
    counted = f"""
        SELECT {", ".join([*columns, *sums])}
        FROM clicks {times.join} {_join_links(period)}
        WHERE {" AND ".join([*_conditions(period, parameters), *counted_ones, *([more] if more else [])])}
        GROUP BY ALL {"HAVING count(*) > 0" * is_event}
    """
    if _OF_SEVERAL.intersection(period.group_by):
        return _shown(
            period, parameters, counted, [f"sum({measure})::BIGINT AS {measure}" for measure in asks]
        )
    return _shown(period, parameters, counted, [*asks], is_grouped=False)


def single_clicks_of(period: QueriedPeriod, until: int | None) -> Sql:
    """A SELECT of the single requests of the period, those that its query counts: the newest first.

    It takes `$most` of them, behind `$skipped` ones. `until` is the last millisecond that is looked at.
    """
    parameters = SqlParameters()
    is_not = "NOT " * (Measure.CLICKS not in period.query.needed)
    conditions = [*_conditions(period, parameters), f"reason IS {is_not}NULL", "kind IS NOT NULL"]
    conditions += [f"clicks.at <= {parameters(until)}"] if until is not None else []
    tables = ""
    if period.filters_links:
        tables = f"WITH matching_links AS ({matching_links(period, parameters)})"
    return parameters.whole(f"""
        {tables}
        SELECT clicks.at, links.id, CASE WHEN links.is_kept THEN links.link_name END, reason, outcome,
            platform, system, browser, country, referrer, variant
        FROM clicks JOIN links ON links.link = clicks.link
        WHERE {" AND ".join(conditions)}
        ORDER BY clicks.at DESC, clicks.rowid DESC LIMIT $most OFFSET $skipped
    """)


def visitors_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `visitors` of each group that has any."""
    if "clicks" in period.empty and not knows_former_visitors(period):
        return nothing_of(period, {"visitors": "BIGINT"})
    times = TimeColumns(period, "clicks.at", parameters)
    who = _WHO.format(day=f"(clicks.at // {DAY_MS})")
    conditions = [*_conditions(period, parameters), "reason IS NULL", "visitor IS NOT NULL"]
    seen = f"""
        SELECT DISTINCT {", ".join([*_counted_by(period, times), who])}
        FROM clicks {times.join} {_join_links(period)} WHERE {" AND ".join(conditions)}
    """
    if knows_former_visitors(period):
        seen += f" UNION {_former_visitors(period, parameters)}"
    distinct = "DISTINCT " * bool(_OF_SEVERAL.intersection(period.group_by))
    return _shown(period, parameters, seen, [f"count({distinct}who) AS visitors"])


def knows_former_visitors(period: QueriedPeriod) -> bool:
    """Whether the query counts visitors whose single clicks have expired.

    Of them only the day and the link are stored, so it does not for queries by other fields of clicks.
    """
    if period.summed_until is None or period.summed_until < period.start // DAY_MS:
        return False
    if Field.VARIANT in period.query.fields or Field.HOUR in period.group_by:
        return False
    return CLICK_FIELDS.isdisjoint((*period.group_by, *period.query.filters))


def _former_visitors(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """The visitors of days whose single clicks have expired. Each day is where its noon is."""
    noon = f"(clicks.day::BIGINT * {DAY_MS} + {DAY_MS // 2})"
    times = TimeColumns(period, noon, parameters)
    columns = [*_counted_by(period, times), _WHO.format(day="clicks.day::BIGINT")]
    conditions = [
        f"{noon} >= {parameters(period.start)}",
        f"{noon} < {parameters(period.end)}",
        *_others(period, parameters),
    ]
    return f"""
        SELECT DISTINCT {", ".join(columns)}
        FROM day_visitors AS clicks {times.join} {_join_links(period)} WHERE {" AND ".join(conditions)}
    """


def _counted_by(period: QueriedPeriod, times: TimeColumns) -> list[str]:
    """The columns that clicks are added up by. All fields of links are one of them: the group's number."""
    parts = [f"{times.number} AS part"] if period.has_time else []
    groups = ["grouped.link_group"] if period.link_groups else []
    stored = [_STORED.get(field, field) for field in period.group_by if field in CLICK_FIELDS]
    return [*parts, *groups, *(f"clicks.{field}" for field in dict.fromkeys(stored))]


def _join_links(period: QueriedPeriod) -> str:
    return "JOIN grouped ON grouped.link = clicks.link" if period.link_groups else ""


def _conditions(period: QueriedPeriod, parameters: SqlParameters) -> list[str]:
    """Which rows of `clicks` count."""
    conditions = [f"clicks.at >= {parameters(period.start)}", f"clicks.at < {parameters(period.end)}"]
    if period.last_block is not None:
        conditions.append(f"clicks.block <= {parameters(period.last_block)}")
    for name, chosen in period.query.filters.items():
        if name is Field.REFERRING_SITE:
            passes = condition(chosen, site_in_sql("known.referrer"), parameters)
            conditions.append(_FILTERED_BY_SITE.format(passes))
        elif name in CLICK_FIELDS:
            conditions.append(condition(chosen, f"clicks.{name}", parameters))
    if Field.VARIANT in period.query.fields:
        conditions.append("clicks.variant IS NOT NULL")
    return conditions + _others(period, parameters)


def _others(period: QueriedPeriod, parameters: SqlParameters) -> list[str]:
    """The conditions for filters by events, and by links where these are not joined."""
    conditions = [
        condition(chosen, "NULL::VARCHAR", parameters)
        for name, chosen in period.query.filters.items()
        if is_of_events(name)
    ]
    if period.filters_links and not period.link_groups:
        conditions.append("clicks.link IN (SELECT link FROM matching_links)")
    return conditions


def _shown(
    period: QueriedPeriod,
    parameters: SqlParameters,
    counted: str,
    values: list[str],
    *,
    is_grouped: bool = True,
) -> str:
    """A SELECT of these values by the columns of the query's groups, from what was counted."""
    tables, join = "", ""
    if period.link_groups:
        tables = f"WITH {link_groups(period, parameters)}"
        join = "JOIN named ON named.link_group = counted.link_group"
    elif period.filters_links:
        tables = f"WITH matching_links AS ({matching_links(period, parameters)})"
    groups = [
        f"{_column(field)} AS {name}" for field, name in zip(period.group_by, period.columns, strict=True)
    ]
    return f"""
        {tables}
        SELECT {", ".join([*groups, *values])} FROM ({counted}) AS counted {join}
        {grouped_by(len(groups)) if is_grouped else ""}
    """


def _column(field: QueryField) -> str:
    if is_of_events(field):
        return "NULL::VARCHAR"
    if field in TIMES:
        return "counted.part"
    if field is Field.REFERRING_SITE:
        return site_in_sql("counted.referrer")
    return f"named.{link_column(field)}" if field in LINK_FIELDS else f"counted.{field}"
