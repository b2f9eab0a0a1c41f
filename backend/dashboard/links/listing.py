"""GET /links: the list of links, with a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quart import Response, request

from backend.current import resources
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.links.own_link import short_url_of
from backend.domain.links import Link
from backend.storage.click_counts import count_totals
from backend.storage.links import count_links, list_links, search_links
from backend.storage.mongo import StorageError, deadline, is_too_slow

# Seconds that a search may take; an organization with millions of links can ask for more than that.
_SEARCH_PATIENCE = 5
_LONGEST_SEARCH = 500


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the list shows it."""

    link: Link
    short_url: str
    clicks: int


@dashboard.get("/links")
async def links() -> Response:
    """One page of links, newest first.

    `q` searches for text in name, path or destination, or for a short URL.
    """
    text = request.args.get("q", "").strip()[:_LONGEST_SEARCH]
    asked = paging()
    found, is_slow = await _find(text, asked)
    shown = found[:PAGE_SIZE]
    return await page(
        "links/listing.html",
        text=text,
        is_slow=is_slow,
        rows=await rows_of(shown),
        paging=asked.with_items(len(found)),
        total=await count_links(resources().database, org_id()),
    )


async def rows_of(links: Sequence[Link]) -> list[LinkRow]:
    """The rows for these links of the organization."""
    totals = await count_totals(resources().database, [link.id for link in links])
    return [LinkRow(link, short_url_of(link), totals.get(link.id, 0)) for link in links]


async def _find(text: str, asked: Paging) -> tuple[list[Link], bool]:
    """The links of a page, plus one if there are more; and whether the search took too long."""
    database, limit = resources().database, PAGE_SIZE + 1
    if not text:
        return await list_links(database, org_id(), skip=asked.skip, limit=limit), False
    try:
        with deadline(_SEARCH_PATIENCE):
            return await search_links(database, org_id(), text, skip=asked.skip, limit=limit), False
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return [], True
