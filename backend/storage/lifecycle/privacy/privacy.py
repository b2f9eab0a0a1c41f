"""Exports and erases everything that is stored about one person."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import timedelta

from backend.domain.ids import OrgId
from backend.domain.sales.belongings import copy_of_device, part_of
from backend.domain.visitors.persons import Person, Subject
from backend.storage.apps.installs import find_installs_of
from backend.storage.audit.facts import record
from backend.storage.driver.mongo import Database, Document
from backend.storage.driver.page_size import PageSize
from backend.storage.feed.loaders.records import COLLECTIONS
from backend.storage.lifecycle.collections import personal_collections
from backend.storage.lifecycle.privacy.belongings import (
    MOST_IN_PIECE,
    Piece,
    elsewhere,
    pieces,
)
from backend.storage.lifecycle.privacy.erasing import SHARED_DEVICES, erase_piece
from backend.storage.lifecycle.privacy.personal_records import FoundRecord, Naming, PersonalRecords
from backend.storage.processes.items import Items, Pieces
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work
from backend.storage.visitors import contacts, devices
from backend.storage.visitors.erasures import Erasure, erasure_items, target_of

# What is told while an erasure goes on is found by another round. Whoever goes on telling has to ask again.
_MOST_ROUNDS = 5
_INTERVAL = timedelta(minutes=1)
# How long it is gone on with large ones before it is looked whether others were interrupted.
_MOST_SECONDS = 300.0


async def export_subject(
    database: Database, org_id: OrgId, subject: Subject
) -> AsyncIterator[tuple[str, Document]]:
    """Every document about the subject, with its collection's name.

    Of a shared device, only the subject's part is exported. Customers that a person's device was wrongly said
    to be are left out, since they are other persons. The audit log has the export.
    """
    await record(database, [org_id], "customer.exported", target_of(org_id, subject))
    exported: set[str] = set()  # a lead may be a customer's, and name the same person's address
    async for piece in pieces(database, org_id, subject):
        async for found in _records(database, org_id, piece):
            if found.record.call_id not in exported:
                exported.add(found.record.call_id)
                yield COLLECTIONS[found.record.kind], found.document
        for device in piece.devices:
            part = part_of(piece.person, device)
            if part.times:
                yield devices.NAME, devices.document(copy_of_device(piece.person, device, part))
        for contact in piece.contacts:
            yield contacts.NAME, contact
        async for name, document in _elsewhere(database, org_id, piece):
            yield name, document


async def _records(database: Database, org_id: OrgId, piece: Piece) -> AsyncIterator[FoundRecord]:
    """Leads, sales and events of a piece that are the person's."""
    person = piece.person
    of_devices = Naming("device_id", [device.id for device in piece.devices], sorted(person.emails))
    for naming in (of_devices, piece.records):
        if naming and naming.ids:
            records = PersonalRecords(database, org_id, person, naming, PageSize(MOST_IN_PIECE))
            async for found in records.list_theirs():
                yield found


async def _elsewhere(database: Database, org_id: OrgId, piece: Piece) -> AsyncIterator[tuple[str, Document]]:
    """Documents of all other kinds about the person."""
    installed = [*piece.installs, *await find_installs_of(database, org_id, piece.whole_devices)]
    person = piece.person if piece.is_elsewhere else Person()
    for name, condition in elsewhere(org_id, person, installed):
        async for document in database[name].find(condition).sort("_id", 1):
            yield name, document


async def erase_subject(
    database: Database, org_id: OrgId, subject: Subject, *, most: int = MOST_IN_PIECE
) -> dict[str, int]:
    """Delete everything about the subject. Returns the number of deleted documents by collection.

    A device that others also use is kept without the subject's data, and counted as SHARED_DEVICES. Marks
    that prevent a call or transaction from counting twice are kept: without them, erased data could come
    back. It is done in pieces of at most `most` documents, and in pages where a transaction with a whole
    piece is too much for MongoDB. If it is interrupted, a running service goes on
    with it, and so does the same call.
    """
    deleted = Counter[str]()
    async for of_piece in _erased(database, org_id, subject, most):
        deleted += of_piece
    names = [collection.name for collection, personal in personal_collections() if personal.has_owners]
    return {name: deleted[name] for name in (*names, SHARED_DEVICES)}


async def _erased(
    database: Database, org_id: OrgId, subject: Subject, most: int
) -> AsyncGenerator[Counter[str], None]:
    """As `erase_subject`; after each piece, how many documents it deleted."""
    erasure, pages = Erasure(database, org_id, subject), PageSize(most)
    for _ in range(_MOST_ROUNDS):
        was_there = False
        async for piece in pieces(database, org_id, subject, most):
            of_piece, is_there = await erase_piece(database, org_id, piece, erasure.tell, pages)
            was_there |= is_there
            yield of_piece
        if not was_there:
            break
    await erasure.end()


def finishing_erasures(database: Database) -> PeriodicTask:
    """Goes on in the background with erasures that were interrupted."""

    async def work() -> None:
        await finish_erasures(database)

    return PeriodicTask(Work.ERASURES, work, _INTERVAL)


async def finish_erasures(database: Database) -> None:
    """Go on with all erasures with which nobody has gone on for a while."""

    def finish(begun: tuple[OrgId, Subject]) -> Pieces:
        return _erased(database, *begun, MOST_IN_PIECE)

    await Items(database, Work.ERASURES).in_turns(
        await erasure_items(database), finish, seconds=_MOST_SECONDS
    )
