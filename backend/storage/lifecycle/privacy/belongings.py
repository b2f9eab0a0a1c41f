"""Finds everything that belongs to a person: customer ids, e-mail addresses, devices
(domain/visitors/persons)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from backend.domain.apps.installs import device_of
from backend.domain.ids import CustomerId, DeviceId, InstallId, OrgId
from backend.domain.visitors.attribution import Device, Times
from backend.domain.visitors.persons import DeviceUser, Person, Share, person_of, share_of, users_of_device
from backend.storage.apps import installs
from backend.storage.driver.mongo import Database, Document
from backend.storage.sales import leads
from backend.storage.visitors import contacts, devices, identities


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a request for access or erasure.

    It is a customer, a device, the owner of a hashed e-mail address, or an installation of an app. An
    installation whose id is a UUID is a device too.
    """

    customer_id: CustomerId | None = None
    device_id: DeviceId | None = None
    email_sha256: str | None = None
    install_id: InstallId | None = None


@dataclass(frozen=True, slots=True)
class SharedDevice:
    """A device that other people use too. `others` are the hashed e-mail addresses of those others.

    `times` are the periods in which it was the person's.
    """

    id: DeviceId
    times: Times
    others: list[str]


@dataclass(frozen=True, slots=True)
class Belongings:
    """What belongs to a subject. `devices` are those that nobody else uses."""

    person: Person
    installs: list[InstallId] = field(default_factory=list)
    devices: list[DeviceId] = field(default_factory=list)
    shared: list[SharedDevice] = field(default_factory=list)


async def find_belongings(database: Database, org_id: OrgId, subject: Subject) -> Belongings:
    """Everything that belongs to the same person as the subject.

    If the subject is a device, all of the device is meant, whoever used it.
    """
    belongings = Belongings(await _person(database, org_id, subject))
    for device_id in await _used_devices(database, org_id, belongings.person):
        users = await _users(database, org_id, device_id)
        share = share_of(belongings.person, users)
        if share is Share.ALL:
            belongings.devices.append(device_id)
        else:
            others = [user for user in users if not user.is_person(belongings.person)]
            device = await devices.find_device(database, org_id, device_id)
            times = _times(device, share, belongings.person) if device else ()
            belongings.shared.append(SharedDevice(device_id, times, _emails(others)))
    if subject.device_id:
        belongings.devices.append(subject.device_id)
    if subject.install_id:
        belongings.installs.append(subject.install_id)
        if own_device := device_of(subject.install_id):
            belongings.devices.append(own_device)
    belongings.installs.extend(await installs.find_installs_of(database, org_id, belongings.devices))
    return replace(belongings, installs=list(dict.fromkeys(belongings.installs)))


def _times(device: Device, share: Share, person: Person) -> Times:
    """The periods in which a shared device belonged to the person."""
    return device.times_of(person.customers, beginning=share is Share.BEGINNING)


async def _person(database: Database, org_id: OrgId, subject: Subject) -> Person:
    emails = [subject.email_sha256] if subject.email_sha256 else []
    by_email = await _customers_by_email(database, org_id, emails)
    customers = {customer_id for ids in by_email.values() for customer_id in ids}
    if subject.customer_id:
        customers.add(subject.customer_id)
    condition = {"org_id": org_id, "customer_id": {"$in": list(customers)}}
    theirs = await database[contacts.NAME].distinct("emails_sha256", condition)
    return person_of(customers, emails, await _customers_by_email(database, org_id, theirs))


async def _customers_by_email(
    database: Database, org_id: OrgId, emails: Iterable[str]
) -> dict[str, set[CustomerId]]:
    """Each of these hashed e-mail addresses with the customers who were identified by it."""
    customers: dict[str, set[CustomerId]] = {email: set() for email in emails}
    condition = {"org_id": org_id, "emails_sha256": {"$in": list(customers)}}
    async for identity in database[contacts.NAME].find(condition, {"customer_id": 1, "emails_sha256": 1}):
        for email in customers.keys() & set(identity["emails_sha256"]):
            customers[email].add(identity["customer_id"])
    return customers


async def _used_devices(database: Database, org_id: OrgId, person: Person) -> list[DeviceId]:
    theirs = identities.naming(org_id, person.customers)
    used = {document["device_id"] async for document in database[devices.NAME].find(theirs, {"device_id": 1})}
    sent: list[Document] = [
        {"$match": {"org_id": org_id, "email_sha256": {"$in": list(person.emails)}, "customer_id": None}},
        {"$group": {"_id": "$device_id", "at": {"$min": "$at"}}},
    ]
    async for lead in database[leads.NAME].aggregate(sent):
        customers = await _customers(database, org_id, lead["_id"]) if lead["_id"] else ()
        if lead["_id"] and not _is_identified(customers, lead["at"]):
            used.add(lead["_id"])
    return sorted(used)


async def _customers(database: Database, org_id: OrgId, device_id: DeviceId) -> list[DeviceUser]:
    """The customers that a device was identified as, each from its first time on."""
    device = await devices.find_device(database, org_id, device_id)
    standing = device.standing if device else ()
    return [DeviceUser(identity.at, customer_id=identity.customer_id) for identity in standing]


def _is_identified(customers: Iterable[DeviceUser], at: datetime) -> bool:
    """Whether the device was identified by this time. Then leads without a customer are its customer's."""
    return any(customer.at <= at for customer in customers)


async def _users(database: Database, org_id: OrgId, device_id: DeviceId) -> list[DeviceUser]:
    """The users of a device, in order of time."""
    customers = await _customers(database, org_id, device_id)
    sent: Document = {"org_id": org_id, "device_id": device_id}
    sent |= {"customer_id": None, "email_sha256": {"$ne": None}}
    senders = [
        DeviceUser(lead["at"], email_sha256=lead["email_sha256"])
        async for lead in database[leads.NAME].find(sent, {"at": 1, "email_sha256": 1})
        if not _is_identified(customers, lead["at"])
    ]
    return users_of_device(customers, senders, await _customers_by_email(database, org_id, _emails(senders)))


def _emails(users: Iterable[DeviceUser]) -> list[str]:
    return sorted({user.email_sha256 for user in users if user.email_sha256})
