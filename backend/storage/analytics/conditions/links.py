"""Links as they are now: which of them count, and the columns by which rows are grouped."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.query import LINK_FIELDS, Field, QueryField
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.conditions.reach import is_reached

# The column of each field in the table of links. Rows by link have the link's number instead.
_IN_LINKS: Mapping[str, str] = {
    field.value: "id" if field is Field.LINK else field.value for field in LINK_FIELDS - {Field.TAG}
}


def link_column(field: QueryField) -> str:
    """The column that rows by this field of links have."""
    return "link" if field is Field.LINK else _IN_LINKS.get(field, "tag")


def matching_links(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """A SELECT of the stored links that pass the query's filters, and are within its reach."""
    conditions = ["is_kept", is_reached(period.query.reach, parameters)]
    conditions += [
        condition(chosen, _IN_LINKS[field], parameters) for field, chosen in period.link_filters.items()
    ]
    if period.tags:
        conditions.append(period.tags.passes_link(parameters))
    return f"SELECT * FROM links WHERE {' AND '.join(conditions)}"


def link_groups(period: QueriedPeriod, parameters: SqlParameters) -> str:
    """Common tables: `grouped` with the group of each link that counts, `named` with each group's columns.

    A group has the number of its first link, so that clicks are added up by one number instead of by several
    texts. A group has several rows in `named` where its links have several tags.
    """
    fields = period.link_groups
    tables = [f"matching_links AS ({matching_links(period, parameters)})"]
    if Field.LINK in fields:
        tables.append("kinds AS (SELECT * FROM matching_links)")
        tables.append("grouped AS (SELECT link, link AS link_group FROM matching_links)")
    else:
        alike = [_IN_LINKS.get(field, "tag_ids") for field in fields]
        tables.append(
            f"kinds AS (SELECT {', '.join(alike)}, min(link) AS link FROM matching_links GROUP BY ALL)"
        )
        are_alike = " AND ".join(
            f"kinds.{column} IS NOT DISTINCT FROM matching_links.{column}" for column in alike
        )
        tables.append(f"""
            grouped AS (
                SELECT matching_links.link, kinds.link AS link_group
                FROM matching_links JOIN kinds ON {are_alike}
            )
        """)
    join = ""
    if period.tags and Field.TAG in fields:
        tables.append(f"tagged AS ({period.tags.of_links('kinds', parameters)})")
        join = "JOIN tagged ON tagged.link = kinds.link"
    shown = [f"{'tagged' if field is Field.TAG else 'kinds'}.{link_column(field)}" for field in fields]
    tables.append(f"named AS (SELECT kinds.link AS link_group, {', '.join(shown)} FROM kinds {join})")
    return ",\n".join(tables)
