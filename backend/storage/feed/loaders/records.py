"""Loads leads, conversions and custom events of a feed. Each telling of one is an event of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.feed.event_shapes import EVENT_SHAPES
from backend.domain.feed.events import EventType
from backend.domain.fields.shapes import json_of
from backend.domain.ids import OrgId
from backend.domain.sales.records import Record
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import OWN_FIELDS
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.feed.loaders.fact_documents import find_documents
from backend.storage.feed.loaders.runs import EventContent, Run
from backend.storage.sales import conversions, leads
from backend.storage.visitors import events, records

COLLECTIONS: Mapping[Kind, str] = {
    Kind.LEAD: leads.NAME,
    Kind.CONVERSION: conversions.NAME,
    Kind.EVENT: events.NAME,
}


async def load_records(
    kind: Kind, database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' tellings; None for a telling whose record was deleted."""
    calls = (run.fact["call"] for run in runs)
    documents = await find_documents(database, session, COLLECTIONS[kind], org_id, calls)
    records_by_call = {call: records.record_of(kind, document) for call, document in documents.items()}
    return [[_content(records_by_call.get(run.fact["call"]), run.fact.get("telling", 0))] for run in runs]


def _content(record: Record | None, number: int) -> EventContent | None:
    if record is None or number >= len(record.tellings):
        return None
    told_until, credited = record.until(number), record.credit.last
    fields = told_until.fields
    data = json_of(
        EVENT_SHAPES[EventType(record.kind.value)],
        told_until,
        id=record.call_id,
        told_by="server" if record.tellings[number].is_server else "browser",
        told_again=number > 0,
        **{name: fields.get(name) for name in OWN_FIELDS[record.kind]},
        link_id=credited.link_id if credited else None,
        touch=credited,
    )
    return EventContent(told_until.at, data)
