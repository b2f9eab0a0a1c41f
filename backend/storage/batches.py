"""Stores the calls of many requests in one transaction: each call once, all of them or none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pymongo.errors import BulkWriteError

from backend.domain.attribution import Device
from backend.domain.batches import Batch, CountedCall
from backend.domain.calls import Kind
from backend.storage import calls, conversions, counted_once, devices, events, identities, leads
from backend.storage.devices import DeviceKey
from backend.storage.mongo import Database, Document, Session, in_transaction
from backend.storage.records import expiry

_RECORDS = {Kind.LEAD: leads, Kind.CONVERSION: conversions, Kind.EVENT: events}
_DUPLICATE_KEY = 11000
_Reader = Callable[[Database, Session, Sequence[Batch]], Awaitable["_Group"]]
_IDENTITY_FIELDS = ("email_sha256", "phone_sha256", "name")


class Status(StrEnum):
    """What became of a valid call."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


async def store_batches(database: Database, batches: Sequence[Batch]) -> list[list[Status]]:
    """Store these requests' calls; gives a status for each call of each batch.

    When it returns, everything is stored with `w: majority`; when it raises, nothing of it counts as stored
    and the requests may be delivered again.
    """
    try:
        return await _store(database, batches, _expect_news)
    except BulkWriteError as error:
        if not _is_duplicate(error):
            raise
        return await _store(database, batches, _look_behind)


async def _store(database: Database, batches: Sequence[Batch], read: _Reader) -> list[list[Status]]:
    statuses: list[list[Status]] = []

    async def work(session: Session) -> None:
        group = await read(database, session, batches)
        statuses[:] = [[group.take(batch, counted) for counted in batch.calls] for batch in batches]
        await group.write(database, session)

    await in_transaction(database, work)
    return statuses


async def _expect_news(database: Database, session: Session, batches: Sequence[Batch]) -> _Group:
    """What a group starts from if nothing of it is stored, as nearly always; else an index refuses it."""
    return _Group(set(), set(), await _find_devices(database, session, batches))


async def _look_behind(database: Database, session: Session, batches: Sequence[Batch]) -> _Group:
    """What a group starts from, with everything that is stored of it already.

    Records are looked at as well, since the marks of calls expire and records may not.
    """
    keys = [calls.call_key(batch.org_id, each.call.call_id) for batch in batches for each in batch.calls]
    once = [counted_once.once_key(batch.org_id, each.call) for batch in batches for each in batch.calls]
    known: set[str] = set()
    for collection in (calls, *_RECORDS.values()):
        known |= await calls.find_known(database, session, keys, collection.NAME)
    counted = await counted_once.find_counted(database, session, filter(None, once))
    return _Group(known, counted, await _find_devices(database, session, batches))


async def _find_devices(
    database: Database, session: Session, batches: Sequence[Batch]
) -> dict[DeviceKey, Device]:
    keys = {(batch.org_id, batch.device_id) for batch in batches}
    return await devices.find_devices(database, session, keys)


@dataclass(slots=True)
class _Group:
    """Decides about one call after the other, and gathers what is to be written."""

    known_calls: set[str]
    counted: set[str]
    devices: dict[DeviceKey, Device]
    inserts: dict[str, list[Document]] = field(default_factory=dict)
    changed: dict[DeviceKey, Batch] = field(default_factory=dict)
    links: dict[str, Any] = field(default_factory=dict)

    def take(self, batch: Batch, counted: CountedCall) -> Status:
        """Take a call in, unless it was stored before or reports what was counted before."""
        key = calls.call_key(batch.org_id, counted.call.call_id)
        if key in self.known_calls:
            return Status.DUPLICATE
        self.known_calls.add(key)
        self._insert(calls.NAME, calls.document(key, batch.received_at))
        if self._was_counted(batch, counted):
            return Status.DUPLICATE
        self._keep(batch, counted)
        return Status.ACCEPTED

    async def write(self, database: Database, session: Session) -> None:
        """Write what was gathered, a collection at a time."""
        for name, documents in self.inserts.items():
            await database[name].insert_many(documents, session=session, ordered=False)
        if self.links:
            await database[identities.NAME].bulk_write(list(self.links.values()), session=session)
        if self.changed:
            changes = [
                devices.replacement(self.devices[key], expiry(batch)) for key, batch in self.changed.items()
            ]
            await database[devices.NAME].bulk_write(changes, session=session, ordered=False)

    def _was_counted(self, batch: Batch, counted: CountedCall) -> bool:
        key = counted_once.once_key(batch.org_id, counted.call)
        if key is None:
            return False
        if key in self.counted:
            return True
        self.counted.add(key)
        self._insert(counted_once.NAME, counted_once.document(key, batch.org_id, batch.received_at))
        return False

    def _keep(self, batch: Batch, counted: CountedCall) -> None:
        device = self._device(batch, counted)
        if counted.call.customer_id:
            device = self._link(batch, counted, device)
        if counted.touch:
            device = self._changed(batch, device.touched(counted.touch))
        record = _RECORDS.get(counted.call.kind)
        if record:
            self._insert(record.NAME, record.document(batch, counted, device))

    def _device(self, batch: Batch, counted: CountedCall) -> Device:
        """The device of a call; it is written when it is new, and once a day that it is seen."""
        device = self.devices.get((batch.org_id, batch.device_id))
        if device is None:
            return self._changed(batch, Device(batch.org_id, batch.device_id, counted.at, counted.at))
        if device.last_seen_at.date() < counted.at.date():
            return self._changed(batch, device.seen(counted.at))
        return device

    def _link(self, batch: Batch, counted: CountedCall, device: Device) -> Device:
        """The device, identified as the customer of a call."""
        call = counted.call
        assert call.customer_id is not None
        is_new = device.customer_at(counted.at) != call.customer_id
        if is_new or call.kind is Kind.IDENTIFY:
            known = {name: call.fields[name] for name in _IDENTITY_FIELDS if name in call.fields}
            write = identities.update(
                batch.org_id,
                batch.device_id,
                call.customer_id,
                at=counted.at,
                known=known,
                expires_at=expiry(batch),
            )
            self.links[calls.call_key(batch.org_id, call.call_id)] = write
        return self._changed(batch, device.identified(call.customer_id, counted.at)) if is_new else device

    def _changed(self, batch: Batch, device: Device) -> Device:
        key = (batch.org_id, batch.device_id)
        self.devices[key] = device
        self.changed[key] = batch
        return device

    def _insert(self, name: str, document: Document) -> None:
        self.inserts.setdefault(name, []).append(document)


def _is_duplicate(error: BulkWriteError) -> bool:
    failed = (error.details or {}).get("writeErrors", [])
    return any(each.get("code") == _DUPLICATE_KEY for each in failed)
