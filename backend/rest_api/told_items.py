"""Bodies of one item, or of a list of items, and the list of results that answers them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from backend.current import known
from backend.domain.errors import InvalidField, RequestError, shown_name
from backend.json_api.json_body import EXACT, read_json_object
from backend.json_api.rate_limit import count_more
from backend.json_api.refusal import refusal_for
from backend.rest_api.blueprint import caller
from backend.rest_api.query_string import read_query

MOST_ITEMS = 1_000
MAX_BODY_BYTES = 2 * 1024 * 1024
# So many items cost as much of the key's limit as one request.
ITEMS_A_REQUEST = 25
# Items between two moments in which other requests are served.
_AT_ONCE = 25

ItemResult = dict[str, Any]


async def read_items() -> list[Any]:
    """The items of the current request, which are counted against its key's limit but not parsed yet.

    Raises Refusal, and InvalidField for a list that is none, empty or too long.
    """
    read_query({})
    items = _items_of(await read_json_object(MAX_BODY_BYTES, EXACT))
    if more := -(-len(items) // ITEMS_A_REQUEST) - 1:
        known().limit_headers = await count_more(caller().id, more)
    return items


def _items_of(body: dict[str, Any]) -> list[Any]:
    if "items" not in body:
        return [body]
    for name in body:
        if name != "items":
            raise InvalidField(shown_name(name), "must stand in an item, beside items")
    items = body["items"]
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_ITEMS:
        raise InvalidField("items", f"must be a list of 1 to {MOST_ITEMS:,} items")
    return items


async def in_turn(items: Sequence[Any]) -> AsyncIterator[Any]:
    """The items one by one, with moments between them in which other requests are served."""
    for number, item in enumerate(items):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        yield item


def rejected(error: RequestError) -> ItemResult:
    """The result of an item that can't be accepted: the error that it alone is answered (shape A)."""
    refusal = refusal_for(error)
    if refusal is None:
        raise error
    return {"status": "rejected", "error": refusal.row.body(**refusal.details)}
