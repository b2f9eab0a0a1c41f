"""/destinations/broken: links that lead to pages which do not answer well."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.storage.links.destinations.broken import list_broken
from backend.web.current import resources

_MOST_LINKS = 200


@dashboard.get("/destinations/broken")
@needs(Permission.LINKS_READ)
async def destinations_broken() -> Response:
    """The links that were broken when they were looked at last, the latest first."""
    return await page(
        "destinations/broken.html",
        rows=await list_broken(resources().database, org_id(), _MOST_LINKS),
        most=_MOST_LINKS,
        hours=resources().settings.check_destinations_hours,
    )
