"""The service delivers to the examples: what happens arrives, in order and once."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.event_json import event_json
from backend.domain.ids import LinkId, OrgId
from backend.settings import load_settings
from backend.storage.database import open_database
from backend.storage.feed.reading import read_feed
from backend.storage.webhooks.endpoints import create_endpoint
from tests.clicks import click, ship
from tests.polling import until
from tests.service_process import ServiceProcess
from tests.webhook_receiver.example_receivers import example_receiver

CLICKS = 30
LINK = LinkId(str(uuid.uuid4()))


@pytest.mark.parametrize(("name", "batch_size"), [("python", 1), ("node", 100)])
async def test_what_happens_arrives(
    name: str, batch_size: int, running: ServiceProcess, tmp_path: Path
) -> None:
    """Real events, one a request or a batch, are stored as the feed has them; one that was killed gets all."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    receiver = example_receiver(name, tmp_path)
    settings = load_settings(running.environment, Path("none"))
    async with open_database(settings) as database:
        given = {"url": receiver.url, "batch_size": batch_size}
        endpoint = await create_endpoint(database, org_id, given, datetime.now(UTC))

        async def happen() -> None:
            made = [click(org_id, LINK, datetime.now(UTC)) for _ in range(CLICKS)]
            await ship(database, made)

        with receiver.running(endpoint.secret) as process:
            await happen()
            await until(lambda: len(receiver.events) == CLICKS, "events do not arrive")
            process.kill()
        await happen()
        with receiver.running(endpoint.secret):
            await until(lambda: len(receiver.events) == 2 * CLICKS, "events do not arrive", seconds=60)
        feed = await read_feed(database, org_id, START, url_form=settings.short_url_form)
    assert receiver.events == [event_json(event) for event in feed.events]
