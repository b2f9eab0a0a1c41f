"""The service delivers to the examples: what happens arrives, in order and once."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.feed.cursor import START
from backend.domain.feed.event_json import event_json
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import read_feed
from backend.storage.webhooks.endpoints import create_endpoint
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.polling import until
from tests.webhook_receiver.example_receivers import ExampleReceiver, example_receiver

CLICKS = 20
LINK = LinkId(str(uuid.uuid4()))


async def _arrives(
    receivers: Collection[ExampleReceiver],
    secrets: Mapping[ExampleReceiver, str],
    database: Database,
    org_id: OrgId,
    number: int,
) -> None:
    """Run the receivers and let clicks happen, until each has so many events; then kill the receivers."""
    with ExitStack() as stack:
        processes = [stack.enter_context(receiver.running(secrets[receiver])) for receiver in receivers]
        await ship(database, [click(org_id, LINK, datetime.now(UTC)) for _ in range(CLICKS)])
        await until(
            lambda: all(len(receiver.events) == number for receiver in receivers),
            "events are missing",
            seconds=60,
        )
        for process in processes:
            process.kill()


@pytest.mark.usefixtures("service")
async def test_what_happens_arrives(
    database: Database, organization: TestOrganization, settings: Settings, tmp_path: Path
) -> None:
    """Both store real events as the feed has them, one a request or a batch, also what came while
    they were dead."""
    org_id = organization.id
    receivers = {example_receiver("python", tmp_path): 1, example_receiver("node", tmp_path): 100}
    secrets = {}
    for receiver, batch_size in receivers.items():
        fields = {"url": receiver.url, "batch_size": batch_size}
        secrets[receiver] = (await create_endpoint(database, org_id, fields, datetime.now(UTC))).secret
    await _arrives(receivers, secrets, database, org_id, CLICKS)
    await ship(database, [click(org_id, LINK, datetime.now(UTC)) for _ in range(CLICKS)])
    await _arrives(receivers, secrets, database, org_id, 3 * CLICKS)
    feed = await read_feed(database, org_id, START, url_form=settings.short_url_form)
    for receiver in receivers:
        assert receiver.events == [event_json(event) for event in feed.events]
