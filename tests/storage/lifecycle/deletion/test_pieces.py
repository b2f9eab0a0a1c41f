"""An erasure of more than fits into one piece, which goes on after a kill."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import monitoring

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.connection import uri_of
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.privacy.privacy import erase_subject, finish_erasures
from backend.storage.processes.failing_items import list_failing, note_failure
from backend.storage.processes.work import Work
from backend.storage.sales.batches import store_batches
from backend.storage.schema.work_item import WorkItem
from backend.storage.visitors import erasures
from backend.system.clock import utc_now
from tests.between_commands import Moment, moments
from tests.facts.feeds import is_erasure
from tests.facts.sdk_batches import by_browser, call, conversion
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async
from tests.storage.lifecycle.deletion.test_erasure import everything

GUEST = Subject(customer_id=CustomerId("customer-guest"))
NAMED = ("devices", "contacts", "events", "conversions", "leads")


async def tell_guests(database: Database, org_id: OrgId, count: int) -> None:
    """So many devices of one customer, each with something nameless, and a sale."""
    batches = []
    for _ in range(count):
        identify = call("identify", customer_id=GUEST.customer_id, email_sha256="a" * 64)
        calls = (identify, call("event", name="e"), conversion(revenue=5))
        batches.append(by_browser(org_id, DeviceId(str(uuid.uuid4())), "mail", *calls))
    await store_batches(database, batches)


async def counts(database: Database, org_id: OrgId) -> Sequence[int]:
    """How many documents there are of each kind that names persons."""
    return [await database[name].count_documents({"org_id": org_id}) for name in NAMED]


async def test_a_customer_of_many_devices_goes_in_pieces(database: Database) -> None:
    """No transaction and no fact has more than a piece, the log has it once, and nothing is left of it."""
    org_id = OrgId(str(uuid.uuid4()))
    await tell_guests(database, org_id, 25)
    erased = await erase_subject(database, org_id, GUEST, most=4)
    assert (erased["devices"], erased["contacts"], erased["events"], erased["conversions"]) == (25,) * 4
    assert await counts(database, org_id) == [0] * len(NAMED)
    entries = await database["feed_entries"].find({"org_id": org_id}).to_list()
    facts = [fact for entry in entries for fact in entry["facts"]]
    told = [fact["devices"] for fact in facts if fact["type"] == "erased"]
    assert sum(map(len, told)) == 25
    assert max(map(len, told)) == 4
    assert sum(fact.get("action") == "customer.erased" for fact in facts) == 1
    left = [entry for entry in entries if not is_erasure(entry)]
    assert str(GUEST.customer_id) not in str(left)


async def test_what_was_told_of_others_on_a_device_goes_in_pages(database: Database) -> None:
    """A till whose buyers' names were told without it being theirs: no transaction deletes more of them than
    a page has, and the device goes last."""
    org_id = OrgId(str(uuid.uuid4()))
    await tell_guests(database, org_id, 2)
    [device_id, _] = [device["device_id"] async for device in database["devices"].find({"org_id": org_id})]
    contacts = [
        {
            "_id": f"{org_id}/{device_id}/buyer-{number}",
            "org_id": org_id,
            "device_id": device_id,
            "customer_id": f"buyer-{number}",
            "last_at": utc_now(),
        }
        for number in range(22)
    ]
    await database["contacts"].insert_many(contacts)
    async with watched(database) as (seen, deleted):
        erased = await erase_subject(seen, org_id, GUEST, most=4)
    assert (erased["contacts"], erased["devices"]) == (24, 2)
    assert max(number for _, number in deleted) <= 4
    of_devices = [place for place, (name, _) in enumerate(deleted) if name == "devices"]
    assert of_devices[0] > sum(name == "contacts" for name, _ in deleted[: of_devices[0]]) > 4
    assert await counts(database, org_id) == [0] * len(NAMED)


async def test_an_erasure_that_failed_in_the_background_is_asked_for_again(database: Database) -> None:
    """Once it is at its end, nothing is said to fail any more."""
    org_id = OrgId(str(uuid.uuid4()))
    await tell_guests(database, org_id, 1)
    item = WorkItem(erasures.target_of(org_id, GUEST).id or "", org_id, lambda: GUEST)
    await note_failure(database, Work.ERASURES, item, "ExecutionTimeout")
    await erase_subject(database, org_id, GUEST)
    assert await list_failing(database, org_id) == []


async def test_erasures_of_many_persons_delay_no_other_organization_s(database: Database) -> None:
    """Those that were interrupted are gone on with in turns of the organizations."""
    many, few = (OrgId(f"{number}-{uuid.uuid4()}") for number in range(2))
    async with fresh_database(database) as own:
        for place, org_id in enumerate([many] * 5 + [few] * 2):
            begun = {"org_id": org_id, "subject": {"customer_id": f"c{place}"}}
            worked_at = utc_now() - timedelta(hours=1, seconds=-place)
            await own[erasures.NAME].insert_one({"_id": f"{org_id}/{place}", "worked_at": worked_at, **begun})
        items = await erasures.erasure_items(own)
    in_order = [str(item.read()[1].customer_id) for item in items]
    assert in_order == ["c0", "c5", "c1", "c6", "c2", "c3", "c4"]


async def test_an_erasure_goes_on_after_a_kill_at_any_moment(database: Database) -> None:
    """What was begun is ended by a running service, and what was not has changed nothing."""
    async for moment in moments(database):
        if moment.number % 11:  # each takes a while
            continue
        org_id = OrgId(str(uuid.uuid4()))
        await tell_guests(database, org_id, 3)
        before = await counts(database, org_id)
        await erase_until(moment, org_id)
        if await database[erasures.NAME].count_documents({"org_id": org_id}):
            await wait_for_async(partial(finish, database, org_id), "it does not end", lambda left: not left)
        elif moment.came and await counts(database, org_id) == before:
            continue
        assert await counts(database, org_id) == [0] * len(NAMED)
        left = {
            name: [found for found in some if not is_erasure(found)]
            for name, some in (await everything(database, org_id)).items()
        }
        assert str(GUEST.customer_id) not in str(left)


class _Deletes(monitoring.CommandListener):
    """Notes of which collection each command deletes, and how many documents."""

    def __init__(self) -> None:
        self.deleted: list[tuple[str, int]] = []
        self._begun: dict[int, str] = {}

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Note of which collection."""
        if event.command_name == "delete":
            self._begun[event.request_id] = event.command["delete"]

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Note how many."""
        if name := self._begun.pop(event.request_id, None):
            self.deleted.append((name, event.reply["n"]))

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Nothing was deleted."""


