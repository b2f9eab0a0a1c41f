"""/: where a user begins."""

from __future__ import annotations

from quart import Response

from backend.current import resources
from backend.dashboard.blueprint import dashboard, org_id
from backend.dashboard.page import page
from backend.storage.links import count_links


@dashboard.get("/")
async def home() -> Response:
    """What the organization has."""
    return await page("home.html", links=await count_links(resources().database, org_id()))
