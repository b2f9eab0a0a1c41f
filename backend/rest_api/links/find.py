"""POST /links/info and GET /links/page (contract, "Get link by short URL", "List links")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from quart import request

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Word
from backend.domain.links.links import CreatedBy
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.reference import find_by_short_url, given_text
from backend.rest_api.links.representations import link_json
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.to_the_letter import to_the_letter
from backend.storage.links.links import count_links, list_links
from backend.web.current import resources

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
# Larger than any list, and still an exact integer for every JSON parser.
MAX_PAGE = 10**12
_INTEGER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The part of the list of links that a caller asks for."""

    page: int
    size: int
    created_by: CreatedBy | None


@rest.post("/links/info")
@to_the_letter
async def links_info() -> dict[str, Any]:
    """The link with the short URL in the body."""
    short_url = given_text(await read_json_object(), "shortUrl")
    if not short_url:
        raise ApiError(error_table.SHORT_URL_EMPTY)
    link = await find_by_short_url(short_url, caller().org_id)
    if link is None or link.is_archived:
        raise ApiError(error_table.SHORT_URL_UNKNOWN)
    return link_json(link, resources().short_url_form)


@rest.get("/links/page")
@to_the_letter
async def links_page() -> dict[str, Any]:
    """One page of the organization's links, newest first, enabled and disabled ones, not archived ones."""
    wanted = _read_page_request()
    database, form, org_id = resources().database, resources().short_url_form, caller().org_id
    total = await count_links(database, org_id, wanted.created_by)
    skip = (wanted.page - 1) * wanted.size
    found = (
        await list_links(database, org_id, skip=skip, limit=wanted.size, created_by=wanted.created_by)
        if skip < total
        else []
    )
    return {
        "links": [link_json(link, form) for link in found],
        "pagination": {
            # Without links there is one page, the first (contract, "List links").
            "current_page": wanted.page if total else 1,
            "page_size": wanted.size,
            "total_items": total,
            "total_pages": -(-total // wanted.size),
        },
    }


def _read_page_request() -> PageRequest:
    return PageRequest(
        page=_read_integer("page", 1, MAX_PAGE, default=1, api_error=ApiError(error_table.PAGE_INVALID)),
        size=_read_integer(
            "size",
            1,
            MAX_PAGE_SIZE,
            default=DEFAULT_PAGE_SIZE,
            api_error=ApiError(error_table.PAGE_SIZE_INVALID),
        ),
        created_by=_read_created_by(),
    )


def _read_integer(name: str, least: int, most: int, *, default: int, api_error: ApiError) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        raise api_error
    return int(text)


def _read_created_by() -> CreatedBy | None:
    text = request.args.get("createdBy")
    if text is None:
        return None
    try:
        return CreatedBy(Word(CreatedBy).parse("createdBy", text))
    except InvalidField:
        raise ApiError(error_table.CREATED_BY_INVALID) from None
