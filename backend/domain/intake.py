"""What becomes of calls that arrive: which count, for whom, and what is to be written of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from backend.domain.attribution import Device, Touch
from backend.domain.batches import ArrivedCall, Batch
from backend.domain.calls import Call, Kind, counted_at

# An organization and a device ID.
DeviceKey = tuple[str, str]
# An organization and a call_id.
CallKey = tuple[str, str]
# An organization, a kind, and the id under which a call of this kind counts once.
OnceKey = tuple[str, Kind, str]

_ONCE_FIELDS = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}
_RECORDED = frozenset({Kind.LEAD, Kind.CONVERSION, Kind.EVENT})
# What a lead says of its customer holds as if it were identified by it; an event's name is its own.
_ABOUT_CUSTOMERS = frozenset({Kind.IDENTIFY, Kind.LEAD})
_IDENTITY_FIELDS = ("email_sha256", "phone_sha256", "name")


class Status(StrEnum):
    """What became of a valid call."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Known:
    """What is stored of the calls that arrive: which of them, what counted once, and their devices."""

    calls: frozenset[CallKey] = frozenset()
    counted: frozenset[OnceKey] = frozenset()
    devices: dict[DeviceKey, Device] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A lead, conversion or event that counts at `at`, with the touches and the customer of its moment."""

    batch: Batch
    call: Call
    at: datetime
    customer_id: str | None
    first_touch: Touch | None
    touch: Touch | None


@dataclass(frozen=True, slots=True)
class Identity:
    """A call that tells a device's customer, and what is known of them."""

    batch: Batch
    customer_id: str
    at: datetime
    known: dict[str, str]


@dataclass(slots=True)
class Decisions:
    """A status for each call of each batch, and what is to be written.

    `calls` and `counted` are new marks, each with the time of its arrival; `devices` are those that changed,
    each with the batch that changed it last.
    """

    statuses: list[list[Status]] = field(default_factory=list)
    calls: dict[CallKey, datetime] = field(default_factory=dict)
    counted: dict[OnceKey, datetime] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    devices: dict[DeviceKey, tuple[Device, Batch]] = field(default_factory=dict)


def call_key(batch: Batch, call: Call) -> CallKey:
    """What a call is known by; it counts once, however often it is delivered."""
    return batch.org_id, call.call_id


def once_key(batch: Batch, call: Call) -> OnceKey | None:
    """What a conversion's transaction_id or a lead's event_id is known by; None where the call has none."""
    own_id = call.fields.get(_ONCE_FIELDS.get(call.kind, ""))
    return None if own_id is None else (batch.org_id, call.kind, own_id)


def decide(batches: Sequence[Batch], known: Known) -> Decisions:
    """Decide about the calls of these batches, in their order, which is that of their arrival."""
    intake = _Intake(known)
    for batch in batches:
        intake.decisions.statuses.append([intake.take(batch, arrived) for arrived in batch.calls])
    return intake.decisions


@dataclass(slots=True)
class _Intake:
    """Takes one call after the other, each in the light of those before it."""

    known: Known
    decisions: Decisions = field(default_factory=Decisions)

    def take(self, batch: Batch, arrived: ArrivedCall) -> Status:
        """Take a call in, unless it was stored before or reports what was counted before."""
        key = call_key(batch, arrived.call)
        if key in self.known.calls or key in self.decisions.calls:
            return Status.DUPLICATE
        self.decisions.calls[key] = batch.received_at
        if self._was_counted(batch, arrived.call):
            return Status.DUPLICATE
        self._keep(batch, arrived)
        return Status.ACCEPTED

    def _was_counted(self, batch: Batch, call: Call) -> bool:
        key = once_key(batch, call)
        if key is None:
            return False
        if key in self.known.counted or key in self.decisions.counted:
            return True
        self.decisions.counted[key] = batch.received_at
        return False

    def _keep(self, batch: Batch, arrived: ArrivedCall) -> None:
        call = arrived.call
        at = counted_at(call.occurred_at, batch.sent_at, batch.received_at)
        device = self._device(batch, at)
        if call.customer_id:
            device = self._identified(batch, call, at, device)
        if arrived.source and (touch := arrived.source.touch(at)):
            device = self._changed(batch, device.touched(touch))
        if call.kind in _RECORDED:
            self.decisions.records.append(_record(batch, call, at, device))

    def _device(self, batch: Batch, at: datetime) -> Device:
        """The device of a call; it is written when it is new, and once a day that it is seen."""
        device = self._latest(batch)
        if device is None:
            return self._changed(batch, Device(batch.org_id, batch.device_id, at, at))
        if device.last_seen_at.date() < at.date():
            return self._changed(batch, device.seen(at))
        return device

    def _latest(self, batch: Batch) -> Device | None:
        key = (batch.org_id, batch.device_id)
        changed = self.decisions.devices.get(key)
        return changed[0] if changed else self.known.devices.get(key)

    def _identified(self, batch: Batch, call: Call, at: datetime, device: Device) -> Device:
        """The device, identified as the customer of a call."""
        assert call.customer_id is not None
        is_new = device.customer_at(at) != call.customer_id
        fields = call.fields if call.kind in _ABOUT_CUSTOMERS else {}
        known = {name: fields[name] for name in _IDENTITY_FIELDS if name in fields}
        if is_new or known or call.kind is Kind.IDENTIFY:
            self.decisions.identities.append(Identity(batch, call.customer_id, at, known))
        return self._changed(batch, device.identified(call.customer_id, at)) if is_new else device

    def _changed(self, batch: Batch, device: Device) -> Device:
        self.decisions.devices[batch.org_id, batch.device_id] = (device, batch)
        return device


def _record(batch: Batch, call: Call, at: datetime, device: Device) -> Record:
    return Record(
        batch=batch,
        call=call,
        at=at,
        customer_id=call.customer_id or device.customer_at(at),
        first_touch=device.first_touch_at(at),
        touch=device.last_touch_at(at),
    )
