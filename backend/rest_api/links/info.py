"""POST /links/info (contract, "Get link by short URL")."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.reference import SHORT_URL, find_by_short_url, text_of_field
from backend.rest_api.links.representations import link_json
from backend.rest_api.routes.operation import Operation
from backend.web.current import resources

_BODY: Schema = {
    "type": "object",
    "required": ["shortUrl"],
    "properties": {"shortUrl": SHORT_URL | {"minLength": 1}},
}


@Operation(
    method="POST",
    path="/links/info",
    summary="Get a link by its short URL",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    body=_BODY,
    answer="Link",
    errors=(error_table.SHORT_URL_EMPTY, error_table.SHORT_URL_UNKNOWN),
    is_to_the_letter=True,
)
async def links_info() -> dict[str, Any]:
    """The link with the short URL in the body."""
    short_url = text_of_field(await read_json_object(), "shortUrl")
    if not short_url:
        raise ApiError(error_table.SHORT_URL_EMPTY)
    link = await find_by_short_url(short_url)
    if link is None or link.is_archived:
        raise ApiError(error_table.SHORT_URL_UNKNOWN)
    return link_json(link, resources().short_url_form)
