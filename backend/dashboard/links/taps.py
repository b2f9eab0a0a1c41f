"""/links/ID/taps: what a tap on a link does on every phone, and why."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.own_link import own_link
from backend.dashboard.taps.labs import lab_of
from backend.dashboard.taps.words import by_device
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId


@dashboard.get("/links/<link_id>/taps")
@needs(Permission.LINKS_READ)
async def links_taps(link_id: LinkId) -> Response:
    """A table for each kind of device."""
    link = await own_link(link_id)
    lab = await lab_of(link)
    return await page(
        "taps/taps.html", link=link, short_url=lab.short_url, apps=lab.apps, devices=by_device(lab.taps())
    )
