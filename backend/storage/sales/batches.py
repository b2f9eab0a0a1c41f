"""Stores the calls of many requests in one transaction: all of them or none, and each only once.

domain/sales/intake decides what to write. This file reads what the decision needs, and writes the result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pymongo import UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError

from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Decisions, DeviceKey, OnceKey, Result, StoredState
from backend.domain.sales.intake import ONCE_FIELDS, call_key, decide, devices_of, late_touches, once_key
from backend.domain.sales.records import Record, RecordKey
from backend.domain.visitors.attribution import Device
from backend.domain.visitors.batches import Batch
from backend.domain.visitors.calls import Kind
from backend.storage.accounts.organizations import read_retention_days
from backend.storage.clicks.blocks import add_opens
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread, transact
from backend.storage.driver.mongo import Database, Document, is_duplicate, run_to_the_end
from backend.storage.outbox.entries import AgesBy, note_blocking
from backend.storage.sales import conversions, leads
from backend.storage.visitors import calls, contacts, counted_once, devices, events, records
from backend.storage.visitors.dated_writes import Days, Written, keep_dates_right

_RECORDS = {
    Kind.LEAD: leads.COLLECTION,
    Kind.CONVERSION: conversions.COLLECTION,
    Kind.EVENT: events.COLLECTION,
}
_Reader = Callable[[BlockingDatabase, BlockingSession, Sequence[Batch]], StoredState]


@dataclass(frozen=True, slots=True)
class _Stored:
    """The decisions that were stored. `is_dated` says if retention was the same after the commit."""

    decisions: Decisions
    is_dated: bool


async def store_batches(database: Database, batches: Sequence[Batch]) -> list[list[Result]]:
    """Store the calls of these requests. Returns a result for each call of each batch.

    When it returns, everything is stored with `w: majority`. If it raises, nothing of it counts as stored and
    the requests may be sent again.
    """
    days: Days = {batch.org_id: batch.retention_days for batch in batches}
    stored = await in_thread(database, lambda blocking: _store_once(blocking, batches, days))
    if not stored.is_dated:
        await run_to_the_end(keep_dates_right(database, _written(stored.decisions), days))
    return stored.decisions.results


def _store_once(database: BlockingDatabase, batches: Sequence[Batch], days: Days) -> _Stored:
    try:
        return _store(database, batches, days, _read_as_new)
    except BulkWriteError as error:
        if not is_duplicate(error):
            raise
        return _store(database, batches, days, _read_again)


def _store(database: BlockingDatabase, batches: Sequence[Batch], days: Days, read: _Reader) -> _Stored:
    def work(session: BlockingSession) -> Decisions:
        stored = read(database, session, batches)
        stored = replace(stored, records=_late_records(database, session, batches, stored))
        decisions = decide(batches, stored)
        _write(database, session, stored, decisions, days)
        return decisions

    decisions = transact(database, work)
    # A change of the days during the transaction did not see its documents. So they are read after it.
    return _Stored(decisions, read_retention_days(database, days) == days)


def _read_as_new(
    database: BlockingDatabase, session: BlockingSession, batches: Sequence[Batch]
) -> StoredState:
    """Read the stored state on the assumption that none of the calls is stored, which is nearly always true.

    If one is stored, a unique index refuses the writes.
    """
    return StoredState(
        counted=counted_once.find_restored(database, session, _once_keys(batches)),
        devices=_find_devices(database, session, batches),
    )


def _read_again(
    database: BlockingDatabase, session: BlockingSession, batches: Sequence[Batch]
) -> StoredState:
    """Read the stored state, including which of these calls are stored already.

    It also looks for the calls' records, which may still exist when the marks of the calls have expired.
    """
    batch_calls = [(batch, received_call.call) for batch in batches for received_call in batch.calls]
    call_keys = [call_key(batch, call) for batch, call in batch_calls]
    stored_keys = [
        calls.find_stored(database, session, call_keys, collection.name)
        for collection in (calls.COLLECTION, *_RECORDS.values())
    ]
    counted = counted_once.find_counted(database, session, _once_keys(batches))
    counted_records = _find_counted_records(database, session, counted)
    return StoredState(
        calls=frozenset().union(*stored_keys),
        counted=counted,
        devices=_find_devices(database, session, batches, counted_records.values()),
        counted_records=counted_records,
    )


def _find_counted_records(
    database: BlockingDatabase, session: BlockingSession, counted: Iterable[OnceKey]
) -> dict[OnceKey, Record]:
    """The stored records of ids that were counted, by id; without records that were deleted."""
    ids: defaultdict[tuple[OrgId, Kind], list[str]] = defaultdict(list)
    for org_id, kind, own_id in counted:
        if kind in _RECORDS:
            ids[org_id, kind].append(own_id)
    counted_records: dict[OnceKey, Record] = {}
    for (org_id, kind), own_ids in ids.items():
        condition = records.having(org_id, ONCE_FIELDS[kind], own_ids)
        for record in records.find_records(database, session, _RECORDS[kind].name, kind, condition):
            counted_records[org_id, kind, record.fields[ONCE_FIELDS[kind]]] = record
    return counted_records


def _late_records(
    database: BlockingDatabase, session: BlockingSession, batches: Sequence[Batch], stored: StoredState
) -> dict[DeviceKey, list[Record]]:
    """Stored records of devices with touches that arrived late. Nearly always there are none."""
    records_by_device: dict[DeviceKey, list[Record]] = {}
    for device, at in late_touches(batches, stored.devices).items():
        condition = records.since(device, at)
        for kind, collection in _RECORDS.items():
            records_by_device.setdefault(device, []).extend(
                records.find_records(
                    database, session, collection.name, kind, condition, most=records.MOST_CREDITED
                )
            )
    return records_by_device


def _once_keys(batches: Iterable[Batch]) -> set[OnceKey]:
    batch_calls = ((batch, received_call.call) for batch in batches for received_call in batch.calls)
    return {key for batch, call in batch_calls if (key := once_key(batch, call))}


def _find_devices(
    database: BlockingDatabase,
    session: BlockingSession,
    batches: Iterable[Batch],
    counted_records: Iterable[Record] = (),
) -> dict[DeviceKey, Device]:
    keys = devices_of(batches)
    keys |= {
        (record.org_id, telling.device_id)
        for record in counted_records
        for telling in record.tellings
        if telling.device_id
    }
    return devices.find_devices(database, session, keys) if keys else {}


def _write(
    database: BlockingDatabase,
    session: BlockingSession,
    stored: StoredState,
    decisions: Decisions,
    days: Days,
) -> None:
    """Write the decisions, one collection after another.

    Devices come first, since two transactions can conflict there.
    """
    changes = [
        devices.update(device, stored.devices.get(key), days.get(device.org_id))
        for key, device in decisions.devices.items()
    ]
    if changes:
        database[devices.NAME].bulk_write(changes, session=session, ordered=False)
    for name, documents in _new_documents(decisions, days).items():
        if documents:
            database[name].insert_many(documents, session=session, ordered=False)
    if contact_changes := _contact_changes(decisions, days):
        database[contacts.NAME].bulk_write(contact_changes, session=session)
    stored_records = {record.key: record for record in stored.counted_records.values()}
    for kind, collection in _RECORDS.items():
        if updates := _record_changes(kind, decisions, stored_records, days):
            database[collection.name].bulk_write(updates, session=session, ordered=False)
    add_opens(database, session, decisions.clicks)
    note_blocking(database, session, decisions.facts, AgesBy.VISITORS)


def _new_documents(decisions: Decisions, days: Days) -> dict[str, list[Document]]:
    """The documents to insert, by collection."""
    return {
        calls.NAME: [calls.document(key, at) for key, at in decisions.calls.items()],
        counted_once.NAME: [counted_once.document(key, at) for key, at in decisions.counted.items()],
        **_record_documents(decisions.records.values(), days),
    }


def _contact_changes(decisions: Decisions, days: Days) -> list[UpdateOne | UpdateMany]:
    """The writes of contacts: new ones, and longer retention for those of devices that were seen again."""
    identified = [device for device in decisions.devices.values() if device.customers]
    return [
        *(contacts.update(contact, days.get(contact.org_id)) for contact in decisions.contacts),
        *(contacts.renewal(device, days.get(device.org_id)) for device in identified),
    ]


def _record_changes(
    kind: Kind, decisions: Decisions, stored_records: Mapping[RecordKey, Record], days: Days
) -> list[UpdateOne]:
    """The updates of stored records of this kind. `stored_records` has their earlier state."""
    completed = [change for change in decisions.completed.items() if change[0][0] is kind]
    credited = [change for change in decisions.credited.items() if change[0][0] is kind]
    return [
        *(records.change(stored_records[key], record, days.get(record.org_id)) for key, record in completed),
        *(records.credit_update(key[1:], credit) for key, credit in credited),
    ]


def _written(decisions: Decisions) -> Iterable[Written]:
    """The documents that were written to collections with a retention time."""
    for org_id, device_id in decisions.devices:
        yield Written(devices.COLLECTION, org_id, {"_id": devices.own_id(org_id, device_id)})
        yield Written(contacts.COLLECTION, org_id, {"device_id": device_id})
    for contact in decisions.contacts:
        if contact.device_id is None:
            yield Written(contacts.COLLECTION, contact.org_id, {"_id": contacts.own_id(contact)})
    for record in (*decisions.records.values(), *decisions.completed.values()):
        yield Written(_RECORDS[record.kind], record.org_id, {"_id": records.record_id(record)})


def _record_documents(new_records: Iterable[Record], days: Days) -> dict[str, list[Document]]:
    documents: dict[str, list[Document]] = {}
    for record in new_records:
        collection = _RECORDS[record.kind]
        documents.setdefault(collection.name, []).append(records.document(record, days.get(record.org_id)))
    return documents
