"""Decides what to do with calls that arrive: which of them count, for which customer, and what to store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.attribution import Credit, Device, DirectVisit, Source, Touch
from backend.domain.batches import ArrivedCall, Batch
from backend.domain.calls import Call, Kind
from backend.domain.device_clock import DeviceClock, clock_of, counted_at, whole_milliseconds, with_clock
from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId
from backend.domain.records import Record, RecordKey

# An organization and a device ID.
DeviceKey = tuple[OrgId, DeviceId]
# An organization and a call_id.
CallKey = tuple[OrgId, CallId]
# An organization, a kind, and the id under which a call of this kind counts once.
OnceKey = tuple[OrgId, Kind, str]

# The field of a kind by which it counts once.
ONCE_FIELDS = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}
_RECORDED = frozenset({Kind.LEAD, Kind.CONVERSION, Kind.EVENT})
# A lead also identifies its customer, with these fields. An event's `name` is not a customer's.
_ABOUT_CUSTOMERS = frozenset({Kind.IDENTIFY, Kind.LEAD})
_IDENTITY_FIELDS = ("email_sha256", "phone_sha256", "name")


class Status(StrEnum):
    """The result of a valid call."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a valid call: its status, and the id of its record or of the one that counted before.

    `differs` names the fields for which that one has other values, which stay.
    """

    status: Status
    record_id: CallId
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What the database already has about the arriving calls.

    `calls` are those stored before; `counted` are the ids of theirs that counted before; `devices` are their
    devices, and those of `told`: the records of such ids, as far as they are still there. `records` are
    stored records that may have to be credited to touches that arrive only now (see `late_touches`).
    """

    calls: frozenset[CallKey] = frozenset()
    counted: frozenset[OnceKey] = frozenset()
    devices: Mapping[DeviceKey, Device] = field(default_factory=dict)
    told: Mapping[OnceKey, Record] = field(default_factory=dict)
    records: Mapping[DeviceKey, Mapping[RecordKey, Credit]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Identity:
    """A customer to store, for a device if there is one, with what is said of the customer (`known`)."""

    org_id: OrgId
    device_id: DeviceId | None
    customer_id: CustomerId
    at: datetime
    known: dict[str, str]


@dataclass(slots=True)
class Decisions:
    """A result for each call of each batch, and everything that is to be written.

    `calls` and `counted` are ids to mark as stored or counted, each with its time of arrival. `completed` are
    stored records of which a second telling knows more. `credited` are stored records whose credit changes
    because an earlier touch arrived late. `devices` has the device of
    every call that is stored, even if nothing about it changed: so two transactions for the same device write
    the same document, and MongoDB lets only one of them through.
    """

    results: list[list[Result]] = field(default_factory=list)
    calls: dict[CallKey, datetime] = field(default_factory=dict)
    counted: dict[OnceKey, datetime] = field(default_factory=dict)
    records: dict[RecordKey, Record] = field(default_factory=dict)
    completed: dict[RecordKey, Record] = field(default_factory=dict)
    identities: list[Identity] = field(default_factory=list)
    devices: dict[DeviceKey, Device] = field(default_factory=dict)
    credited: dict[RecordKey, Credit] = field(default_factory=dict)


def call_key(batch: Batch, call: Call) -> CallKey:
    """The key by which a call that is delivered again is recognized."""
    return batch.org_id, call.call_id


def once_key(batch: Batch, call: Call) -> OnceKey | None:
    """The key of a transaction_id (conversion) or event_id (lead), which counts only once; else None."""
    own_id = call.fields.get(ONCE_FIELDS.get(call.kind, ""))
    return None if own_id is None else (batch.org_id, call.kind, own_id)


def late_touches(batches: Sequence[Batch], devices: Mapping[DeviceKey, Device]) -> dict[DeviceKey, datetime]:
    """For each device with late touches: the time from which its stored records need a new credit.

    A touch is late if the device already did something at a later time.
    """
    late: dict[DeviceKey, datetime] = {}
    if not any(each.touches_at(each.call.occurred_at) for batch in batches for each in batch.calls):
        return late
    for timed in _timed(batches, devices):
        key = timed.device_key
        device = devices.get(key) if key else None
        for arrived, at in timed.calls:
            # A device without a clock was stored by a version that did not note each time it was seen.
            touched_at = arrived.touches_at(at)
            if key and device and touched_at and (touched_at <= device.last_seen_at or not device.clocks):
                late[key] = min(late.get(key, touched_at), touched_at)
    return late


def decide(batches: Sequence[Batch], known: Known) -> Decisions:
    """Decide about all calls of these batches. `batches` and their calls are in order of arrival."""
    intake = _Intake(known)
    for timed in _timed(batches, known.devices):
        results = [intake.take(timed, arrived, at) for arrived, at in timed.calls]
        intake.decisions.results.append(results)
    intake.credit()
    return intake.decisions


@dataclass(frozen=True, slots=True)
class _Timed:
    """A batch, its clock (None: the server's), and its calls with the times at which they count."""

    batch: Batch
    clock: DeviceClock | None
    calls: list[tuple[ArrivedCall, datetime]]

    @property
    def device_key(self) -> DeviceKey | None:
        return (self.batch.org_id, self.batch.device_id) if self.batch.device_id else None


def _timed(batches: Sequence[Batch], devices: Mapping[DeviceKey, Device]) -> Iterator[_Timed]:
    clocks = {key: device.clocks for key, device in devices.items()}
    for batch in batches:
        occurred = [each.call.occurred_at for each in batch.calls]
        clock = None
        if batch.sent_at is None or batch.device_id is None:  # told by a server, in true time
            times = [whole_milliseconds(each) for each in occurred]
        else:
            key = batch.org_id, batch.device_id
            clock = clock_of(batch.sent_at, batch.received_at, clocks.get(key, ()))
            clocks[key] = with_clock(clocks.get(key, ()), clock)
            times = counted_at(occurred, batch.sent_at, clock)
        yield _Timed(batch, clock, list(zip(batch.calls, times, strict=True)))


@dataclass(slots=True)
class _Intake:
    """Decides about one call after another, given those before it. `credit` comes last."""

    known: Known
    decisions: Decisions = field(default_factory=Decisions)
    touches: dict[DeviceKey, list[Touch]] = field(default_factory=dict)
    told: dict[OnceKey, Record] = field(default_factory=dict)

    def take(self, timed: _Timed, arrived: ArrivedCall, at: datetime) -> Result:
        """Decide about one call: it is a duplicate if it was stored before or its id was counted before."""
        batch, call = timed.batch, arrived.call
        key = call_key(batch, call)
        if key in self.known.calls or key in self.decisions.calls:
            return Result(Status.DUPLICATE, call.call_id)
        self.decisions.calls[key] = batch.received_at
        once = once_key(batch, call)
        if once and (once in self.known.counted or once in self.decisions.counted):
            return self._tell_again(once, timed, arrived, at)
        if once:
            self.decisions.counted[once] = batch.received_at
        self._keep(timed, arrived, at, once)
        return Result(Status.ACCEPTED, call.call_id)

    def credit(self) -> None:
        """Update the credit of all records, also stored ones, with the touches of these calls."""
        for each in self.touches.values():
            each.sort(key=lambda touch: touch.at)
        if self.touches:
            for records in (self.decisions.records, self.decisions.completed):
                records |= {key: self._credited(each) for key, each in records.items()}
        for key, touches in self.touches.items():
            for record_key, stored in self.known.records.get(key, {}).items():
                if (credit := stored.with_touches(touches)) != stored:
                    self.decisions.credited[record_key] = credit

    def _credited(self, record: Record) -> Record:
        touches = self.touches.get((record.org_id, record.device_id), ()) if record.device_id else ()
        return replace(record, credit=record.credit.with_touches(touches))

    def _keep(self, timed: _Timed, arrived: ArrivedCall, at: datetime, once: OnceKey | None) -> None:
        batch, call = timed.batch, arrived.call
        device = self._device(timed, at)
        if call.customer_id:
            device = self._identified(timed, device, call.customer_id, at, call)
        if device and arrived.source:
            device = self._visited(device, arrived.source, at, batch.received_at)
        device = self._named(device, arrived.visit)
        self._note(device)
        if call.kind in _RECORDED:
            record = _record(batch, arrived, at, device)
            self.decisions.records[record.key] = record
            if once:
                self.told[once] = record

    def _tell_again(self, once: OnceKey, timed: _Timed, arrived: ArrivedCall, at: datetime) -> Result:
        """Add what this telling knows more to the record that counted, if that is still there."""
        stored = self.told.get(once) or self.known.told.get(once)
        if stored is None:
            return Result(Status.DUPLICATE, arrived.call.call_id)
        batch, call = timed.batch, arrived.call
        device = self._device(timed, at)
        if arrived.visit:
            device = self._named(device, arrived.visit)
            self._note(device)
        record = stored.completed(_record(batch, arrived, at, device))
        if record != stored:
            self.told[once] = record
            is_new = record.key in self.decisions.records
            (self.decisions.records if is_new else self.decisions.completed)[record.key] = record
            # Of a device, only itself and servers may say whose it is.
            if batch.device_id in {None, record.device_id}:
                self._tell_person(record, timed, call)
        return Result(Status.DUPLICATE, stored.call_id, stored.differences(call, batch.device_id))

    def _tell_person(self, record: Record, timed: _Timed, call: Call) -> None:
        device = self._seen(record.org_id, record.device_id, record.credit.at, timed.clock)
        if record.customer_id:
            device = self._identified(timed, device, record.customer_id, record.credit.at, call)
        self._note(device)

    def _device(self, timed: _Timed, at: datetime) -> Device | None:
        """The call's device, with everything that earlier calls changed, seen at this time."""
        return self._seen(timed.batch.org_id, timed.batch.device_id, at, timed.clock)

    def _seen(
        self, org_id: OrgId, device_id: DeviceId | None, at: datetime, clock: DeviceClock | None
    ) -> Device | None:
        if device_id is None:
            return None
        key = org_id, device_id
        device = self.decisions.devices.get(key) or self.known.devices.get(key)
        return (device or Device(*key, at, at)).seen(at, clock)

    def _note(self, device: Device | None) -> None:
        if device:
            self.decisions.devices[device.org_id, device.id] = device

    def _identified(
        self, timed: _Timed, device: Device | None, customer_id: CustomerId, at: datetime, call: Call
    ) -> Device | None:
        """The device after a call identified it as a customer, if the call did."""
        batch = timed.batch
        # Without a device, it is what keeps the customer's e-mail addresses as long as what it did.
        is_new = device is None or device.customer_at(at) != customer_id
        fields = call.fields if call.kind in _ABOUT_CUSTOMERS else {}
        known = {name: fields[name] for name in _IDENTITY_FIELDS if name in fields}
        if is_new or known or call.kind is Kind.IDENTIFY:
            device_id = device.id if device else None
            self.decisions.identities.append(Identity(batch.org_id, device_id, customer_id, at, known))
        return device.identified(customer_id, at, batch.received_at) if device and is_new else device

    def _visited(self, device: Device, source: Source, at: datetime, received_at: datetime) -> Device:
        """The device after a visit from there."""
        touch = source.touch(at, received_at)
        if touch is None:
            return device.visited(DirectVisit(at, received_at))
        return self._touched(device, touch)

    def _named(self, device: Device | None, visit: Touch | None) -> Device | None:
        """The device after a visit of which a server named the click, unless it has told of that itself."""
        if device is None or visit is None or any(each.is_same_click(visit) for each in device.touches):
            return device
        return self._touched(device, visit)

    def _touched(self, device: Device, touch: Touch) -> Device:
        self.touches.setdefault((device.org_id, device.id), []).append(touch)
        return device.touched(touch)


def _record(batch: Batch, arrived: ArrivedCall, at: datetime, device: Device | None) -> Record:
    """The record of a call that this device, if any, made."""
    call = arrived.call
    of_click = Credit(at, None, None).with_touches([arrived.visit] if arrived.visit else [])
    return Record(
        kind=call.kind,
        org_id=batch.org_id,
        call_id=call.call_id,
        device_id=batch.device_id,
        customer_id=call.customer_id or (device.customer_at(at) if device else None),
        credit=device.credit_at(at) if device else of_click,
        occurred_at=call.occurred_at,
        received_at=batch.received_at,
        page=call.page,
        fields=call.fields,
    )
