"""POST /links/{id}/preview: fill in a link's social fields from the page that it leads to."""

from __future__ import annotations

from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.domain.links.json_form import WholeLinkJson
from backend.domain.links.links import SOCIAL_FIELDS
from backend.domain.links.operations import ChangeLink
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.links.listing import whole_links_json
from backend.rest_api.links.reference import LINK_ID, own_link
from backend.rest_api.links.service import carry_out
from backend.rest_api.routes.operation import Operation
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import resources
from backend.web_client.page_preview import lacking, read_preview
from backend.web_client.page_reader import Unreadable


@Operation(
    method="POST",
    path="/links/<link:link_text>/preview",
    summary="Fill in social fields from the page that the link leads to",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    answer="WholeLink",
    errors=(error_table.PAGE_UNREADABLE,),
)
async def fill_preview(link_id: LinkId) -> WholeLinkJson:
    """Read the destination once, and set those social fields that the link lacks."""
    link = await own_link(link_id)
    if len(link.social) < len(SOCIAL_FIELDS):
        try:
            with deadline_paused():
                preview = await read_preview(resources().pages, link)
        except Unreadable as error:
            raise ApiError(error_table.PAGE_UNREADABLE, message=str(error)) from None
        link = await own_link(link_id)
        if fields := lacking(link, preview):
            link = await carry_out(ChangeLink(link_id, fields))
    return (await whole_links_json([link]))[0]
