"""Exports and erases everything that is stored about one person."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from backend.domain.audit.entries import AuditTarget
from backend.domain.feed.facts import device_fact, erased_fact
from backend.domain.ids import OrgId
from backend.domain.visitors.attribution import Device, Times
from backend.domain.visitors.persons import Person
from backend.storage.audit.facts import note_facts, record, recorded_fact
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, server_time
from backend.storage.lifecycle.collections import personal_collections
from backend.storage.lifecycle.privacy.belongings import Belongings, SharedDevice, Subject, find_belongings
from backend.storage.lifecycle.privacy.personal_changes import change_with_reread, note_reread
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.schema.collection import IN_ID, Collection, Personal
from backend.storage.visitors import contacts, devices
from backend.storage.visitors.touches import CLICK_FIELDS

# The name under which `erase_subject` counts devices that are kept for other persons.
SHARED_DEVICES = "shared_devices"


async def export_subject(
    database: Database, org_id: OrgId, subject: Subject
) -> AsyncIterator[tuple[str, Document]]:
    """Every document about the subject, with its collection's name.

    Of a shared device, only the subject's part is exported. Customers that a person's device was wrongly said
    to be are left out, since they are other persons. The audit log has the export.
    """
    await record(database, [org_id], "customer.exported", _target(org_id, subject))
    belongings = await find_belongings(database, org_id, subject)
    for collection, personal in personal_collections():
        if not personal.has_owners:
            continue
        condition = collection.scope(org_id) | _condition(org_id, personal, belongings)
        async for document in database[collection.name].find(condition).sort("_id", 1):
            if (
                subject.device_id
                or collection.name != contacts.NAME
                or _is_about(belongings.person, document)
            ):
                yield collection.name, _naming_only(belongings.person, document)
    for shared in belongings.shared:
        if device := await devices.find_device(database, org_id, shared.id):
            part = device.during(shared.times)
            yield devices.NAME, _naming_only(belongings.person, devices.document(part))


def _target(org_id: OrgId, subject: Subject) -> AuditTarget:
    """The subject, as the audit log names it: by a hash, which says nothing to whoever does not know the id.

    So the log can answer whether it was somebody, after that person's data is gone.
    """
    name, value = next((name, value) for name, value in asdict(subject).items() if value)
    digest = hashlib.sha256(f"{org_id}/{name}/{value}".encode()).hexdigest()
    return AuditTarget("customer", f"sha256:{digest[:16]}")


def _is_about(person: Person, document: Document) -> bool:
    """Whether a contact is about the person, and not what the person's device was wrongly said to be."""
    return document["customer_id"] in person.customers


def _naming_only(person: Person, document: Document) -> Document:
    """The document. If it is a device, customers other than the person are left out."""
    if "customers" not in document:
        return document
    theirs = [customer for customer in document["customers"] if customer["customer_id"] in person.customers]
    return document | {"customers": theirs}


async def erase_subject(database: Database, org_id: OrgId, subject: Subject) -> dict[str, int]:
    """Delete everything about the subject. Returns the number of deleted documents by collection.

    A device that others also use is kept without the subject's data, and counted as SHARED_DEVICES. Marks
    that prevent a call or transaction from counting twice are kept: without them, erased data could come
    back. If it is interrupted, run it again to finish.
    """
    belongings = await find_belongings(database, org_id, subject)
    # This comes first, since what is deleted below says whom readers of the feed have to erase.
    await _tell(database, org_id, subject, belongings)
    for shared in belongings.shared:
        await _leave(database, org_id, shared)
    erased = {}
    for collection, personal in personal_collections():
        if collection.name == contacts.NAME:  # the last ones: they show which devices are the person's
            for shared in belongings.shared:
                await _forget_customers(database, org_id, shared, belongings.person)
        if personal.has_owners:
            condition = collection.scope(org_id) | _condition(org_id, personal, belongings)
            erased[collection.name] = await _delete(database, org_id, collection.name, condition)
        if personal.tellings:
            await _forget_tellings(database, collection, personal, org_id, belongings)
    return erased | {SHARED_DEVICES: len(belongings.shared)}


async def _delete(database: Database, org_id: OrgId, collection: str, condition: Document) -> int:
    async def delete(session: ClientSession | None, some: Document) -> int:
        return (await database[collection].delete_many(some, session=session)).deleted_count

    return await change_with_reread(database, org_id, collection, condition, delete)


async def _leave(database: Database, org_id: OrgId, shared: SharedDevice) -> None:
    """Remove a person's touches from a shared device, and their ad click ids from other people's records.

    The device's identities stay for now, since they show which of its records are the person's.
    """

    async def work(session: ClientSession) -> None:
        device = await devices.find_device(database, org_id, shared.id, session)
        if device:
            await _forget_click_ids(database, session, device, shared.times)
            await _keep(database, session, replace(device.outside(shared.times), customers=device.customers))

    await in_transaction(database, work)


