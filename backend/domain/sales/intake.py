"""Decides about calls that arrive: which of them count, for which customer, and what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from backend.domain.clicks.ids import place_of
from backend.domain.feed.facts import call_fact, device_fact, identify_fact, reread_fact
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.credit import kept_credit
from backend.domain.sales.decisions import (
    CallKey,
    Contact,
    Decisions,
    DeviceKey,
    OnceKey,
    Result,
    Status,
    StoredState,
)
from backend.domain.sales.records import PAGE, Record
from backend.domain.visitors.app_visits import OPEN_ID
from backend.domain.visitors.attribution import Credit, Device, DirectVisit, Touch
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from backend.domain.visitors.device_clock import (
    DeviceClock,
    clock_of,
    counted_at,
    whole_milliseconds,
    with_clock,
)
from backend.domain.visitors.sources import Source
from backend.domain.visitors.tellings import Telling, fields_of

# The field of a kind by which it counts once. Of attribution checks, only opens have it.
ONCE_FIELDS = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id", Kind.ATTRIBUTION: OPEN_ID}
_RECORDED = frozenset({Kind.LEAD, Kind.CONVERSION, Kind.EVENT})
# A lead also identifies its customer, with these fields. An event's `name` is not a customer's.
_ABOUT_CUSTOMERS = frozenset({Kind.IDENTIFY, Kind.LEAD})
_IDENTITY_FIELDS = ("email_sha256", "phone_sha256", "name")


def call_key(batch: Batch, call: Call) -> CallKey:
    """The key by which a call that is delivered again is recognized."""
    return batch.org_id, call.call_id


def once_key(batch: Batch, call: Call) -> OnceKey | None:
    """The key of the id of a conversion, a lead or an open that counts only once; None if it has none."""
    own_id = call.fields.get(ONCE_FIELDS.get(call.kind, ""))
    return None if own_id is None else (batch.org_id, call.kind, own_id)


def devices_of(batches: Iterable[Batch]) -> set[DeviceKey]:
    """The devices of these calls, including those that stand for unknown browsers."""
    batches = list(batches)
    named = {(batch.org_id, batch.device_id) for batch in batches if batch.device_id}
    return named | {
        (batch.org_id, arrived.unknown_browser)
        for batch in batches
        for arrived in batch.calls
        if arrived.unknown_browser
    }


def late_touches(batches: Sequence[Batch], devices: Mapping[DeviceKey, Device]) -> dict[DeviceKey, datetime]:
    """For each device with late touches: the time from which its stored records need a new credit.

    A touch is late if the device already did something at a later time.
    """
    late: dict[DeviceKey, datetime] = {}
    if not any(arrived.touches_at(arrived.call.occurred_at) for batch in batches for arrived in batch.calls):
        return late
    for timed in _timed(batches, devices):
        key = timed.device_key
        device = devices.get(key) if key else None
        for arrived, at in timed.calls:
            touched_at = arrived.touches_at(at)
            if key and device and touched_at and touched_at <= device.last_seen_at:
                late[key] = min(late.get(key, touched_at), touched_at)
    return late


def decide(batches: Sequence[Batch], stored: StoredState) -> Decisions:
    """Decide about all calls of these batches. `batches` and their calls are in order of arrival."""
    intake = _Intake(stored)
    for timed in _timed(batches, stored.devices):
        results = [intake.take(timed, arrived, at) for arrived, at in timed.calls]
        intake.decisions.results.append(results)
    intake.credit()
    intake.tell_devices()
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
        occurred = [arrived.call.occurred_at for arrived in batch.calls]
        clock = None
        if batch.sent_at is None:  # told by a server, in true time
            times = [whole_milliseconds(time) for time in occurred]
        else:
            key = (batch.org_id, batch.device_id) if batch.device_id else None
            known = clocks.get(key, ()) if key else ()
            clock = clock_of(batch.sent_at, batch.received_at, known)
            if key:
                clocks[key] = with_clock(known, clock)
            times = counted_at(occurred, batch.sent_at, clock)
        yield _Timed(batch, clock, list(zip(batch.calls, times, strict=True)))


@dataclass(slots=True)
class _Intake:
    """Decides about one call after another, given those before it. `credit` comes last."""

    stored: StoredState
    decisions: Decisions = field(default_factory=Decisions)
    touches: dict[DeviceKey, list[Touch]] = field(default_factory=dict)
    counted_records: dict[OnceKey, Record] = field(default_factory=dict)

    def take(self, timed: _Timed, arrived: ArrivedCall, at: datetime) -> Result:
        """Decide about one call: it is a duplicate if it was stored before or its id was counted before."""
        batch, call = timed.batch, arrived.call
        key = call_key(batch, call)
        if key in self.stored.calls or key in self.decisions.calls:
            return Result(Status.DUPLICATE, call.call_id)
        self.decisions.calls[key] = batch.received_at
        once = once_key(batch, call)
        if once and (once in self.stored.counted or once in self.decisions.counted):
            return self._tell_again(once, timed, arrived, at)
        if once:
            self.decisions.counted[once] = batch.received_at
        self._keep(timed, arrived, at, once)
        return Result(Status.ACCEPTED, call.call_id)

    def credit(self) -> None:
        """Update the credit of all records, also stored ones, with the touches of these calls."""
        for records in (self.decisions.records, self.decisions.completed):
            records |= {key: record.credited(self._credit_of(record)) for key, record in records.items()}
        for key in self.touches:
            for stored in self.stored.records.get(key, ()):
                if stored.key not in self.decisions.completed:
                    credit = self._credit_of(stored)
                    if credit != stored.credit:
                        self.decisions.credited[stored.key] = credit
                        self._tell_to_reread(stored)

    def tell_devices(self) -> None:
        """Add facts about the devices whose visits or customers have changed, and about all with new touches.

        A touch that is known already changes when the device was last seen.
        """
        for key, device in self.decisions.devices.items():
            before = self.stored.devices.get(key)
            if before is None or key in self.touches or device.has_other_history(before):
                self.decisions.tell(device.org_id, device_fact(device.id))

    def _tell_to_reread(self, record: Record) -> None:
        """Add a fact by which analytics reads a stored record again that has changed without an event."""
        self.decisions.tell(record.org_id, reread_fact(record.kind.value, [record.call_id]))

    def _credit_of(self, record: Record) -> Credit:
        device_id = record.device_id
        if device_id is None:
            return kept_credit(record.facts(), None)
        arrived = self.touches.get((record.org_id, device_id), ())
        return kept_credit(record.facts(arrived), self._latest_device(record.org_id, device_id))

    def _keep(self, timed: _Timed, arrived: ArrivedCall, at: datetime, once: OnceKey | None) -> None:
        batch, call = timed.batch, arrived.call
        device, source = self._device(timed, at), self._source(arrived, at)
        if device and source:
            device = self._visited(device, source, at, batch.received_at)
        self._note(device)
        self._note_visit(timed, arrived, at)
        if call.kind in _RECORDED:
            tellings = (_telling(batch, arrived, at),)
            record = Record(call.kind, batch.org_id, call.call_id, tellings)
            self.decisions.records[record.key] = record
            self.decisions.tell(batch.org_id, call_fact(call.kind, call.call_id))
            if once:
                self.counted_records[once] = record
                self._tell_identities(record)
        if call.customer_id and not once:
            device = self._latest_device(batch.org_id, batch.device_id) if batch.device_id else None
            self._identify(device, batch, call, call.customer_id, at)

    def _source(self, arrived: ArrivedCall, at: datetime) -> Source | None:
        """The source of the call's visit. If the call is an open of an app, notes its click, and names it."""
        source, opened = arrived.source, arrived.opened
        if opened is None:
            return source
        click = opened.click(at)
        self.decisions.clicks.append(click)
        if source and click.counted and opened.key:
            return replace(source, click=place_of(opened.key, click))
        return source

    def _tell_again(self, once: OnceKey, timed: _Timed, arrived: ArrivedCall, at: datetime) -> Result:
        """Add what is new in this telling to the record that counted, if that is still stored."""
        batch, call = timed.batch, arrived.call
        stored = self.counted_records.get(once) or self.stored.counted_records.get(once)
        if stored is None:
            return Result(Status.DUPLICATE, call.call_id)
        if arrived.visit:
            self._note(self._device(timed, at))
            self._note_visit(timed, arrived, at)
        telling = _telling(batch, arrived, at)
        record = stored.told_again(telling)
        if record is not stored:
            self.counted_records[once] = record
            is_new = record.key in self.decisions.records
            (self.decisions.records if is_new else self.decisions.completed)[record.key] = record
            number = len(record.tellings) - 1
            self.decisions.tell(record.org_id, call_fact(record.kind, record.call_id, number))
            combined = record.combined
            clock = timed.clock if combined.device_id == batch.device_id else None
            self._note(self._seen(record.org_id, combined.device_id, combined.at, clock))
            self._tell_identities(record, stored)
        return Result(Status.DUPLICATE, stored.call_id, record.differences(telling))

    def _tell_identities(self, record: Record, before: Record | None = None) -> None:
        """Note the identities that follow from a record which may be told again.

        `before` is the record before its last telling. Identities of it may not hold any more, since tellings
        of one moment only count together.
        """
        at, _, device_id, customer_id = record.combined
        if customer_id and device_id is None:
            for details, is_server in _told_of(record, None, customer_id):
                contact = Contact(record.org_id, None, customer_id, at, details, is_server)
                self.decisions.contacts.append(contact)
        identities = record.identities
        said_before = before.identities if before else []
        for own_id in dict.fromkeys(identity.device_id for identity in (*said_before, *identities)):
            device = self._latest_device(record.org_id, own_id)
            if device is None:
                continue
            identified = device.identified_by_sale(record.call_id, identities)
            self._note(identified)
            for identity in identified.standing:
                if identity.sale == record.call_id and identity.customer_id is not None:
                    for details, is_server in _told_of(record, own_id, identity.customer_id):
                        self._note_contact(device, identity.customer_id, identity.at, details, is_server)

    def _identify(
        self, device: Device | None, batch: Batch, call: Call, customer_id: CustomerId, at: datetime
    ) -> None:
        """Note that a call identified a device, if there is one, as a customer."""
        details = _customer_details(call.kind, call.fields)
        if call.kind is Kind.IDENTIFY:
            device_id = device.id if device else None
            self.decisions.tell(batch.org_id, identify_fact(device_id, customer_id, at))
        if device is None:
            contact = Contact(batch.org_id, None, customer_id, at, details, is_server=_is_server(batch))
            self.decisions.contacts.append(contact)
            return
        self._note(device.identified(customer_id, at, batch.received_at, is_server=batch.sent_at is None))
        is_told = call.kind is Kind.IDENTIFY
        self._note_contact(device, customer_id, at, details, _is_server(batch), is_told=is_told)

    def _note_contact(
        self,
        device: Device,
        customer_id: CustomerId,
        at: datetime,
        details: dict[str, str],
        is_server: bool,
        *,
        is_told: bool = False,
    ) -> None:
        """Note a customer of a device, unless a browser tells again what is known.

        That a server tells it too is something new.
        """
        is_known = any(
            identity.customer_id == customer_id and identity.at <= at for identity in device.standing
        )
        if is_told or details or is_server or not is_known:
            contact = Contact(device.org_id, device.id, customer_id, at, details, is_server)
            self.decisions.contacts.append(contact)

    def _device(self, timed: _Timed, at: datetime) -> Device | None:
        """The call's device, with everything that earlier calls changed, seen at this time."""
        return self._seen(timed.batch.org_id, timed.batch.device_id, at, timed.clock)

    def _seen(
        self, org_id: OrgId, device_id: DeviceId | None, at: datetime, clock: DeviceClock | None
    ) -> Device | None:
        if device_id is None:
            return None
        return (self._latest_device(org_id, device_id) or Device(org_id, device_id, at, at)).seen(at, clock)

    def _latest_device(self, org_id: OrgId, device_id: DeviceId) -> Device | None:
        key = org_id, device_id
        return self.decisions.devices.get(key) or self.stored.devices.get(key)

    def _note(self, device: Device | None) -> None:
        if device:
            self.decisions.devices[device.org_id, device.id] = device

    def _visited(self, device: Device, source: Source, at: datetime, received_at: datetime) -> Device:
        """The device after a visit from this source."""
        touch = source.touch(at, received_at)
        if touch is None:
            return device.visited(DirectVisit(at, received_at))
        return self._touched(device, touch)

    def _note_visit(self, timed: _Timed, arrived: ArrivedCall, at: datetime) -> None:
        """Note a visit whose click a server named, for the batch's device and the call's unknown browser."""
        batch, visit, customer_id = timed.batch, arrived.visit, arrived.call.customer_id
        if visit is None:
            return
        if device := batch.device_id and self._latest_device(batch.org_id, batch.device_id):
            self._note(self._touched(device, visit))
        if browser := self._seen(batch.org_id, arrived.unknown_browser, at, None):
            touched = self._touched(browser, visit)
            if customer_id:
                touched = touched.identified(customer_id, at, batch.received_at, is_server=True)
            self._note(touched)
            if customer_id:
                self._note_contact(browser, customer_id, at, {}, is_server=True)

    def _touched(self, device: Device, touch: Touch) -> Device:
        self.touches.setdefault((device.org_id, device.id), []).append(touch)
        return device.touched(touch)


