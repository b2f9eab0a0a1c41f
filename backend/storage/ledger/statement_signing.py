"""Signs in the background what the ledger had at the end of each day.

A statement is about places of the organization's feed: all places after those of the last statement, up to
the first entry that was stored on the next day. Entries get their places one after the other and keep them.
So what is signed can't change, and nothing is left out: an entry that gets its place later is in the next
statement. Days without entries have no statement.

Any number of processes may sign: a statement is stored once for a day, and a lease saves work.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.feed.facts import BLOCKS
from backend.domain.ids import OrgId
from backend.domain.ledger.books import SignedStatement
from backend.domain.ledger.receipts import Receipt
from backend.domain.ledger.statements import Statement, Sums
from backend.storage.accounts.organizations import find_organizations
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.mongo import Database, Document, server_time
from backend.storage.ledger.ed25519 import public_key, sign
from backend.storage.ledger.statements import add_statement, last_statement
from backend.storage.outbox import entries, heads
from backend.storage.outbox.marks import cursor_at
from backend.storage.processes.items import Items
from backend.storage.processes.leases import end_lease, take_lease
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import item_of_organization

LEASE = "ledger"
KEY = "ledger"
_LEASE_DURATION = timedelta(minutes=10)
# Between two checks whether a day is over.
_POLL_INTERVAL = timedelta(minutes=1)
# How long after its end a day is signed. Nearly all of its entries have places by then, and the others are in
# the next statement.
_SETTLED_AFTER = timedelta(minutes=2)
_ENTRIES_PER_BATCH = 1_000


class _Signer:
    """Signs days that are over, in one process of all at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._id = uuid.uuid4().hex
        self._signed_before: date | None = None

    async def sign_what_is_due(self) -> None:
        today = (await server_time(self._database) - _SETTLED_AFTER).astimezone(UTC).date()
        failing = await Items(self._database, Work.LEDGER).failing()
        if today == self._signed_before and all(failing.values()):  # none of these is to be tried again now
            return
        if await take_lease(self._database, LEASE, self._id, _LEASE_DURATION):
            await sign_all(self._database, today)
            self._signed_before = today
            await end_lease(self._database, LEASE, self._id)


def statement_signing(database: Database) -> PeriodicTask:
    """Signs days in the background. Days that one process leaves unsigned are signed by another one later."""
    return PeriodicTask(Work.LEDGER, _Signer(database).sign_what_is_due, _POLL_INTERVAL)


async def sign_all(database: Database, today: date) -> int:
    """Sign all days before `today` that are not signed, of all organizations. Returns how many were."""
    signed = 0

    async def sign_days_of(org_id: OrgId) -> AsyncGenerator[None, None]:
        nonlocal signed
        async for is_new in _signed(database, org_id, today):
            signed += is_new
            yield

    org_ids = [OrgId(head["_id"]) async for head in database[heads.NAME].find({}, {"_id": 1}).sort("_id", 1)]
    with_feeds = [item_of_organization(org_id) for org_id in org_ids]
    await Items(database, Work.LEDGER).in_turns(with_feeds, sign_days_of)
    return signed


async def sign_days(database: Database, org_id: OrgId, today: date) -> int:
    """Sign the organization's days before `today` that are not signed. Returns how many were.

    Raises ValueError for an entry without valid receipts.
    """
    return sum([is_new async for is_new in _signed(database, org_id, today)])


async def _signed(database: Database, org_id: OrgId, today: date) -> AsyncGenerator[bool, None]:
    """As `sign_days`; after each day, whether it was signed here."""
    secret = await signing_key(database, KEY)
    # One that is being restored or deleted does not exist. That may begin while others have their turns.
    while await find_organizations(database, [org_id]):
        statement = await _next_statement(database, org_id, today, public_key(secret))
        if statement is None:
            return
        signature = sign(secret, statement.text)
        yield await add_statement(database, SignedStatement(statement, signature))


async def _next_statement(database: Database, org_id: OrgId, today: date, key: str) -> Statement | None:
    """The statement that is due next; None if there is none."""
    before = await last_statement(database, org_id)
    first = before.last_place + 1 if before else 1
    entry = await _first_entry(database, org_id, first)
    if entry is None:
        return None
    day = entry["stamp"].as_datetime().date()
    if before:  # a late entry of a day that is signed
        day = max(day, date.fromisoformat(before.day) + timedelta(days=1))
    if day >= today:
        return None
    end = datetime.combine(day + timedelta(days=1), time(), UTC)
    last = max((await cursor_at(database, org_id, end)).place - 1, entry["place"])
    sums = Sums(org_id)
    async for receipts in _receipts(database, org_id, first, last):
        await LONG_WORK.run(org_id, partial(_add, sums, receipts))
    return Statement.of(
        {
            "org_id": org_id,
            "day": day.isoformat(),
            "first_place": first,
            "last_place": last,
            **sums.fields(),
            "previous": before.digest if before else None,
            "key": key,
        }
    )


async def unsigned_since(database: Database, org_id: OrgId) -> datetime | None:
    """When the first entry was stored that is in no statement; None if all entries are in one."""
    before = await last_statement(database, org_id)
    entry = await _first_entry(database, org_id, before.last_place + 1 if before else 1)
    return entry["stamp"].as_datetime() if entry else None


async def _first_entry(database: Database, org_id: OrgId, first: int) -> Document | None:
    """The first entry from this place of the feed on, without its facts."""
    place: Document = {"org_id": org_id, "place": {"$gte": first}}
    return await database[entries.NAME].find_one(place, {"stamp": 1, "place": 1}, sort=[("place", 1)])


def _add(sums: Sums, receipts: Sequence[Receipt]) -> None:
    for receipt in receipts:
        sums.add(receipt)


async def _receipts(
    database: Database, org_id: OrgId, first: int, last: int
) -> AsyncIterator[Sequence[Receipt]]:
    """The receipts in these places of the feed, in their order and in groups."""
    condition: Document = {"org_id": org_id, "place": {"$gte": first, "$lte": last}}
    cursor = database[entries.NAME].find(condition, {"facts": 1}).sort("place", 1)
    while group := await cursor.to_list(_ENTRIES_PER_BATCH):
        yield [receipt for entry in group for receipt in receipts_of(entry)]


def receipts_of(entry: Document) -> list[Receipt]:
    """The receipts in an entry of the feed, in their order. Raises ValueError for an invalid one."""
    return [Receipt.of(fact) for fact in entry["facts"] if fact["type"] in BLOCKS]