async def _forget_tellings(
    database: Database, collection: Collection, personal: Personal, org_id: OrgId, belongings: Belongings
) -> None:
    """Remove the person from the tellings of documents that also have tellings of other persons."""
    tellings = personal.tellings
    assert tellings
    named: dict[str, Sequence[str]] = {
        "customer_id": sorted(belongings.person.customers),
        "device_id": belongings.devices,
        "install_id": belongings.installs,
    }
    for field in personal.tell_of:
        if ids := named[field]:
            await _forget_in_tellings(database, org_id, collection.name, tellings, field, ids=ids)


async def _forget_in_tellings(
    database: Database, org_id: OrgId, collection: str, tellings: str, field: str, *, ids: Sequence[str]
) -> None:
    condition: Document = {"org_id": org_id, f"{tellings}.{field}": {"$in": ids}}

    async def forget(session: ClientSession | None, some: Document) -> int:
        empty = {"$set": {f"{tellings}.$[telling].{field}": None}}
        named = [{f"telling.{field}": {"$in": ids}}]
        stored = database[collection]
        return (await stored.update_many(some, empty, array_filters=named, session=session)).modified_count

    await change_with_reread(database, org_id, collection, condition, forget)


async def _forget_customers(database: Database, org_id: OrgId, shared: SharedDevice, person: Person) -> None:
    """Remove the person's customer ids from a shared device."""

    async def work(session: ClientSession) -> None:
        device = await devices.find_device(database, org_id, shared.id, session)
        if device:
            kept = device.outside(shared.times).without_customers(person.customers)
            await _keep(database, session, kept)

    await in_transaction(database, work)


async def _keep(database: Database, session: ClientSession, device: Device) -> None:
    await devices.set_history(database, session, device)
    await entries.note(database, session, {device.org_id: [device_fact(device.id)]}, AgesBy.VISITORS)


async def _tell(database: Database, org_id: OrgId, subject: Subject, belongings: Belongings) -> None:
    """Add a fact to the feed that says whom its readers have to erase, and one to the audit log."""
    now = await server_time(database)
    theirs: dict[str, Sequence[Any]] = {
        "devices": belongings.devices,
        "shared_devices": [
            {"device_id": shared.id, "times": [{"from": begin, "to": end} for begin, end in shared.times]}
            for shared in belongings.shared
        ],
        "installs": belongings.installs,
    }
    fact = erased_fact(belongings.person, theirs, now)

    async def work(session: ClientSession) -> None:
        await entries.note(database, session, {org_id: [fact]}, expires_at=now + entries.REMOVAL_FACTS_KEPT)
        audited = recorded_fact("customer.erased", _target(org_id, subject))
        await note_facts(database, session, {org_id: [audited]})

    await in_transaction(database, work)


async def _forget_click_ids(database: Database, session: ClientSession, device: Device, times: Times) -> None:
    """Remove the click ids of these periods, those of ads and our own, from the device's records.

    A record keeps its source otherwise. These click ids are from visits of another person.
    """
    for collection, personal in personal_collections():
        if not personal.device:
            continue
        of_device = collection.scope(device.org_id) | _names(device.org_id, personal.device, [device.id])
        for touch in personal.touches:
            for begin, end in times:
                at = {"$gte": begin} if begin else {}
                condition = of_device | {f"{touch}.at": at | ({"$lt": end} if end else {"$ne": None})}
                change: Document = {
                    "$set": {f"{touch}.click_ids": {}},
                    "$unset": {f"{touch}.{name}": 1 for name in CLICK_FIELDS},
                }
                ids = await note_reread(database, session, device.org_id, collection.name, condition)
                await database[collection.name].update_many({"_id": {"$in": ids}}, change, session=session)


def _condition(org_id: OrgId, personal: Personal, belongings: Belongings) -> Document:
    """The query for the subject's documents in a collection with this kind of personal data."""
    person = belongings.person
    of_nobody = [
        _told_of_nobody(org_id, personal.device, personal.customer, personal.email_sha256, shared)
        for shared in belongings.shared
        if shared.times and personal.device and personal.customer
    ]
    return {
        "$or": [
            _names(org_id, personal.customer, sorted(person.customers)),
            _names(org_id, personal.device, belongings.devices),
            _names(org_id, personal.email_sha256, sorted(person.emails)),
            _names(org_id, personal.install, belongings.installs),
            *of_nobody,
        ]
    }


def _told_of_nobody(
    org_id: OrgId, device: str, customer: str, email_sha256: str | None, shared: SharedDevice
) -> Document:
    """The query for records without a customer that a shared device made while it was the person's.

    Records with someone else's e-mail address are left out.
    """
    others = {email_sha256: {"$nin": shared.others}} if email_sha256 else {}
    times: Document = {"$or": [_during(*period) for period in shared.times]}
    return _names(org_id, device, [shared.id]) | {customer: None} | others | times


def _during(begin: datetime | None, end: datetime | None) -> Document:
    at = ({"$gte": begin} if begin else {}) | ({"$lt": end} if end else {})
    return {"at": at} if at else {}


def _names(org_id: OrgId, field: str | None, ids: Sequence[str]) -> Document:
    """A query for documents with one of these ids in the field. It finds nothing if `field` is None."""
    if field == IN_ID or field is None:
        ids = [f"{org_id}/{own_id}" for own_id in ids if field]
    return {field or IN_ID: {"$in": ids}}
