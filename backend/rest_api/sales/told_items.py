"""Requests by which servers tell one item, or a list of items, and the results that answer them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import ceil
from typing import Any, TypeVar

from backend.domain.errors import FieldError, InvalidField, raise_all, unknown_fields
from backend.domain.sales.decisions import Status
from backend.domain.visitors.rejections import Rejection
from backend.domain.visitors.server_calls import Teller, UnknownField
from backend.json_api.api_error import ApiError, api_error_for
from backend.json_api.json_body import EXACT, read_json_object
from backend.json_api.rate_limit import weigh
from backend.rest_api.routes.blueprint import caller
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.web.current import resources

ParsedT = TypeVar("ParsedT")
StoredT = TypeVar("StoredT")

MOST_ITEMS = 1_000
MAX_BODY_BYTES = 2 * 1024 * 1024
# So many items count as one request against the key's rate limit.
ITEMS_A_REQUEST = 25
# After so many items other requests are served for a moment.
_ITEMS_BETWEEN_PAUSES = 25

ItemResult = dict[str, Any]
ItemResults = dict[str, list[ItemResult]]


async def _read_items(body: dict[str, Any]) -> list[Any]:
    """The items in the body's list, not parsed yet. They are counted against the key's rate limit.

    Raises InvalidField where `items` is no list, is empty or too long, or has other fields beside it.
    """
    errors = unknown_fields(body, {"items"}, rule="must stand in an item, beside items")
    items = body["items"]
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_ITEMS:
        errors.append(InvalidField("items", f"must be a list of 1 to {MOST_ITEMS:,} items"))
    raise_all(errors)
    await weigh(ceil(len(items) / ITEMS_A_REQUEST))
    return list(items)


async def answer_items(
    kind: str,
    parse: Callable[[Any, Teller], ParsedT],
    store: Callable[[Sequence[ParsedT]], Awaitable[Sequence[StoredT]]],
    shown: Callable[[ParsedT, StoredT], ItemResult],
) -> ItemResults:
    """The answer to the current request: a result for each of its items.

    `parse` reads an item, or raises MissingField or InvalidField. `store` stores all items that were read.
    `shown` makes the result of a stored item, or raises the error by which it is rejected after all.

    In a request without a list, the error of its one item is raised: a caller that looks at the status only
    must not take the item for stored. Errors of items that could not be read are also stored for the
    organization's owner, since the server's developer may not read the answers.
    """
    body = await read_json_object(MAX_BODY_BYTES, EXACT)
    items = await _read_items(body) if "items" in body else [body]
    teller = await _current_teller(items)
    parsed: list[ParsedT | FieldError] = []
    for number, item in enumerate(items):
        if number % _ITEMS_BETWEEN_PAUSES == 0:
            await asyncio.sleep(0)
        try:
            parsed.append(parse(item, teller))
        except FieldError as error:
            parsed.append(error)
    valid = [item for item in parsed if not isinstance(item, FieldError)]
    stored = iter(zip(valid, await store(valid), strict=True))
    rejections = tuple(_rejection(kind, error) for error in parsed if isinstance(error, FieldError))
    await add_rejections(resources().database, [RejectedCalls(teller.org_id, teller.now, rejections)])
    results: list[ItemResult] = []
    for number, item_or_error in enumerate(parsed):
        if number % _ITEMS_BETWEEN_PAUSES == 0:
            await asyncio.sleep(0)
        try:
            if isinstance(item_or_error, FieldError):
                raise item_or_error
            results.append(shown(*next(stored)))
        except (FieldError, ApiError) as error:
            if "items" not in body:
                raise
            results.append(_rejected(error))
    return {"results": results}


async def _current_teller(items: Sequence[Any]) -> Teller:
    """Who tells the items of the current request, when, and the clicks that the items name."""
    org_id = caller().org_id
    days = await find_retention_days(resources().database, [org_id])
    click_ids = {click_id for item in items if (click_id := _click_id(item))}
    clicks = await resources().click_signing.sources(org_id, click_ids)
    return Teller(org_id, days.get(org_id), resources().clock(), clicks)


def _click_id(item: object) -> str | None:
    click_id = item.get("click_id") if isinstance(item, dict) else None
    return click_id if isinstance(click_id, str) else None


def _rejection(kind: str, error: FieldError) -> Rejection:
    # Nothing of an item is stored, so neither is the name of an unknown field.
    if isinstance(error, UnknownField):
        return Rejection(kind, "a field", "is unknown; such an item does not have it")
    return Rejection(kind, error.field, error.rule)


def result(status: Status, notes: Sequence[str], **more: str) -> ItemResult:
    """The result of an item that was read. `more` are further fields of the result."""
    return {"status": status.value, **more, **({"notes": list(notes)} if notes else {})}


def _rejected(error: FieldError | ApiError) -> ItemResult:
    """The result of a rejected item. Its error is the one that a request with this item alone is answered."""
    api_error = api_error_for(error)
    assert api_error is not None  # both are errors that the API answers
    return {"status": "rejected", "error": api_error.body}
