"""Calls that two requests tell at once."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from backend.domain.ids import CallId, DeviceId, OrgId
from backend.domain.sales.decisions import Status
from backend.domain.visitors.batches import Batch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import Teller, parse_server_call
from backend.storage.driver.mongo import Database
from backend.storage.sales.batches import store_batches
from backend.storage.visitors.devices import find_device
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Call, by_browser, call, conversion

PAID: Call = {"revenue": Decimal(5), "currency": "EUR"}
BROWSERS_CALLS = ("visit", "event", "lead", "sale")


def by_server(org_id: OrgId, item: dict[str, Any]) -> Batch:
    """A sale that a server tells."""
    teller = Teller(org_id, None, datetime.now(UTC))
    return parse_server_call(Kind.CONVERSION, item, teller, CallId(str(uuid.uuid4())))


async def campaigns_of(database: Database, org_id: OrgId, device_id: DeviceId) -> list[str]:
    """Where the device's visits came from."""
    device = await find_device(database, org_id, device_id)
    return [touch.utm["utm_source"] for touch in device.touches] if device else []


async def test_a_visit_is_stored_between_two_steps_of_another(
    organization: TestOrganization, database: Database
) -> None:
    """The device has both, also if it was not known before."""
    async for moment in moments(database):
        device_id = DeviceId(str(uuid.uuid4()))
        tell = partial(by_browser, organization.id, device_id)
        _, others = await moment.interrupt(
            store_batches(moment.database, [tell("mail")]), partial(store_batches, database, [tell("news")])
        )
        campaigns = await campaigns_of(database, organization.id, device_id)
        assert sorted(campaigns) == ["mail", *["news"] * bool(others)]


@pytest.mark.parametrize("tells_known", [False, True])
async def test_other_requests_are_stored_between_two_steps_of_one(
    organization: TestOrganization, database: Database, tells_known: bool
) -> None:
    """What several tell counts once, with what each knows; also where one tells a sale that was known."""
    async for moment in moments(database):
        device_id = DeviceId(str(uuid.uuid4()))
        tell = partial(by_browser, organization.id, device_id)
        known, sale = (PAID | {"transaction_id": f"{name}-{moment.number}"} for name in ("known", "order"))
        lead = partial(call, "lead", customer_id="ada", event_id=f"lead-{moment.number}")
        event = call("event", name="viewed")  # delivered twice
        first, second = ([event, lead(), conversion(**sale)] for _ in range(2))
        await store_batches(database, [tell("before", conversion(**known))])
        again = [conversion(**known)] * tells_known
        server = by_server(organization.id, sale | {"customer_id": "ada"})
        (results,), others = await moment.interrupt(
            store_batches(moment.database, [tell("mail", *first, *again)]),
            partial(store_batches, database, [server, tell("news", *second)]),
        )
        told = [*zip(BROWSERS_CALLS, results, strict=False)]
        if others:
            told += [("sale", others[0][0]), *zip(BROWSERS_CALLS, others[1], strict=True)]
        accepted = Counter(name for name, result in told if result.status is Status.ACCEPTED)
        assert accepted == {"visit": 1 + bool(others), "event": 1, "lead": 1, "sale": 1}
        of_device = {"org_id": organization.id, "device_id": device_id}
        assert await database["events"].count_documents(of_device) == 1
        assert await database["leads"].count_documents(of_device) == 1
        customers = {
            document["transaction_id"]: document["customer_id"]
            async for document in database["conversions"].find(of_device)
        }
        assert customers == {
            known["transaction_id"]: None,
            sale["transaction_id"]: "ada" if others else None,
        }
        campaigns = await campaigns_of(database, organization.id, device_id)
        assert sorted(campaigns) == ["before", "mail", *["news"] * bool(others)]