def _is_server(batch: Batch) -> bool:
    return batch.sent_at is None


def _telling(batch: Batch, arrived: ArrivedCall, at: datetime) -> Telling[Touch]:
    """The telling that a call is."""
    call, is_server = arrived.call, _is_server(batch)
    received_at = whole_milliseconds(batch.received_at)
    return Telling(
        received_at,
        at,
        batch.device_id,
        call.customer_id,
        is_server,
        arrived.visit,
        call.occurred_at,
        call.fields | ({PAGE: call.page} if call.page else {}),
    )


def _told_of(
    record: Record, device_id: DeviceId | None, customer_id: CustomerId
) -> Iterator[tuple[dict[str, str], bool]]:
    """What was told of a record's customer by servers, and by a device: each with whether servers did.

    Browsers can name anybody: what one of them tells joins no customer with what servers told.
    """
    naming = [telling for telling in record.tellings if telling.customer_id == customer_id]
    if any(telling.is_server for telling in naming):
        of_servers = [telling for telling in record.tellings if telling.is_server]
        yield _customer_details(record.kind, fields_of(of_servers)), True
    by_device = [telling for telling in naming if not telling.is_server and telling.device_id == device_id]
    if by_device:
        yield _customer_details(record.kind, fields_of(by_device)), False


def _customer_details(kind: Kind, fields: Mapping[str, Any]) -> dict[str, str]:
    """The name and hashes of the customer in the fields of a call; empty for kinds that have none."""
    if kind not in _ABOUT_CUSTOMERS:
        return {}
    return {name: fields[name] for name in _IDENTITY_FIELDS if name in fields}