@asynccontextmanager
async def watched(database: Database) -> AsyncIterator[tuple[Database, list[tuple[str, int]]]]:
    """The database by a connection of its own, and what its commands delete."""
    deletes = _Deletes()
    client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
        uri_of(database), tz_aware=True, event_listeners=[deletes]
    )
    options = {name: getattr(database, name) for name in ("codec_options", "read_concern", "write_concern")}
    try:
        yield client.get_database(database.name, **options), deletes.deleted
    finally:
        client.close()


async def finish(database: Database, org_id: OrgId) -> int:
    """Go on with what was begun, as after a minute; gives how much of it is left.

    A transaction that was under way may end only now: there is no process here that ends it.
    """
    begun = {"org_id": org_id}
    idle = {"$set": {"worked_at": utc_now() - timedelta(minutes=2)}}
    await database[erasures.NAME].update_many(begun, idle)
    await finish_erasures(database)
    return int(await database[erasures.NAME].count_documents(begun))


async def erase_until(moment: Moment, org_id: OrgId) -> None:
    """Erase the guests until this moment, in which the process ends."""
    erasing = asyncio.create_task(erase_subject(moment.database, org_id, GUEST, most=2))

    async def kill() -> None:
        erasing.cancel()

    with contextlib.suppress(asyncio.CancelledError):
        await moment.interrupt(erasing, kill)
