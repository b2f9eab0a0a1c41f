"""/destinations/broken: links that lead to pages which do not answer well."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.failing import failing_of
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.storage.links.destinations.broken import list_broken
from backend.storage.links.links import find_links
from backend.storage.processes.work import Work
from backend.web.current import resources

_MOST_LINKS = 200


@dashboard.get("/destinations/broken")
@needs(Permission.LINKS_READ)
async def destinations_broken() -> Response:
    """The links that were broken when they were looked at last, the latest first."""
    failing = await failing_of(Work.DESTINATIONS)
    return await page(
        "destinations/broken.html",
        rows=await list_broken(resources().database, org_id(), _MOST_LINKS),
        failing=failing,
        unchecked=list((await find_links(resources().database, map(LinkId, failing), org_id())).values()),
        most=_MOST_LINKS,
        hours=resources().settings.check_destinations_hours,
    )
