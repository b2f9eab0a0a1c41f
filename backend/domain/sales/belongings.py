"""What belongs to a person, for access and erasure, and what stays of the rest without the person.

Whose a device, lead, sale or event is, follows from the same rule as in all figures
(docs/decisions/credit.md, "Whose"). An address alone is a person only where nobody was identified.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.records import Record
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Credit, Device, Times, Touch, is_in
from backend.domain.visitors.persons import Person
from backend.domain.visitors.tellings import Telling

_NOW = CreditRules()
_ALWAYS: Times = [(None, None)]
EMAIL = "email_sha256"
# What a lead says of whom it is about.
_OF_LEADS = (EMAIL, "name")


class DevicePart(NamedTuple):
    """The part of a device that is a person's: its times, and whether nobody else ever had the device."""

    times: Times = ()
    is_whole: bool = False

    def has(self, at: datetime) -> bool:
        """Whether the device was the person's then."""
        return is_in(at, self.times)


def part_of(person: Person, device: Device) -> DevicePart:
    """The part of a device that is the person's."""
    if device.id in person.devices:
        return DevicePart(_ALWAYS, is_whole=True)
    history = History.of_device(device, _NOW)
    if not history.owners:
        return DevicePart(_ALWAYS, is_whole=True) if device.id in person.unclaimed else DevicePart()
    theirs = person.customers_on(device.id)
    # Who had it in a time of which identities were not kept is not known, but somebody had.
    is_whole = all(owner in theirs for _, owner in history.owners)
    return DevicePart(history.times_of(theirs), is_whole)


def owner_of(record: Record, device: Device | None) -> CustomerId | None:
    """The customer of a lead, sale or event, given its device; None if that is not known."""
    history = History.of_device(device, _NOW) if device else None
    return customer_of(SaleFacts[Touch](*record.combined), history)


def is_theirs(person: Person, record: Record, device: Device | None) -> bool:
    """Whether a lead, sale or event is the person's. `device` is the record's own; None if it is gone.

    By its device alone it is where that device told all of it, or a server named the device: another browser
    that tells of an order can't have it erased.
    """
    by_device = [telling for telling in record.tellings if telling.device_id in person.devices]
    if by_device:
        return len(by_device) == len(record.tellings) or any(telling.is_server for telling in by_device)
    owner, email = owner_of(record, device), record.fields.get(EMAIL)
    if owner in person.customers_on(record.device_id):
        return True
    if email is not None:
        return email in person.emails and (owner is None or owner != record.customer_id)
    return owner is None and record.device_id in person.unclaimed


def rest_of_device(person: Person, device: Device, part: DevicePart) -> Device:
    """What stays of a device without the person's part of it, and without the person's names."""
    theirs = person.customers_on(device.id)
    others = tuple(identity for identity in device.customers if identity.customer_id not in theirs)
    return replace(device.outside(part.times), customers=others)


def copy_of_device(person: Person, device: Device, part: DevicePart) -> Device:
    """The person's part of a device, which names no other customer."""
    theirs = person.customers_on(device.id)
    own = tuple(identity for identity in device.customers if identity.customer_id in theirs)
    return replace(device.during(part.times), customers=own)


def rest_of_record(person: Person, record: Record, part: DevicePart) -> Record:
    """A record of somebody else without the person's names, and without the click ids of the person's visits.

    `part` is the person's part of the record's device. If that is all of it, the device goes.
    """
    gone = person.devices | ({record.device_id} if part.is_whole and record.device_id else frozenset())
    tellings = tuple(_rest_of_telling(person, telling, gone) for telling in record.tellings)
    rest = replace(record, tellings=tellings)
    if rest.device_id != record.device_id:
        return rest.credited(Credit())
    first, last = (
        _rest_of_touch(touch) if touch and part.has(touch.at) else touch
        for touch in (record.credit.first, record.credit.last)
    )
    return rest.credited(Credit(first, last))


def _rest_of_telling(person: Person, telling: Telling[Touch], gone: Set[DeviceId]) -> Telling[Touch]:
    theirs = person.customers_on(telling.device_id)
    fields = telling.fields
    if fields.get(EMAIL) in person.emails:
        fields = {name: value for name, value in fields.items() if name not in _OF_LEADS}
    return telling._replace(
        device_id=None if telling.device_id in gone else telling.device_id,
        customer_id=None if telling.customer_id in theirs else telling.customer_id,
        fields=fields,
    )


def _rest_of_touch(touch: Touch) -> Touch:
    return replace(touch, click_ids={}, click_at=None, click_mark=None)
