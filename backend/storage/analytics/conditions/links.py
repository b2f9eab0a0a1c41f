"""Links as they are now: which of them count, and what rows are by of them."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from backend.domain.analytics.query import Field
from backend.storage.analytics.conditions.asked import Asked
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.given import Given

# What each field is in the table of links; rows by link have its number.
_IN_LINKS = {
    Field.LINK: "id",
    Field.DOMAIN: "domain",
    Field.CAMPAIGN: "campaign",
    Field.SOURCE: "source",
    Field.MEDIUM: "medium",
    Field.TERM: "term",
    Field.CONTENT: "content",
}


def link_column(field: Field) -> str:
    """The column that rows by this field of links have."""
    return "link" if field is Field.LINK else _IN_LINKS.get(field, "tag")


def asked_links(asked: Asked, given: Given) -> str:
    """The rows of stored links that the query leaves."""
    conditions = ["is_kept"]
    conditions += [condition(each, _IN_LINKS[name], given) for name, each in asked.link_filters.items()]
    if asked.tags:
        conditions.append(asked.tags.leaves_link(given))
    return f"SELECT * FROM links WHERE {' AND '.join(conditions)}"


def link_groups(asked: Asked, given: Given) -> str:
    """Common tables: `grouped` with the group of each link that counts, and `named` with what it is by.

    So clicks are added up by one number, that of the group's first link, instead of by several texts. A group
    has several rows in `named` where its links have several tags.
    """
    fields = asked.link_groups
    tables = [f"asked_links AS ({asked_links(asked, given)})"]
    if Field.LINK in fields:
        tables.append("kinds AS (SELECT * FROM asked_links)")
        tables.append("grouped AS (SELECT link, link AS link_group FROM asked_links)")
    else:
        alike = [_IN_LINKS.get(each, "tag_ids") for each in fields]
        tables.append(
            f"kinds AS (SELECT {', '.join(alike)}, min(link) AS link FROM asked_links GROUP BY ALL)"
        )
        are_alike = " AND ".join(f"kinds.{each} IS NOT DISTINCT FROM asked_links.{each}" for each in alike)
        tables.append(f"""
            grouped AS (
                SELECT asked_links.link, kinds.link AS link_group FROM asked_links JOIN kinds ON {are_alike}
            )
        """)
    join = ""
    if asked.tags and Field.TAG in fields:
        tables.append(f"tagged AS ({asked.tags.of_links('kinds', given)})")
        join = "JOIN tagged ON tagged.link = kinds.link"
    shown = [f"{'tagged' if each is Field.TAG else 'kinds'}.{link_column(each)}" for each in fields]
    tables.append(f"named AS (SELECT kinds.link AS link_group, {', '.join(shown)} FROM kinds {join})")
    return ",\n".join(tables)
