"""Writes of links, while the figures of one organization take long."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import Question
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async


async def test_others_write_meanwhile(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who brings a link up to date with a key is told its clicks, and no other write waits for that."""
    links, others = Links(client, organization), Links(client, await make_organization())
    made = await links.make(external_id="known")
    ask, is_asked, goes_on = Analytics.ask, asyncio.Event(), asyncio.Event()

    async def ask_slowly(self: Analytics, org_id: str, question: Question[Any]) -> Any:
        if org_id == organization.id:
            is_asked.set()
            await goes_on.wait()
        return await ask(self, organization.id, question)

    monkeypatch.setattr(Analytics, "ask", ask_slowly)
    key = {"Idempotency-Key": "once"}
    writing = asyncio.create_task(links.post(external_id="known", link_name="New", headers=key))
    try:
        await is_asked.wait()
        async with asyncio.timeout(4):
            assert (await others.post()).status_code == 201
    finally:
        goes_on.set()
    await writing  # whose time may be over by now
    answer = await wait_for_async(
        lambda: links.post(external_id="known", link_name="New", headers=key),
        "the link is not brought up to date",
        lambda answer: answer.status_code == 200,
    )
    assert (answer.json()["id"], answer.json()["link_name"]) == (made["id"], "New")
