"""POST /conversions, /leads, /events and /identities: servers tell what customers did (docs/rest-api.md)."""

from __future__ import annotations

import uuid

from backend.domain.ids import CallId
from backend.domain.sales.decisions import Result
from backend.domain.visitors.batches import Batch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import Teller, parse_server_call
from backend.rest_api.sales.schemas import telling
from backend.rest_api.sales.service import store_calls
from backend.rest_api.sales.told_items import ItemResult, ItemResults, answer_items, result


@telling("/conversions", "Tell sales, each counted once", "Conversion")
async def tell_conversions() -> ItemResults:
    """Store sales. Each transaction_id counts once, also one that a browser tells."""
    return await _tell(Kind.CONVERSION)


@telling("/leads", "Tell leads", "Lead")
async def tell_leads() -> ItemResults:
    """Store leads. Each event_id counts once, also one that a browser tells."""
    return await _tell(Kind.LEAD)


@telling("/events", "Tell events of your own naming", "Event")
async def tell_events() -> ItemResults:
    """Store events."""
    return await _tell(Kind.EVENT)


@telling("/identities", "Tell who customers are", "Identity")
async def tell_identities() -> ItemResults:
    """Store who customers are, and which devices they use."""
    return await _tell(Kind.IDENTIFY)


async def _tell(kind: Kind) -> ItemResults:
    def parse(item: object, teller: Teller) -> Batch:
        return parse_server_call(kind, item, teller, CallId(str(uuid.uuid4())))

    return await answer_items(kind, parse, store_calls, _result)


def _result(batch: Batch, stored: Result) -> ItemResult:
    notes = [*batch.calls[0].call.notes]
    notes += [
        f"{name} differs from what counts, which another telling of a server said" for name in stored.differs
    ]
    return result(stored.status, notes, id=stored.record_id)
