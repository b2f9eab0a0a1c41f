"""MongoDB fails over under load: its primary is killed while browsers send."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path
from typing import Any

import httpx

from backend.app import create_app
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from tests.facts.organizations import create_test_organization
from tests.facts.sdk_batches import Visitor, call, check, conversion
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for_async
from tests.processes.replica_set import replica_set

VISITORS = 8
# Batches that each visitor delivers before and after the primary is killed.
BATCHES = 6
PATIENCE = 90.0


async def deliver(visitor: Visitor, calls: list[dict[str, Any]]) -> list[str]:
    """Send a batch again, with the same ids, until it is acknowledged, as the SDK's outbox does."""

    async def send() -> httpx.Response:
        response = await visitor.post(*calls)
        assert response.status_code in {200, 503}, response.text
        return response

    response = await wait_for_async(
        send, "a batch was not acknowledged", lambda answer: answer.status_code == 200, seconds=PATIENCE
    )
    return [result["status"] for result in response.json()["results"]]


async def send_batches(visitor: Visitor, number: int) -> list[dict[str, Any]]:
    """Deliver many batches; gives every call, all of them acknowledged."""
    sent = []
    for _ in range(number):
        calls = [
            check(gclid=uuid.uuid4().hex),
            call("event", name="e"),
            conversion(transaction_id=str(uuid.uuid4()), customer_id="ada"),
        ]
        assert set(await deliver(visitor, calls)) <= {"accepted", "duplicate"}
        sent += calls
    return sent


async def call_ids(database: Database, collection: str) -> list[str]:
    """The call ids that a collection holds."""
    return [
        str(document["_id"]).rpartition("/")[2]
        async for document in database[collection].find({}, {"_id": 1})
    ]


async def test_no_acknowledged_call_is_lost_or_doubled(tmp_path: Path, outcome: TellOutcome) -> None:
    """What was acknowledged before, during and after a failover is stored, exactly once."""
    with replica_set(tmp_path) as members:
        service = create_app(Settings(mongodb_uri=members.uri, data_dir=tmp_path / "data"))
        await service.startup()
        database = service.resources.database
        organization = await create_test_organization(database)
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
            visitors = [Visitor(client, organization) for _ in range(VISITORS)]
            load = [asyncio.create_task(send_batches(visitor, BATCHES * 2)) for visitor in visitors]
            await wait_for_async(
                lambda: database["events"].count_documents({}),
                "too few batches are stored",
                lambda stored: stored >= VISITORS * BATCHES // 2,
                seconds=PATIENCE,
            )
            killed = await asyncio.to_thread(members.kill_primary)
            sent = [sent_call for task in load for sent_call in await task]
        assert await asyncio.to_thread(members.wait_for_primary) != killed
        for collection, kind in (("events", "event"), ("conversions", "conversion")):
            acknowledged = sorted(sent_call["call_id"] for sent_call in sent if sent_call["kind"] == kind)
            stored = sorted(await call_ids(database, collection))
            outcome(Outcome(f"primary killed under load ({kind}s)", len(acknowledged), len(stored)))
            assert stored == acknowledged
        assert await database["counted_once"].count_documents({}) == VISITORS * BATCHES * 2
        async for device in database["devices"].find({}):
            assert len(device["touches"]) == BATCHES * 2
            assert len({click_id["value"] for click_id in device["click_ids"]}) == BATCHES * 2
        await service.shutdown()
