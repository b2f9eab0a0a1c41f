"""/search: finds links by their texts, an order by its transaction id, and a customer by their id.

Who opens it: whoever has a name or a number from elsewhere, such as an order from a customer's e-mail. What
they look for is one page, so each result leads to it: the link, the explanation of the sale, the customer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, request

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.own_link import short_url_of
from backend.dashboard.links.found_ids import Found, find_by_id
from backend.domain.accounts.permissions import Permission
from backend.domain.links.links import Link
from backend.domain.links.listing import LinkFilter, LinkOrder, LinkSort
from backend.domain.visitors.call_texts import as_stored
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import StorageError, is_too_slow
from backend.storage.links.lists.listing import list_page
from backend.web.current import resources

LONGEST_SEARCH = 500
# Links that are shown; the list of links has the others.
MOST_LINKS = 10
# Seconds. Among millions of links, a rare text can take longer.
_LINKS_TIMEOUT = 20
_NEWEST_FIRST = LinkSort(LinkOrder.CREATED, is_descending=True)


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The newest links that match, each with its short URL. `problem` says why they could not be found."""

    links: Sequence[tuple[Link, str]] = ()
    has_more: bool = False
    problem: str = ""


@dashboard.get("/search")
@needs(Permission.LINKS_READ)
async def search() -> Response:
    """What the text in the address finds; without a text, a form that asks for one."""
    text = as_stored(request.args.get("q", ""))[:LONGEST_SEARCH]
    return await page("search/search.html", later=partial(_content, text), text=text)


async def _content(text: str) -> dict[str, Any]:
    if not text:
        return {"by_id": Found(), "found_links": FoundLinks()}
    return {"by_id": await find_by_id(text), "found_links": await _links(text)}


async def _links(text: str) -> FoundLinks:
    database, now = resources().database, resources().clock()
    try:
        with deadline(_LINKS_TIMEOUT):
            links = await list_page(
                database, org_id(), LinkFilter(search=text), _NEWEST_FIRST,
                now=now, skip=0, limit=MOST_LINKS + 1,
            )  # fmt: skip
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return FoundLinks(problem="Finding links took too long. A longer text takes less.")
    shown = [(link, short_url_of(link)) for link in links[:MOST_LINKS]]
    return FoundLinks(shown, has_more=len(links) > MOST_LINKS)
