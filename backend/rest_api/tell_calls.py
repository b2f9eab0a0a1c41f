"""POST /conversions, /leads, /events and /identities: what servers tell (docs/rest-api.md)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from backend.domain.calls import Kind
from backend.domain.ids import CallId
from backend.domain.intake import Result
from backend.domain.server_calls import Teller, Told, parse_server_call
from backend.rest_api.blueprint import rest
from backend.rest_api.sales_service import store_calls
from backend.rest_api.told_items import ItemResult, ItemResults, answer_items, result


@rest.post("/conversions")
async def tell_conversions() -> ItemResults:
    """Store sales. Each transaction_id counts once, also one that a browser tells."""
    return await _tell(Kind.CONVERSION)


@rest.post("/leads")
async def tell_leads() -> ItemResults:
    """Store leads. Each event_id counts once, also one that a browser tells."""
    return await _tell(Kind.LEAD)


@rest.post("/events")
async def tell_events() -> ItemResults:
    """Store events."""
    return await _tell(Kind.EVENT)


@rest.post("/identities")
async def tell_identities() -> ItemResults:
    """Store who customers are, and which devices they use."""
    return await _tell(Kind.IDENTIFY)


async def _tell(kind: Kind) -> ItemResults:
    def parse(item: object, teller: Teller) -> Told:
        return parse_server_call(kind, item, teller, CallId(str(uuid.uuid4())))

    return await answer_items(kind, parse, _store, _result)


async def _store(told: Sequence[Told]) -> list[Result]:
    """Store the items. Returns the results of their own calls."""
    results = iter(await store_calls([batch for each in told for batch in each.batches]))
    return [[next(results) for _ in each.batches][-1] for each in told]


def _result(told: Told, stored: Result) -> ItemResult:
    notes = [*told.own.calls[0].call.notes]
    notes += [f"{name} differs from what was told first, which stays" for name in stored.differs]
    return result(stored.status, notes, id=stored.record_id)
