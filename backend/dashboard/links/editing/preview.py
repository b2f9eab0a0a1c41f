"""/links/ID/preview: fill in a link's social fields from the page that it leads to."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.links.editing.change import change_form, store_changes
from backend.dashboard.links.editing.form import fields_of
from backend.dashboard.links.editing.own_link import own_link
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import resources
from backend.web_client.page_preview import lacking, read_preview
from backend.web_client.page_reader import Unreadable


@dashboard.post("/links/<link_id>/preview")
@needs(Permission.LINKS_WRITE)
async def links_preview(link_id: LinkId) -> Response:
    """Read the destination once, set those social fields that the link lacks, and show the form with them."""
    link = await own_link(link_id)
    try:
        with deadline_paused():
            preview = await read_preview(resources().pages, link)
    except Unreadable as error:
        return await change_form(link, fields_of(link), {"destination_url": f"can't be read: it {error}"})
    if missing_fields := lacking(await own_link(link_id), preview):
        await store_changes(link, missing_fields)
    notice = "preview-filled" if missing_fields else "preview-empty"
    return redirect_with_notice("links_edit", notice, link_id=link.id)
