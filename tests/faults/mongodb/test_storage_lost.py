"""MongoDB goes away while the service runs."""

from __future__ import annotations

from pathlib import Path

import httpx

from backend.app import create_app
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.embedded.mongodb import EmbeddedMongoDB
from tests.facts.organizations import create_test_organization
from tests.facts.sdk_batches import Visitor, conversion
from tests.faults.outcomes import Outcome, TellOutcome


async def test_without_storage_nothing_is_acknowledged(tmp_path: Path, outcome: TellOutcome) -> None:
    """The process is alive and not ready, and a batch gets 503 with a pause: the SDK keeps its calls."""
    async with EmbeddedMongoDB(tmp_path / "mongodb") as server:
        service = create_app(Settings(mongodb_uri=server.uri, data_dir=tmp_path))
        await service.startup()
        organization = await create_test_organization(service.resources.database)
        transport = httpx.ASGITransport(app=service)
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost:8080")
        visitor = Visitor(client, organization)
        assert (await visitor.result(conversion()))["status"] == "accepted"
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.get("/readyz")).status_code == 503
    refused = await visitor.post(conversion())
    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.json()["code"] == 503
    assert refused.headers["Access-Control-Allow-Origin"] == organization.origin
    await client.aclose()
    await service.shutdown()
    async with open_database(Settings(data_dir=tmp_path)) as database:
        stored = await database["conversions"].count_documents({})
    outcome(Outcome("MongoDB stopped (sales)", 1, stored))
    assert stored == 1
