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
from backend.domain.link_listing import LinkFilter
from backend.domain.links import Link, LinkState
from backend.storage.click_counts import count_totals
from backend.storage.link_listing import list_newest
from backend.storage.links import count_archived, count_links
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
    """One page of links, newest first; archived ones with `state=archived` only.

    `q` searches for text in name, path or destination, or for a short URL.
    """
    text = request.args.get("q", "").strip()[:_LONGEST_SEARCH]
    archived = request.args.get("state") == LinkState.ARCHIVED
    asked = paging()
    found, is_slow = await _find(text, asked, archived=archived)
    shown = found[:PAGE_SIZE]
    return await page(
        "links/listing.html",
        text=text,
        archived=archived,
        archived_total=await count_archived(resources().database, org_id()),
        is_slow=is_slow,
        rows=await rows_of(shown),
        paging=asked.with_items(len(found)),
        total=await count_links(resources().database, org_id()),
    )


async def rows_of(links: Sequence[Link]) -> list[LinkRow]:
    """The rows for these links of the organization."""
    totals = await count_totals(resources().database, [link.id for link in links])
    return [LinkRow(link, short_url_of(link), totals.get(link.id, 0)) for link in links]


async def _find(text: str, asked: Paging, *, archived: bool) -> tuple[list[Link], bool]:
    """The links of a page, plus one if there are more; and whether the search took too long."""
    if "\x00" in text:
        return [], False  # no link contains it, and MongoDB can't search for it
    wanted = LinkFilter(search=text or None, state=LinkState.ARCHIVED if archived else None)
    try:
        with deadline(_SEARCH_PATIENCE):
            return await list_newest(
                resources().database,
                org_id(),
                wanted,
                now=resources().clock(),
                skip=asked.skip,
                limit=PAGE_SIZE + 1,
            ), False
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return [], True
