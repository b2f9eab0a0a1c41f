"""Feeds that name very much in few entries: copies of one block, or of one summary, of many clicks."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from backend.domain.clicks.block import Block, blocks_of, unpack
from backend.domain.clicks.summary import DaySum, Summary
from backend.domain.clicks.visitor_numbers import VisitorNumbers
from backend.domain.feed.facts import Fact, clicks_fact, summary_fact
from backend.domain.ids import LinkId, OrgId
from backend.domain.ledger.receipts import Receipt
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.summaries import insert_summaries
from backend.storage.driver.mongo import ClientSession, Database, in_transaction
from backend.storage.outbox import entries
from tests.facts.clicks import click

DAY = datetime(2026, 1, 5, tzinfo=UTC)


def _block(org_id: OrgId, clicks: int) -> Block:
    made = (
        click(
            org_id,
            LinkId(f"link-{number % 500}"),
            DAY + timedelta(seconds=8 * number),
            country=("DE", "FR", "IT")[number % 3],
            referrer_host=f"host-{number % 50}.example",
            visitor=number,
        )
        for number in range(clicks)
    )
    [block] = blocks_of(made)
    return block


async def store_blocks(database: Database, org_id: OrgId, blocks: int, clicks: int) -> None:
    """Store so many blocks of so many clicks each, each with an entry of the feed."""
    if not blocks:
        return
    block = _block(org_id, clicks)
    ids = [f"{uuid.uuid4().hex}/0/2026-01-05" for _ in range(blocks)]
    fields = click_blocks.fields_of(block)
    await database[click_blocks.NAME].insert_many([{"_id": f"{org_id}/{own}", **fields} for own in ids])
    counted, content = block.content
    await _note(database, org_id, [clicks_fact(Receipt(own, clicks, counted, content, None)) for own in ids])


async def store_summaries(database: Database, org_id: OrgId, summaries: int, clicks: int) -> None:
    """Store so many sums of a day, of so many clicks each, each with an entry of the feed."""
    days = DaySum(DAY.date().toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal())
    days.add(unpack(_block(org_id, clicks).packed))
    [summary] = days.summaries(VisitorNumbers(b"key"))
    named = [
        (uuid.uuid4().hex, Summary(summary.day, summary.clicks, summary.packed)) for _ in range(summaries)
    ]

    async def store(session: ClientSession) -> None:
        await insert_summaries(database, session, org_id, named)

    await in_transaction(database, store)
    await _note(
        database, org_id, [summary_fact(summary.day, [own_id], [f"of {own_id}"]) for own_id, _ in named]
    )


async def _note(database: Database, org_id: OrgId, facts: Sequence[Fact]) -> None:
    async def note(session: ClientSession) -> None:
        for fact in facts:
            await entries.note(database, session, {org_id: [fact]})

    await in_transaction(database, note)
