"""Installs by what a query asks for: no click is known of them, and maybe a link."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, TIMES, Field, Measure
from backend.storage.analytics.conditions.asked import Asked, grouped_by
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.conditions.links import asked_links, link_column
from backend.storage.analytics.conditions.times import TimeColumns

_APART = f"""
    CASE WHEN installs.link IS NULL THEN '{RowKind.NOT_CREDITED}'
        WHEN links.link IS NULL THEN '{RowKind.PURGED_LINKS}' END AS apart
"""


def asks_for_installs(asked: Asked) -> bool:
    """Whether they are asked for."""
    return Measure.INSTALLS in asked.query.needed


def installs_of(asked: Asked, given: Given) -> str:
    """A SELECT of `installs` of each group that has any."""
    tables = [f"asked_links AS ({asked_links(asked, given)})"]
    has_tags = asked.tags is not None and Field.TAG in asked.group_by
    if asked.tags and has_tags:
        tables.append(f"tagged AS ({asked.tags.of_links('asked_links', given)})")
    times = TimeColumns(asked, "installs.at", given)
    groups = [
        f"{_column(each, times)} AS {name}" for each, name in zip(asked.group_by, asked.columns, strict=True)
    ]
    apart = [_APART] if asked.link_groups else []
    join_tags = "LEFT JOIN tagged ON tagged.link = links.link" * has_tags
    return f"""
        WITH {", ".join(tables)}
        SELECT {", ".join([*groups, *apart, "count(*) AS installs"])}
        FROM installs LEFT JOIN asked_links AS links ON links.link = installs.link {join_tags} {times.join}
        WHERE {" AND ".join(_conditions(asked, given))}
        {grouped_by(len(groups) + len(apart))}
    """


def _column(field: Field, times: TimeColumns) -> str:
    if field in TIMES:
        return times.number
    if field is Field.TAG:
        return "tagged.tag"
    return f"links.{link_column(field)}" if field in LINK_FIELDS else "NULL::VARCHAR"


def _conditions(asked: Asked, given: Given) -> list[str]:
    """Which installs count: by filters of links those that a link led to, by variants none."""
    conditions = [f"installs.at >= {given(asked.start)}", f"installs.at < {given(asked.end)}"]
    for name, chosen in asked.query.filters.items():
        if name in {*CLICK_FIELDS, Field.EVENT}:
            conditions.append(condition(chosen, "NULL::VARCHAR", given))
    if asked.filters_links:
        conditions.append("links.link IS NOT NULL")
    if Field.VARIANT in asked.query.fields:
        conditions.append("false")
    return conditions
