"""The SQL of installs, filtered and grouped as a query asks. An install has no click, and perhaps a link."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, TIMES, Field, QueryField, is_of_events
from backend.storage.analytics.conditions.empty_tables import nothing_of
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.links import link_column, matching_links
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod, grouped_by
from backend.storage.analytics.conditions.times import TimeColumns

_APART = f"""
    CASE WHEN installs.link IS NULL THEN '{RowKind.NOT_CREDITED}'
        WHEN links.link IS NULL THEN '{RowKind.PURGED_LINKS}' END AS apart
"""


def asks_for_installs(period: QueriedPeriod) -> bool:
    """Whether the query needs installs."""
    return Measure.INSTALLS in period.query.needed


def installs_of(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of `installs` of each group that has any."""
    if "installs" in period.empty:
        return nothing_of(period, {"installs": "BIGINT"})
    tables = [f"matching_links AS ({matching_links(period, parameters)})"]
    has_tags = period.tags is not None and Field.TAG in period.group_by
    if period.tags and has_tags:
        tables.append(f"tagged AS ({period.tags.of_links('matching_links', parameters)})")
    times = TimeColumns(period, "installs.at", parameters)
    groups = [
        f"{_column(field, times)} AS {name}"
        for field, name in zip(period.group_by, period.columns, strict=True)
    ]
    apart = [_APART] if period.link_groups else []
    join_tags = "LEFT JOIN tagged ON tagged.link = links.link" * has_tags
    return f"""
        WITH {", ".join(tables)}
        SELECT {", ".join([*groups, *apart, "count(*) AS installs"])}
        FROM installs LEFT JOIN matching_links AS links ON links.link = installs.link {join_tags} {times.join}
        WHERE {" AND ".join(_conditions(period, parameters))}
        {grouped_by(len(groups) + len(apart))}
    """


def _column(field: QueryField, times: TimeColumns) -> str:
    if field in TIMES:
        return times.number
    if field is Field.TAG:
        return "tagged.tag"
    return f"links.{link_column(field)}" if field in LINK_FIELDS else "NULL::VARCHAR"


def _conditions(period: QueriedPeriod, parameters: SqlParameters) -> list[str]:
    """Which installs count: with filters by links only those that a link led to, with variants none."""
    conditions = [f"installs.at >= {parameters(period.start)}", f"installs.at < {parameters(period.end)}"]
    for name, chosen in period.query.filters.items():
        if name in CLICK_FIELDS or is_of_events(name):
            conditions.append(condition(chosen, "NULL::VARCHAR", parameters))
    if period.filters_links:
        conditions.append("links.link IS NOT NULL")
    if Field.VARIANT in period.query.fields:
        conditions.append("false")
    return conditions
