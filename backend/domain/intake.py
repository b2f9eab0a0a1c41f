"""Decides what to do with calls that arrive: which of them count, for which customer, and what to store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.attribution import Credit, Device, Touch
from backend.domain.batches import ArrivedCall, Batch
from backend.domain.calls import Call, Kind
from backend.domain.device_clock import DeviceClock, clock_of, counted_at, with_clock
from backend.domain.ids import DeviceId, OrgId

# An organization and a device ID.
DeviceKey = tuple[OrgId, DeviceId]
# An organization and a call_id.
CallKey = tuple[str, str]
# An organization, a kind, and the id under which a call of this kind counts once.
OnceKey = tuple[str, Kind, str]

# A kind, an organization and a call_id.
RecordKey = tuple[Kind, str, str]

_ONCE_FIELDS = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}
_RECORDED = frozenset({Kind.LEAD, Kind.CONVERSION, Kind.EVENT})
# A lead also identifies its customer, with these fields. An event's `name` is not a customer's.
_ABOUT_CUSTOMERS = frozenset({Kind.IDENTIFY, Kind.LEAD})
_IDENTITY_FIELDS = ("email_sha256", "phone_sha256", "name")


class Status(StrEnum):
    """The result of a valid call."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Known:
    """What the database already has about the arriving calls.

    `calls` are those stored before; `counted` are the ids of theirs that counted before; `devices` are their
    devices. `records` are stored records that may have to be credited to touches that arrive only now (see
    `late_touches`).
    """

    calls: frozenset[CallKey] = frozenset()
    counted: frozenset[OnceKey] = frozenset()
    devices: Mapping[DeviceKey, Device] = field(default_factory=dict)
    records: Mapping[DeviceKey, Mapping[RecordKey, Credit]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A lead, conversion or event to store.

    `customer_id` is the device's customer at that time; it counts at `credit.at`.
    """

    batch: Batch
    call: Call
    customer_id: str | None
    credit: Credit


@dataclass(frozen=True, slots=True)
class Identity:
    """A customer to store for a device, with what the call says about that customer (`known`)."""

    batch: Batch
    customer_id: str
    at: datetime
    known: dict[str, str]


@dataclass(slots=True)
class Decisions:
    """A status for each call of each batch, and everything that is to be written.

    `calls` and `counted` are ids to mark as stored or counted, each with its time of arrival. `credited` are
    stored records whose credit changes because an earlier touch arrived late. `devices` has the device of
    every call that is stored, even if nothing about it changed: so two transactions for the same device write
    the same document, and MongoDB lets only one of them through.
    """

    statuses: list[list[Status]] = field(default_factory=list)
    calls: dict[CallKey, datetime] = field(default_factory=dict)
    counted: dict[OnceKey, datetime] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    devices: dict[DeviceKey, Device] = field(default_factory=dict)
    credited: dict[RecordKey, Credit] = field(default_factory=dict)


def call_key(batch: Batch, call: Call) -> CallKey:
    """The key by which a call that is delivered again is recognized."""
    return batch.org_id, call.call_id


def once_key(batch: Batch, call: Call) -> OnceKey | None:
    """The key of a transaction_id (conversion) or event_id (lead), which counts only once; else None."""
    own_id = call.fields.get(_ONCE_FIELDS.get(call.kind, ""))
    return None if own_id is None else (batch.org_id, call.kind, own_id)


def late_touches(batches: Sequence[Batch], devices: Mapping[DeviceKey, Device]) -> dict[DeviceKey, datetime]:
    """For each device with late touches: the time from which its stored records need a new credit.

    A touch is late if the device already did something at a later time.
    """
    late: dict[DeviceKey, datetime] = {}
    if not any(arrived.touches for batch in batches for arrived in batch.calls):
        return late
    for timed in _timed(batches, devices):
        device = devices.get(timed.device_key)
        for arrived, at in timed.calls:
            # A device without a clock was stored by a version that did not note each time it was seen.
            if arrived.touches and device and (at <= device.last_seen_at or not device.clocks):
                late[timed.device_key] = min(late.get(timed.device_key, at), at)
    return late


def decide(batches: Sequence[Batch], known: Known) -> Decisions:
    """Decide about all calls of these batches. `batches` and their calls are in order of arrival."""
    intake = _Intake(known)
    for timed in _timed(batches, known.devices):
        statuses = [intake.take(timed, arrived, at) for arrived, at in timed.calls]
        intake.decisions.statuses.append(statuses)
    intake.credit()
    return intake.decisions


@dataclass(frozen=True, slots=True)
class _Timed:
    """A batch, the clock that it was sent by, and its calls with the times at which they count."""

    batch: Batch
    clock: DeviceClock
    calls: list[tuple[ArrivedCall, datetime]]

    @property
    def device_key(self) -> DeviceKey:
        return self.batch.org_id, self.batch.device_id


def _timed(batches: Sequence[Batch], devices: Mapping[DeviceKey, Device]) -> Iterator[_Timed]:
    clocks = {key: device.clocks for key, device in devices.items()}
    for batch in batches:
        key = batch.org_id, batch.device_id
        clock = clock_of(batch.sent_at, batch.received_at, clocks.get(key, ()))
        clocks[key] = with_clock(clocks.get(key, ()), clock)
        times = counted_at([each.call.occurred_at for each in batch.calls], batch.sent_at, clock)
        yield _Timed(batch, clock, list(zip(batch.calls, times, strict=True)))


@dataclass(slots=True)
class _Intake:
    """Decides about one call after another, given those before it. `credit` comes last."""

    known: Known
    decisions: Decisions = field(default_factory=Decisions)
    touches: dict[DeviceKey, list[Touch]] = field(default_factory=dict)

    def take(self, timed: _Timed, arrived: ArrivedCall, at: datetime) -> Status:
        """Decide about one call: it is a duplicate if it was stored before or its id was counted before."""
        batch = timed.batch
        key = call_key(batch, arrived.call)
        if key in self.known.calls or key in self.decisions.calls:
            return Status.DUPLICATE
        self.decisions.calls[key] = batch.received_at
        if self._was_counted(batch, arrived.call):
            return Status.DUPLICATE
        self._keep(timed, arrived, at)
        return Status.ACCEPTED

    def credit(self) -> None:
        """Update the credit of all records, also stored ones, with the touches of these calls."""
        for each in self.touches.values():
            each.sort(key=lambda touch: touch.at)
        if self.touches:
            self.decisions.records = [self._credited(each) for each in self.decisions.records]
        for key, touches in self.touches.items():
            for record_key, stored in self.known.records.get(key, {}).items():
                if (credit := stored.with_touches(touches)) != stored:
                    self.decisions.credited[record_key] = credit

    def _credited(self, record: Record) -> Record:
        touches = self.touches.get((record.batch.org_id, record.batch.device_id), ())
        return replace(record, credit=record.credit.with_touches(touches))

    def _was_counted(self, batch: Batch, call: Call) -> bool:
        key = once_key(batch, call)
        if key is None:
            return False
        if key in self.known.counted or key in self.decisions.counted:
            return True
        self.decisions.counted[key] = batch.received_at
        return False

    def _keep(self, timed: _Timed, arrived: ArrivedCall, at: datetime) -> None:
        batch, call = timed.batch, arrived.call
        device = self._device(timed, at)
        if call.customer_id:
            device = self._identified(batch, call, at, device)
        if arrived.source and (touch := arrived.source.touch(at)):
            device = device.touched(touch)
            self.touches.setdefault(timed.device_key, []).append(touch)
        self.decisions.devices[timed.device_key] = device
        if call.kind in _RECORDED:
            customer_id = call.customer_id or device.customer_at(at)
            self.decisions.records.append(Record(batch, call, customer_id, device.credit_at(at)))

    def _device(self, timed: _Timed, at: datetime) -> Device:
        """The call's device, with everything that earlier calls changed, seen at this time."""
        changed = self.decisions.devices.get(timed.device_key)
        device = changed or self.known.devices.get(timed.device_key)
        return (device or Device(*timed.device_key, at, at)).seen(at, timed.clock)

    def _identified(self, batch: Batch, call: Call, at: datetime, device: Device) -> Device:
        """The device after a call identified it as a customer, if the call did."""
        assert call.customer_id is not None
        is_new = device.customer_at(at) != call.customer_id
        fields = call.fields if call.kind in _ABOUT_CUSTOMERS else {}
        known = {name: fields[name] for name in _IDENTITY_FIELDS if name in fields}
        if is_new or known or call.kind is Kind.IDENTIFY:
            self.decisions.identities.append(Identity(batch, call.customer_id, at, known))
        return device.identified(call.customer_id, at) if is_new else device
