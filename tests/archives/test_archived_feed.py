"""The feed of an organization that is restored goes on where it was."""

from __future__ import annotations

from pathlib import Path

import httpx

from backend.archives.export import export_organization
from backend.domain.feed.events import USUAL_TYPES, EventType
from backend.domain.ids import CustomerId
from backend.domain.visitors.persons import Subject
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.reading import read_feed
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.outbox import entries
from tests.api.told_sales import SALE, tell
from tests.archives.forging import Archive, forge, remove, restore
from tests.facts.feeds import read_all
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call


async def test_a_restored_feed_goes_on(
    client: httpx.AsyncClient,
    database: Database,
    elsewhere: Database,
    organization: TestOrganization,
    tmp_path: Path,
) -> None:
    """Events have their ids and places, a cursor from before leads on, and what waited comes behind all."""
    org_id, file = organization.id, tmp_path / "organization.jsonl"
    await Visitor(client, organization).results(call("identify", customer_id="ada"), call("lead"))
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    before = await read_all(database, org_id)
    refund = {"refund_id": "r", "transaction_id": SALE["transaction_id"], "amount": 1, "currency": "EUR"}
    await tell(client, organization, "conversions/refund", refund)
    [*_, refunded] = await read_all(database, org_id)
    await export_organization(database, org_id, file, lambda *_: None)
    archive = Archive(file, organization)

    def wait(name: str, document: Document) -> Document | None:
        """The archive as it were if the refund had not had its place yet."""
        if name == "feed_heads":
            return document | {"place": before[-1].cursor.place}
        if name != entries.NAME or document["facts"][0]["type"] != EventType.REFUND:
            return None
        return {field: value for field, value in document.items() if field != "place"} | {"waits": True}

    await restore(elsewhere, forge(archive, tmp_path, wait))
    assert await read_all(elsewhere, org_id) == [*before, refunded]
    page = await read_feed(elsewhere, org_id, before[0].cursor, url_form=ShortUrlForm())
    assert list(page.events) == [*before[1:], refunded]
    await remove(elsewhere, archive)


async def test_what_only_analytics_reads(
    client: httpx.AsyncClient,
    database: Database,
    elsewhere: Database,
    organization: TestOrganization,
    tmp_path: Path,
) -> None:
    """Facts that no event tells are in archives as well, and come back; so does the audit log, as it was."""
    org_id, file = organization.id, tmp_path / "organization.jsonl"
    await Visitor(client, organization).results(call("identify", customer_id="ada"), call("lead"))
    await erase_subject(database, org_id, Subject(customer_id=CustomerId("ada")))
    types = [*USUAL_TYPES, EventType.AUDIT]
    before = await read_all(database, org_id, types)
    assert [event.data["action"] for event in before if event.type is EventType.AUDIT] == ["customer.erased"]
    await export_organization(database, org_id, file, lambda *_: None)
    archive = Archive(file, organization)
    await restore(elsewhere, file)
    assert await read_all(elsewhere, org_id, types) == before
    told = await elsewhere[entries.NAME].distinct("facts.type", {"org_id": org_id})
    assert {"device", "reread"} <= set(told)
    await remove(elsewhere, archive)
