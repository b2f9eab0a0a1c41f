"""Bodies of one item, or of a list of items, and the list of results that answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from backend.current import known, resources
from backend.domain.errors import InvalidField, MissingField, shown_name
from backend.domain.intake import Status
from backend.domain.rejections import Rejection
from backend.domain.server_calls import Teller, UnknownField
from backend.json_api.json_body import EXACT, read_json_object
from backend.json_api.rate_limit import count_more
from backend.json_api.refusal import refusal_for
from backend.rest_api.blueprint import caller
from backend.rest_api.query_string import read_query
from backend.storage.organizations import find_retention_days
from backend.storage.rejections import RejectedCalls, add_rejections

ParsedT = TypeVar("ParsedT")
StoredT = TypeVar("StoredT")

MOST_ITEMS = 1_000
MAX_BODY_BYTES = 2 * 1024 * 1024
# So many items cost as much of the key's limit as one request.
ITEMS_A_REQUEST = 25
# Items between two moments in which other requests are served.
_AT_ONCE = 25

ItemResult = dict[str, Any]
ItemResults = dict[str, list[ItemResult]]


async def _read_items() -> list[Any]:
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


async def answer_items(
    kind: str,
    parse: Callable[[Any, Teller], ParsedT],
    store: Callable[[Sequence[ParsedT]], Awaitable[Sequence[StoredT]]],
    shown: Callable[[ParsedT, StoredT], ItemResult],
) -> ItemResults:
    """The answer to the current request: a result for each of its items.

    `parse` reads an item or raises MissingField or InvalidField, `store` stores all that could be read,
    `shown` is the result of one that was. Why others were rejected is also kept for the organization's owner:
    the server's developer may read no answers.
    """
    items = await _read_items()
    teller = await _current_teller(items)
    parsed: list[ParsedT | MissingField | InvalidField] = []
    for number, item in enumerate(items):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            parsed.append(parse(item, teller))
        except (MissingField, InvalidField) as error:
            parsed.append(error)
    valid = [each for each in parsed if not isinstance(each, MissingField | InvalidField)]
    stored = iter([shown(*pair) for pair in zip(valid, await store(valid), strict=True)])
    errors = [each for each in parsed if isinstance(each, MissingField | InvalidField)]
    rejections = tuple(_rejection(kind, each) for each in errors)
    await add_rejections(resources().database, [RejectedCalls(teller.org_id, teller.now, rejections)])
    return {
        "results": [
            rejected(each) if isinstance(each, MissingField | InvalidField) else next(stored)
            for each in parsed
        ]
    }


async def _current_teller(items: Sequence[Any]) -> Teller:
    """The organization that the current request tells something for, now, and the clicks that it names."""
    org_id = caller().org_id
    days = await find_retention_days(resources().database, [org_id])
    click_ids = {found for each in items if (found := _click_id(each))}
    clicks = await resources().click_signing.sources(org_id, click_ids)
    return Teller(org_id, days.get(org_id), resources().clock(), clicks)


def _click_id(item: object) -> str | None:
    found = item.get("click_id") if isinstance(item, dict) else None
    return found if isinstance(found, str) else None


def _rejection(kind: str, error: MissingField | InvalidField) -> Rejection:
    # Nothing that an item says is kept, so neither is the name of a field that is none.
    if isinstance(error, UnknownField):
        return Rejection(kind, "a field", "is unknown; such an item does not have it")
    return Rejection(kind, error.field, error.rule)


def result(status: Status, notes: Sequence[str], **more: str) -> ItemResult:
    """The result of an item that was understood."""
    return {"status": status.value, **more, **({"notes": list(notes)} if notes else {})}


def rejected(error: Exception) -> ItemResult:
    """The result of an item that can't be accepted: the error that it alone is answered (shape A)."""
    refusal = refusal_for(error)
    if refusal is None:
        raise error
    return {"status": "rejected", "error": refusal.row.body(**refusal.details)}
