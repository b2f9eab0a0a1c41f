"""The links that somebody may see figures of."""

from __future__ import annotations

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.storage.analytics.conditions.parameters import SqlParameters


def is_reached(reach: LinkReach | None, parameters: SqlParameters) -> str:
    """The condition that a row of `links` is within reach. The reach's tags are those that there are."""
    if reach is None:
        return "true"
    named = {
        "list_has_any(coalesce(links.tag_ids, []), {})": reach.tags,
        "coalesce(list_contains({}, links.domain), false)": reach.domains,
        "list_contains({}, links.id)": reach.links,
    }
    conditions = [
        text.format(f"{parameters(list(names))}::VARCHAR[]")
        for text, names in named.items()
        if names is not None
    ]
    return " AND ".join(conditions) or "false"
