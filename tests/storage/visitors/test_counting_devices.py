"""Which devices of a customer are read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History, counting
from backend.domain.visitors.attribution import Device
from backend.storage.driver.blocking import BlockingDatabase, in_thread
from backend.storage.driver.mongo import Database
from backend.storage.visitors import devices
from backend.storage.visitors.identities import counting_devices
from tests.facts.organizations import create_test_organization

START = datetime(2026, 1, 1, tzinfo=UTC)
GUEST = CustomerId("guest")


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


def guest(org_id: OrgId, number: int, made: Random, *, is_server: bool) -> Device:
    """A device of the customer, and perhaps of another one before."""
    own = Device(org_id, DeviceId(f"{number:03}"), START, at(made.randrange(40)))
    if made.random() < 0.3:
        own = own.identified(CustomerId("ada"), at(1), at(1))
    return own.identified(GUEST, at(made.randrange(90)), at(100 + made.randrange(60)), is_server=is_server)


async def test_the_devices_that_count_are_read(database: Database) -> None:
    """Those that credit uses; where there are few, all of them, and none that was taken back."""
    for count, share_of_servers in ((3, 0.5), (100, 0.0), (101, 0.0), (230, 0.5)):
        org_id, made = (await create_test_organization(database)).id, Random(count)
        guests = [
            guest(org_id, number, made, is_server=made.random() < share_of_servers) for number in range(count)
        ]
        wrong = guest(org_id, 999, made, is_server=True).taken_back(GUEST, at(200))
        documents = [devices.document(device) for device in (*guests, wrong)]
        await database[devices.NAME].insert_many(documents)

        def read(blocking: BlockingDatabase, own: OrgId = org_id) -> set[DeviceId]:
            return set(counting_devices(blocking, None, own, GUEST))

        assert await in_thread(database, read) == expected([*guests, wrong])


def expected(own: list[Device]) -> set[DeviceId]:
    """The devices whose visits credit counts for the customer."""
    histories = [History.of_device(device, CreditRules()) for device in own]
    theirs = [history for history in histories if GUEST in history.customer_ids]
    return {history.device_id for history in counting(GUEST, theirs)}
