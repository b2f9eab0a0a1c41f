"""POST /conversions, /leads, /events and /identities: what servers tell (docs/rest-api.md)."""

from __future__ import annotations

import uuid
from typing import Any

from backend.current import resources
from backend.domain.batches import Batch
from backend.domain.calls import Kind
from backend.domain.errors import InvalidField, MissingField
from backend.domain.intake import Result
from backend.domain.rejections import Rejection
from backend.domain.server_calls import UnknownField, parse_server_call
from backend.rest_api.blueprint import rest
from backend.rest_api.sales_service import current_teller, store_calls
from backend.rest_api.told_items import ItemResult, in_turn, read_items, rejected
from backend.storage.rejections import RejectedCalls, add_rejections

Answer = dict[str, list[ItemResult]]
_UNKNOWN = "is unknown; such calls do not have it"


@rest.post("/conversions")
async def tell_conversions() -> Answer:
    """Store sales. Each transaction_id counts once, also one that a browser tells."""
    return await _tell(Kind.CONVERSION)


@rest.post("/leads")
async def tell_leads() -> Answer:
    """Store leads. Each event_id counts once, also one that a browser tells."""
    return await _tell(Kind.LEAD)


@rest.post("/events")
async def tell_events() -> Answer:
    """Store events."""
    return await _tell(Kind.EVENT)


@rest.post("/identities")
async def tell_identities() -> Answer:
    """Store who customers are, and which devices they use."""
    return await _tell(Kind.IDENTIFY)


async def _tell(kind: Kind) -> Answer:
    items = await read_items()
    teller = await current_teller()
    parsed: list[Batch | ItemResult] = []
    rejections: list[Rejection] = []
    async for item in in_turn(items):
        try:
            parsed.append(parse_server_call(kind, item, teller, str(uuid.uuid4())))
        except (MissingField, InvalidField) as error:
            parsed.append(rejected(error))
            rejections.append(_rejection(kind, error))
    stored = iter(await store_calls([each for each in parsed if isinstance(each, Batch)]))
    # For whoever owns the organization: the server's developer may read no answers.
    requests = [RejectedCalls(teller.org_id, teller.now, tuple(rejections))]
    await add_rejections(resources().database, requests)
    return {"results": [_result(each, next(stored)) if isinstance(each, Batch) else each for each in parsed]}


def _rejection(kind: Kind, error: MissingField | InvalidField) -> Rejection:
    # Nothing that a call says is kept, so neither is the name of a field that is none.
    if isinstance(error, UnknownField):
        return Rejection(kind, "a field", _UNKNOWN)
    return Rejection(kind, error.field, error.rule)


def _result(batch: Batch, stored: Result) -> ItemResult:
    notes: list[str] = [*batch.calls[0].call.notes]
    notes += [f"{name} differs from what was told first, which stays" for name in stored.differs]
    result: dict[str, Any] = {"status": stored.status.value, "id": stored.record_id}
    return result | ({"notes": notes} if notes else {})
