"""Answers while what was stored can't be put into the order of the feed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from backend.storage.outbox import heads
from tests.api.analytics.queries import MARCH, START, fill
from tests.api.link_calls import API
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization

STEPS = [{"kind": "click"}, {"kind": "conversion"}]
MISSING = "Not everything that was stored since "


@asynccontextmanager
async def nothing_is_placed(database: Database, organization: TestOrganization) -> AsyncIterator[None]:
    """A block in which nobody can give an entry its place in the organization's feed."""
    async with await database.client.start_session() as session, session.start_transaction():
        head = await database[heads.NAME].update_one(
            {"_id": organization.id}, {"$set": {"held": 1}}, session=session
        )
        assert head.matched_count == 1
        yield
        await session.abort_transaction()


async def test_answers_say_what_they_miss(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A click that waits for its place is missing, and every answer that has notes says so; then it is there
    and nothing is said."""
    link_id, _ = await fill(client, organization, database)

    async def answered(path: str, **body: Any) -> dict[str, Any]:
        answer = await client.post(f"{API}/analytics/{path}", json=MARCH | body, headers=organization.headers)
        found: dict[str, Any] = answer.json()
        return found

    async def clicks_and_what_is_missing() -> tuple[int, int]:
        """How many clicks are counted, and how many answers say that not everything is."""
        counted = await answered("query")
        answers = [counted, await answered("funnel", steps=STEPS), await answered("cohorts")]
        missing = [answer for answer in answers if any(note.startswith(MISSING) for note in answer["notes"])]
        return counted["totals"]["clicks"], len(missing)

    assert await clicks_and_what_is_missing() == (4, 0)
    async with nothing_is_placed(database, organization):
        await ship(database, [click(organization.id, LinkId(link_id), START)])
        assert await clicks_and_what_is_missing() == (4, 3)
    assert await clicks_and_what_is_missing() == (5, 0)
