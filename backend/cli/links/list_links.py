"""`waylink links list`: links of an organization, by the filters and in the orders of REST."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.links.link_errors import link_errors
from backend.cli.links.own_link import whole_links
from backend.cli.options import org_option
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.ids import OrgId
from backend.domain.links.links import Link, LinkState
from backend.domain.links.listing import FILTERS, LinkFilter, LinkOrder, LinkSort, SortRule
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.links.lists.listing import (
    MOST_RANKED,
    TooManyToRank,
    find_in_order,
    list_sorted,
    rank_by_clicks,
)
from backend.system.clock import utc_now

_MOST_LISTED = 10_000
_HELP = {
    "search": "Text in name, path or destination, or a short URL.",
    "domain": "Links of this domain.",
    "state": f"One of {', '.join(LinkState)}.  [default: all but archived]",
    "tag": "Links with this tag.",
    "campaign": "Links with this utm_campaign.",
    "external_id": "The link with this external id.",
    "created_by": "Made by people (api_user), with a REST key (api_rest) or with an SDK's key (sdk).",
    "created_after": "Made at this time or later, as 2026-03-01T12:00:00Z.",
    "created_before": "Made before this time.",
    "modified_after": "Changed at this time or later.",
    "modified_before": "Changed before this time.",
}


def _filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name in reversed(FILTERS):
        command = click.option(f"--{name.replace('_', '-')}", name, metavar="TEXT", help=_HELP[name])(command)
    return command


def _shown(result: CommandResult) -> str:
    rows = [
        (
            link["short_url"],
            link["link_name"],
            link["state"],
            link["destination_url"],
            link["clicks"]["total"],
        )
        for link in result["links"]
    ]
    if result["has_more"]:
        click.echo(f"Note: more links match than these {len(rows)}; --limit shows more.", err=True)
    return table(("short_url", "name", "state", "destination", "clicks"), rows)


@click.command("list")
@org_option
@_filter_options
@click.option(
    "--sort",
    default="-created",
    show_default=True,
    help=f"One of {', '.join(LinkOrder)}, with - before it for descending.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, _MOST_LISTED),
    default=50,
    show_default=True,
    help="List at most so many.",
)
@stored_and_shown(_shown)
async def list_links(
    database: Database, org_id: OrgId, sort: str, limit: int, **filters: str | None
) -> CommandResult:
    """List the links for which all filters hold, the newest first."""
    await get_organization(database, org_id)
    with link_errors(org_id):
        parsed = {name: FILTERS[name].parse(name, text) for name, text in filters.items() if text is not None}
        order = SortRule().parse("sort", sort)
    now = utc_now()
    matching = await _find(database, org_id, LinkFilter(**parsed), order, now, limit + 1)
    return {"links": await whole_links(database, matching[:limit], now), "has_more": len(matching) > limit}


async def _find(  # noqa: PLR0917 - what a list is asked for
    database: Database, org_id: OrgId, link_filter: LinkFilter, sort: LinkSort, now: datetime, limit: int
) -> list[Link]:
    if not sort.order.by_clicks:
        return await list_sorted(database, org_id, link_filter, sort, now=now, after=None, limit=limit)
    try:
        async with analytics_client(database) as analytics:
            ids = await rank_by_clicks(database, analytics, org_id, link_filter, sort, now=now)
    except TooManyToRank:
        raise RefusedField(
            "sort", f"by clicks needs filters that leave at most {MOST_RANKED:,} links"
        ) from None
    return await find_in_order(database, org_id, ids[:limit])
