"""Bodies of one item, or of a list of items, and the list of results that answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from backend.domain.errors import FieldError, InvalidField, raise_all, shown_name
from backend.domain.sales.intake import Status
from backend.domain.visitors.rejections import Rejection
from backend.domain.visitors.server_calls import Teller, UnknownField
from backend.json_api.api_error import ApiError, api_error_for
from backend.json_api.json_body import EXACT, read_json_object
from backend.json_api.rate_limit import count_more
from backend.rest_api.routes.blueprint import caller
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.web.current import known, resources

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


async def _read_items(body: dict[str, Any]) -> list[Any]:
    """The items in the list of a body, which are counted against the key's limit but not parsed yet.

    Raises InvalidField for a list that is none, empty or too long, and for fields beside it.
    """
    errors: list[FieldError] = [
        InvalidField(shown_name(name), "must stand in an item, beside items")
        for name in body
        if name != "items"
    ]
    items = body["items"]
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_ITEMS:
        errors.append(InvalidField("items", f"must be a list of 1 to {MOST_ITEMS:,} items"))
    raise_all(errors)
    if more := -(-len(items) // ITEMS_A_REQUEST) - 1:
        known().limit_headers = await count_more(caller().id, more)
    return list(items)


async def answer_items(
    kind: str,
    parse: Callable[[Any, Teller], ParsedT],
    store: Callable[[Sequence[ParsedT]], Awaitable[Sequence[StoredT]]],
    shown: Callable[[ParsedT, StoredT], ItemResult],
) -> ItemResults:
    """The answer to the current request: a result for each of its items.

    `parse` reads an item or raises MissingField or InvalidField, `store` stores all that could be read,
    `shown` is the result of one that was, or raises why it is rejected all the same. What rejects the one
    item of a request that has no list is raised: nobody who looks at the status only may take it for stored.
    Why items could not be read is also kept for the organization's owner: the server's developer may read no
    answers.
    """
    body = await read_json_object(MAX_BODY_BYTES, EXACT)
    items = await _read_items(body) if "items" in body else [body]
    teller = await _current_teller(items)
    parsed: list[ParsedT | FieldError] = []
    for number, item in enumerate(items):
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            parsed.append(parse(item, teller))
        except FieldError as error:
            parsed.append(error)
    valid = [each for each in parsed if not isinstance(each, FieldError)]
    stored = iter(zip(valid, await store(valid), strict=True))
    rejections = tuple(_rejection(kind, each) for each in parsed if isinstance(each, FieldError))
    await add_rejections(resources().database, [RejectedCalls(teller.org_id, teller.now, rejections)])
    results: list[ItemResult] = []
    for each in parsed:
        try:
            if isinstance(each, FieldError):
                raise each
            results.append(shown(*next(stored)))
        except (FieldError, ApiError) as error:
            if "items" not in body:
                raise
            results.append(_rejected(error))
    return {"results": results}


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


def _rejection(kind: str, error: FieldError) -> Rejection:
    # Nothing that an item says is kept, so neither is the name of a field that is none.
    if isinstance(error, UnknownField):
        return Rejection(kind, "a field", "is unknown; such an item does not have it")
    return Rejection(kind, error.field, error.rule)


def result(status: Status, notes: Sequence[str], **more: str) -> ItemResult:
    """The result of an item that was understood."""
    return {"status": status.value, **more, **({"notes": list(notes)} if notes else {})}


def _rejected(error: FieldError | ApiError) -> ItemResult:
    """The result of an item that can't be accepted: the error that it alone is answered (shape A)."""
    api_error = api_error_for(error)
    assert api_error is not None  # for such errors there is one
    return {"status": "rejected", "error": api_error.body}
