"""Loads the refunds of a feed's events from the documents of their sales."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.feed.event_shapes import RefundJson
from backend.domain.fields.shapes import json_of
from backend.domain.ids import OrgId
from backend.domain.visitors.calls import Kind
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loaders.fact_documents import find_documents
from backend.storage.feed.loaders.runs import EventContent, Run
from backend.storage.sales import conversions
from backend.storage.sales.refunds import refunds_of
from backend.storage.visitors import records
from backend.storage.visitors.calls import key_of


async def load_refunds(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' refunds; None for a refund whose sale was deleted."""
    sales = await find_documents(
        database, session, conversions.NAME, org_id, (run.fact["call"] for run in runs)
    )
    return [[_content(sales.get(run.fact["call"]), run.fact["number"])] for run in runs]


def _content(sale: Document | None, number: int) -> EventContent | None:
    refunds = refunds_of(sale) if sale else ()
    if sale is None or number >= len(refunds):
        return None
    refund = refunds[number]
    credited = records.record_of(Kind.CONVERSION, sale).credit.last
    data = json_of(
        RefundJson,
        refund,
        id=refund.refund_id,
        conversion_id=key_of(sale["_id"])[1],
        transaction_id=sale["transaction_id"],
        link_id=credited.link_id if credited else None,
    )
    return EventContent(refund.at, data)
