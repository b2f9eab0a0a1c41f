"""GET /links: links with every field, by filters and in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Rule, Text
from backend.domain.links.json_form import WholeLinkJson, whole_link_json
from backend.domain.links.links import Link
from backend.domain.links.listing import FILTERS, NEWEST_FIRST, LinkFilter, LinkSort, SortRule
from backend.rest_api.links.reference import is_within_reach
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.list_cursor import ListCursor, cursor_in
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_string import query_error
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.links.lists.details import read_details
from backend.storage.links.lists.listing import (
    MOST_RANKED,
    TooManyToRank,
    find_in_order,
    list_sorted,
    place_of,
    rank_by_clicks,
)
from backend.storage.links.lists.orders import OrderGone, keep_order, read_order
from backend.web.current import resources

DEFAULT_SIZE = 20
MAX_SIZE = 200


_RULES: dict[str, Rule[Any]] = {
    **FILTERS,
    "sort": SortRule(),
    "size": WholeNumber(1, MAX_SIZE, default=DEFAULT_SIZE),
    "cursor": Text(8192),  # it may hold a name of 1,024 characters
}
_MEANINGS = {
    "search": "Text in name, path or destination, or a complete short URL.",
    "domain": "Only links on this domain.",
    "state": "Only links in this state; without it, all but archived ones.",
    "tag": "Only links with this tag, by its name in any case.",
    "campaign": "Only links with this utm_campaign.",
    "external_id": "Only the link with this external id, also if it is archived.",
    "created_by": "Only links made with this kind of key; without it, all of the organization.",
    "created_after": "Only links made at this time or later.",
    "created_before": "Only links made before this time.",
    "modified_after": "Only links changed at this time or later.",
    "modified_before": "Only links changed before this time.",
    "sort": "The order, with - before it for descending. Clicks are those of the last 7 or 30 days.",
    "size": "Links on a page.",
    "cursor": "The next_cursor of the page before, with the same filters and order.",
}
_QUERY = {name: QueryParameter(rule, _MEANINGS[name]) for name, rule in _RULES.items()}


@dataclass(frozen=True, slots=True)
class _ListRequest:
    """A request for a page of a list. Requests for pages of one list have the same `question`."""

    link_filter: LinkFilter
    sort: LinkSort
    size: int
    cursor: ListCursor | None
    question: str


@Operation(
    method="GET",
    path="/links",
    summary="List links with every field, by filters and in any order",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    query=_QUERY,
    answer="LinkList",
)
async def list_links(query: dict[str, Any]) -> dict[str, Any]:
    """One page of the links that the filters leave, sorted, and the cursor of the next page."""
    list_request = _parse(query)
    links, next_cursor = await (
        _ranked(list_request) if list_request.sort.order.by_clicks else _sorted(list_request)
    )
    return {
        "links": await whole_links_json(links),
        "next_cursor": next_cursor.write(list_request.question) if next_cursor else None,
    }


async def whole_links_json(links: Sequence[Link]) -> list[WholeLinkJson]:
    """The JSON of links with every field, and with their clicks up to now."""
    now, form = resources().clock(), resources().short_url_form
    details = await read_details(resources().database, resources().analytics, links, now)
    return [whole_link_json(link, details, form, now) for link in links]


def _parse(query: dict[str, Any]) -> _ListRequest:
    sort = query.get("sort") or NEWEST_FIRST
    named = {name: value for name, value in query.items() if name in FILTERS}
    link_filter = LinkFilter(**named, reach=reach())
    question = repr((link_filter, sort))
    cursor = cursor_in(query, question, sort.order)
    return _ListRequest(link_filter, sort, query.get("size", DEFAULT_SIZE), cursor, question)


async def _sorted(list_request: _ListRequest) -> tuple[list[Link], ListCursor | None]:
    links = await list_sorted(
        resources().database,
        caller().org_id,
        list_request.link_filter,
        list_request.sort,
        now=resources().clock(),
        after=list_request.cursor.place if list_request.cursor else None,
        limit=list_request.size + 1,
    )
    page = links[: list_request.size]
    goes_on = len(links) > len(page)
    return page, ListCursor(place=place_of(page[-1], list_request.sort.order)) if goes_on else None


async def _ranked(list_request: _ListRequest) -> tuple[list[Link], ListCursor | None]:
    database, org_id, now = resources().database, caller().org_id, resources().clock()
    if list_request.cursor:
        name, start = list_request.cursor.rank
        try:
            ids, goes_on = await read_order(database, org_id, name, start, list_request.size)
        except OrderGone:
            raise query_error("cursor", "is too old; ask for the first page again") from None
        cursor = ListCursor(rank=(name, start + list_request.size)) if goes_on else None
        links = await find_in_order(database, org_id, ids)
        return [link for link in links if is_within_reach(link)], cursor
    try:
        ids = await rank_by_clicks(
            database, resources().analytics, org_id, list_request.link_filter, list_request.sort, now=now
        )
    except TooManyToRank:
        rule = f"by clicks needs filters that leave at most {MOST_RANKED:,} links"
        raise query_error("sort", rule) from None
    page = await find_in_order(database, org_id, ids[: list_request.size])
    if len(ids) <= list_request.size:
        return page, None
    name = await keep_order(database, org_id, ids, now)
    return page, ListCursor(rank=(name, list_request.size))
