"""Sales and refunds that are told many times at once, over two processes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from tests.api.sales.test_refunds import REFUND, REFUNDS, refunded
from tests.api.told_sales import API, SALE, stored, tell
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion
from tests.processes.service_process import service_process


@pytest.fixture(scope="module")
def address(
    mongodb_uri: str, settings: Settings, service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Where two processes answer, which work on the database of the service under test."""
    with service_process(
        Path(tmp_path_factory.mktemp("data")),
        WAYLINK_MONGODB_URI=mongodb_uri,
        WAYLINK_MONGODB_DATABASE=settings.mongodb_database,
        WAYLINK_WORKERS="2",
        WAYLINK_RATE_LIMIT="10000",
    ) as running:
        yield running.base_url


@pytest.fixture
async def crowd(address: str, database: Database) -> AsyncIterator[httpx.AsyncClient]:
    """A client with sixty connections, which reach both processes."""
    limits = httpx.Limits(max_connections=60)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        yield client


async def test_a_storm_of_duplicates_counts_once(
    crowd: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """60 tellings of an order at once, half by its browser and half by a server: one sale, accepted once,
    with what each of them knew."""
    visitor = Visitor(crowd, organization)
    await visitor.result(check(ago=timedelta(minutes=1), utm_source="mail"))

    async def by_server() -> dict[str, Any]:
        (result,) = await tell(crowd, organization, "conversions", SALE | {"customer_id": "ada"})
        return result

    tellings = [visitor.result(conversion(**SALE)) if number % 2 else by_server() for number in range(60)]
    told = await asyncio.gather(*tellings)
    assert Counter(result["status"] for result in told) == {"accepted": 1, "duplicate": 59}
    (sale,) = await stored(database, organization, "conversions")
    assert (sale["device_id"], sale["customer_id"]) == (visitor.device_id, "ada")
    assert sale["touch"]["utm"] == {"utm_source": "mail"}


async def test_parallel_refunds_never_go_beyond_what_was_paid(
    crowd: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """30 refunds of 1.50 of a sale of 31 at once, each told twice: 20 count, once, and 10 are refused."""
    await tell(crowd, organization, "conversions", SALE | {"customer_id": "ada", "revenue": 31})

    async def refund(number: int) -> str:
        item = REFUND | {"refund_id": f"r{number}", "amount": 1.5}
        answer = await crowd.post(f"{API}/{REFUNDS}", json=item, headers=organization.headers)
        return "rejected" if answer.status_code == 400 else str(answer.json()["results"][0]["status"])

    told = Counter(await asyncio.gather(*(refund(number % 30) for number in range(60))))
    assert told == {"accepted": 20, "duplicate": 20, "rejected": 20}
    (sale,) = await stored(database, organization, "conversions")
    assert refunded(sale) == 30
    assert len({stored_refund["refund_id"] for stored_refund in sale["refunds"]}) == 20
