"""Feeds as analytics reads them."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import httpx

from backend.domain.clicks.block import blocks_of, unpack
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.facts import DEVICE
from backend.domain.ids import CustomerId, LinkId
from backend.domain.visitors.persons import Subject
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database
from backend.storage.feed.packed import PackedEntry, name_of, read_packed
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.sales import conversions
from backend.storage.visitors import devices
from tests.api.told_sales import tell
from tests.facts.clicks import click
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion


async def test_all_facts_and_what_they_name(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A page has every entry, each document once, clicks as their block; pages of one entry have the same."""
    org_id, visitor = organization.id, Visitor(client, organization)
    made = [click(org_id, LinkId("link"), datetime.now(UTC)) for _ in range(3)]
    await ship_blocks(database, uuid.uuid4().hex, LogHead(), 100, blocks_of(made))
    await visitor.results(check(utm_source="news"))
    await visitor.results(conversion(transaction_id="t-1"))
    refund = {"refund_id": "r", "transaction_id": "t-1", "amount": 1, "currency": "EUR"}
    await tell(client, organization, "conversions/refund", refund)
    await visitor.results(call("identify", customer_id="ada"))
    await place_all(database, org_id)
    page = await read_packed(database, org_id, START)
    facts = [fact for entry in page.entries for fact in entry.facts]
    assert [fact["type"] for fact in facts] == [
        "click", DEVICE, "conversion", "refund", "identify", DEVICE
    ]  # fmt: skip
    names = [name_of(fact) for fact in facts]
    assert set(names) == page.named.keys()
    assert [collection for collection, _ in page.named] != []
    [block] = [document for (name, _), document in page.named.items() if name == click_blocks.NAME]
    assert len(list(unpack(block["packed"]).clicks(org_id))) == 3
    assert page.named[devices.NAME, visitor.device_id]["customers"][0]["customer_id"] == "ada"
    assert len(page.named[conversions.NAME, facts[2]["call"]]["refunds"]) == 1
    assert (page.next_cursor, page.has_more) == (Cursor(6), False)
    read: list[PackedEntry] = []
    cursor, has_more = START, True
    while has_more:
        part = await read_packed(database, org_id, cursor, limit=1)
        read += part.entries
        cursor, has_more = part.next_cursor, part.has_more
    assert (read, cursor) == (list(page.entries), page.next_cursor)


async def test_what_is_erased_is_named_no_more(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Facts about somebody who was erased name nobody, and stand where they stood; behind them, analytics is
    told what to read again."""
    visitor = Visitor(client, organization)
    await visitor.results(check(utm_source="news"), call("identify", customer_id="ada"), call("lead"))
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("ada")))
    await place_all(database, organization.id)
    page = await read_packed(database, organization.id, START)
    noted, erasure, *again = page.entries
    assert [fact["type"] for fact in noted.facts] == ["identify", "lead", DEVICE]
    assert [name_of(noted.facts[0]), name_of(noted.facts[2])] == [None, None]
    assert erasure.facts[0]["customers"] == ["ada"]
    reread = [(fact["type"], fact["of"], len(fact["ids"])) for entry in again for fact in entry.facts]
    assert sorted(reread) == [("reread", "device", 1), ("reread", "lead", 1)]
    assert not page.named
