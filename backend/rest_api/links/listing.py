"""GET /links and GET /links/{id}: links with every field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.fields.rules import Rule, Text
from backend.domain.links.json_form import whole_link_json
from backend.domain.links.links import Link
from backend.domain.links.listing import FILTERS, NEWEST_FIRST, LinkFilter, LinkSort, SortRule
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.links.reference import parse_link_id
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.list_cursor import InvalidListCursor, ListCursor, read_cursor
from backend.rest_api.routes.query_string import query_error, read_query
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.links.links import find_link
from backend.storage.links.lists.facts import read_facts
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


QUERY: dict[str, Rule[Any]] = {
    **FILTERS,
    "sort": SortRule(),
    "size": WholeNumber(1, MAX_SIZE, default=DEFAULT_SIZE),
    "cursor": Text(8192),  # it may hold a name of 1,024 characters
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request for a list asks for. `question` tells lists apart, whatever the size of their pages."""

    wanted: LinkFilter
    sort: LinkSort
    size: int
    cursor: ListCursor | None
    question: str


@rest.get("/links/<link:link_text>")
async def get_link(link_text: str) -> dict[str, Any]:
    """The link with this id, also where it is archived."""
    link_id = parse_link_id(link_text)
    read_query({})
    link = await find_link(resources().database, link_id, caller().org_id)
    if link is None:
        raise ApiError(error_table.LINK_NOT_FOUND)
    return (await shown_links([link]))[0]


@rest.get("/links")
async def list_links() -> dict[str, Any]:
    """The links that the filters leave, in the order that was asked for: one page, and where it goes on."""
    asked = _read()
    found, next_cursor = await (_ranked(asked) if asked.sort.order.by_clicks else _sorted(asked))
    return {
        "links": await shown_links(found),
        "next_cursor": next_cursor.write(asked.question) if next_cursor else None,
    }


async def shown_links(links: Sequence[Link]) -> list[dict[str, Any]]:
    """The links with every field, and with their clicks up to now."""
    now, form = resources().clock(), resources().short_url_form
    facts = await read_facts(resources().database, resources().analytics, links, now)
    return [whole_link_json(link, facts, form, now) for link in links]


def _read() -> _Asked:
    given = read_query(QUERY)
    sort = given.get("sort") or NEWEST_FIRST
    wanted = LinkFilter(**{name: value for name, value in given.items() if name in FILTERS})
    question = repr((wanted, sort))
    try:
        cursor = read_cursor(given["cursor"], question, sort.order) if "cursor" in given else None
    except InvalidListCursor as error:
        raise query_error("cursor", str(error)) from None
    return _Asked(wanted, sort, given.get("size", DEFAULT_SIZE), cursor, question)


async def _sorted(asked: _Asked) -> tuple[list[Link], ListCursor | None]:
    found = await list_sorted(
        resources().database,
        caller().org_id,
        asked.wanted,
        asked.sort,
        now=resources().clock(),
        after=asked.cursor.place if asked.cursor else None,
        limit=asked.size + 1,
    )
    shown = found[: asked.size]
    goes_on = len(found) > len(shown)
    return shown, ListCursor(place=place_of(shown[-1], asked.sort.order)) if goes_on else None


async def _ranked(asked: _Asked) -> tuple[list[Link], ListCursor | None]:
    database, org_id, now = resources().database, caller().org_id, resources().clock()
    if asked.cursor:
        name, start = asked.cursor.rank
        try:
            ids, goes_on = await read_order(database, org_id, name, start, asked.size)
        except OrderGone:
            raise query_error("cursor", "is too old; ask for the first page again") from None
        cursor = ListCursor(rank=(name, start + asked.size)) if goes_on else None
        return await find_in_order(database, org_id, ids), cursor
    try:
        ids = await rank_by_clicks(database, resources().analytics, org_id, asked.wanted, asked.sort, now=now)
    except TooManyToRank:
        rule = f"by clicks needs filters that leave at most {MOST_RANKED:,} links"
        raise query_error("sort", rule) from None
    shown = await find_in_order(database, org_id, ids[: asked.size])
    if len(ids) <= asked.size:
        return shown, None
    name = await keep_order(database, org_id, ids, now)
    return shown, ListCursor(rank=(name, asked.size))
