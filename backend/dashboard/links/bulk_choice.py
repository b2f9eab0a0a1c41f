"""To which links something is to be done at once, as a form says."""

from __future__ import annotations

from collections.abc import Sequence

from quart import abort

from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field, form
from backend.dashboard.links.asked_links import AskedLinks
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.links.links import find_links
from backend.storage.links.lists.listing import matching_ids
from backend.web.current import resources

MOST_AT_ONCE = 1_000
# The field of a link that is ticked begins with this, and ends with its id.
TICK = "link-"
# What is ticked for all links of the list, on every page.
ALL = "all"


async def ticked_ids(asked: AskedLinks) -> list[LinkId]:
    """The ids of the links that are ticked, or of all that the address asks for. Raises TooManyToRank."""
    if field(ALL):
        if asked.errors or not asked.can_match:
            return []
        now = resources().clock()
        return await matching_ids(resources().database, org_id(), asked.wanted, now, MOST_AT_ONCE)
    return [LinkId(name.removeprefix(TICK)) for name in form() if name.startswith(TICK)]


def sent_ids() -> list[LinkId]:
    """The ids in the form's field `links`, each once. Answers 400 if they are more than can be."""
    ids = list(dict.fromkeys(map(LinkId, field("links").split())))
    if len(ids) > MOST_AT_ONCE:
        abort(400)
    return ids


async def own_links(ids: Sequence[LinkId]) -> list[Link]:
    """Those of these links that the organization has, by their names."""
    found = await find_links(resources().database, ids, org_id())
    return sorted(found.values(), key=lambda each: (each.link_name.casefold(), each.id))
