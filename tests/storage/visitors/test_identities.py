"""Identities that are taken back while the device is seen."""

from __future__ import annotations

import uuid
from functools import partial

from backend.domain.ids import CustomerId, DeviceId
from backend.storage.driver.mongo import Database
from backend.storage.sales.batches import store_batches
from backend.storage.visitors.devices import find_device
from backend.storage.visitors.identities import take_back
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import by_browser, call


async def test_a_device_is_seen_between_two_steps_of_taking_an_identity_back(
    organization: TestOrganization, database: Database
) -> None:
    """The device is not the customer's any more, and what it does meanwhile stays."""
    async for moment in moments(database):
        device_id = DeviceId(str(uuid.uuid4()))
        tell = partial(by_browser, organization.id, device_id)
        await store_batches(database, [tell("mail", call("identify", customer_id="ada"))])
        later = tell("news", call("identify", customer_id="bob"))
        is_taken_back, _ = await moment.interrupt(
            take_back(moment.database, organization.id, device_id, CustomerId("ada"), utc_now()),
            partial(store_batches, database, [later]),
        )
        device = await find_device(database, organization.id, device_id)
        assert is_taken_back
        assert device
        assert [identification.customer_id for identification in device.standing] == ["bob"] * moment.came
        assert len(device.touches) == 1 + moment.came
