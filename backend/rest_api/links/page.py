"""GET /links/page (contract, "List links")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quart import request

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Word
from backend.domain.links.links import CreatedBy
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.links.representations import link_json
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.links.links import count_links, list_links
from backend.web.current import resources

DEFAULT_PAGE_SIZE = 20
MAX_PAGE_SIZE = 100
# Larger than any list, and still an exact integer for every JSON parser.
MAX_PAGE = 10**12
_DIGITS = 15  # that a number may be written with
_QUERY = {
    "page": QueryParameter(WholeNumber(1, MAX_PAGE, default=1, most_digits=_DIGITS), "Page, from 1."),
    "size": QueryParameter(
        WholeNumber(1, MAX_PAGE_SIZE, default=DEFAULT_PAGE_SIZE, most_digits=_DIGITS), "Links on a page."
    ),
    "createdBy": QueryParameter(
        Word(CreatedBy),
        "Only links made with this kind of key; without it, all of the organization.",
    ),
}
# In the order in which they are checked; the document shows the size's first.
_ERRORS = {
    "page": error_table.PAGE_INVALID,
    "size": error_table.PAGE_SIZE_INVALID,
    "createdBy": error_table.CREATED_BY_INVALID,
}


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The part of the list of links that a caller asks for."""

    page: int
    size: int
    created_by: CreatedBy | None


@Operation(
    method="GET",
    path="/links/page",
    summary="List the organization's links, newest first",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    query=_QUERY,
    answer="LinkPage",
    errors=(
        error_table.PAGE_SIZE_INVALID,
        error_table.PAGE_INVALID,
        error_table.CREATED_BY_INVALID,
    ),
    is_to_the_letter=True,
)
async def links_page() -> dict[str, Any]:
    """One page of the organization's links, newest first, enabled and disabled ones, not archived ones."""
    page_request = _read_page_request()
    database, form, org_id = resources().database, resources().short_url_form, caller().org_id
    total = await count_links(database, org_id, page_request.created_by, reach())
    skip = (page_request.page - 1) * page_request.size
    links = (
        await list_links(
            database,
            org_id,
            skip=skip,
            limit=page_request.size,
            created_by=page_request.created_by,
            reach=reach(),
        )
        if skip < total
        else []
    )
    return {
        "links": [link_json(link, form) for link in links],
        "pagination": {
            # Without links there is one page, the first (contract, "List links").
            "current_page": page_request.page if total else 1,
            "page_size": page_request.size,
            "total_items": total,
            "total_pages": -(-total // page_request.size),
        },
    }


def _read_page_request() -> PageRequest:
    """What the query string asks for. Raises ApiError, with the error of the first wrong parameter."""
    query: dict[str, Any] = {}
    for name, error in _ERRORS.items():
        if name in request.args:
            try:
                query[name] = _QUERY[name].rule.parse(name, request.args[name])
            except InvalidField:
                raise ApiError(error) from None
    return PageRequest(query.get("page", 1), query.get("size", DEFAULT_PAGE_SIZE), query.get("createdBy"))
