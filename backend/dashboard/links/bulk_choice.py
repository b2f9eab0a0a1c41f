"""The links that a form chooses for a bulk change."""

from __future__ import annotations

from collections.abc import Sequence

from quart import abort

from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field, form
from backend.dashboard.links.link_query import LinkQuery
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.links.links import find_links
from backend.storage.links.lists.listing import matching_ids
from backend.web.current import resources

MOST_BULK_LINKS = 1_000
# The name of a link's checkbox: this prefix and the link's id.
TICK = "link-"
# The name of the checkbox for all links of the list, on every page.
ALL = "all"


async def ticked_ids(query: LinkQuery) -> list[LinkId]:
    """The ids of the ticked links, or of all that `query` matches. Raises TooManyToRank."""
    if field(ALL):
        if query.errors or not query.can_match:
            return []
        now = resources().clock()
        return await matching_ids(resources().database, org_id(), query.filter, now, MOST_BULK_LINKS)
    return [LinkId(name.removeprefix(TICK)) for name in form() if name.startswith(TICK)]


def sent_ids() -> list[LinkId]:
    """The ids in the form's field `links`, each once. Answers 400 if they are more than can be."""
    ids = list(dict.fromkeys(map(LinkId, field("links").split())))
    if len(ids) > MOST_BULK_LINKS:
        abort(400)
    return ids


async def own_links(ids: Sequence[LinkId]) -> list[Link]:
    """The organization's links with these ids, sorted by name. Ids of other links are left out."""
    links = await find_links(resources().database, ids, org_id())
    return sorted(links.values(), key=lambda link: (link.link_name.casefold(), link.id))
