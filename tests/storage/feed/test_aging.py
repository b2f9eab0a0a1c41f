"""Entries of feeds go once what they name has expired."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from backend.app import Service
from backend.domain.accounts.organizations import Organization
from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.clicks.block import blocks_of
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import tag_fact
from backend.domain.ids import InstallId, LinkId, OrgId, TagId
from backend.storage.accounts.organizations import create_organization, set_audit_days
from backend.storage.apps.installs import record_install
from backend.storage.audit.recording import recording
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database, in_transaction
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.lifecycle.retention import set_retention
from backend.storage.outbox import aging, entries, heads
from backend.storage.outbox.aging import delete_expired
from backend.storage.outbox.entries import AgesBy
from tests.facts.clicks import click
from tests.facts.feeds import place_all
from tests.fresh_database import fresh_database

DAY = timedelta(days=1)


@pytest.fixture
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this test's own: what expires, expires for all organizations."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


async def types_of(database: Database, org_id: OrgId) -> list[str]:
    """The types of all facts that the organization's feed has."""
    cursor = database[entries.NAME].find({"org_id": org_id}).sort("place", 1)
    return [fact["type"] async for entry in cursor for fact in entry["facts"]]


async def test_what_expires(database: Database) -> None:
    """Clicks go after `click_days`, what visitors did after `retention_days`, and nothing else ever."""
    now = datetime.now(UTC)
    org_id = (await create_organization(database, "Acme", now)).id
    await ship_blocks(database, "log", LogHead(), 100, blocks_of([click(org_id, LinkId("link"), now)]))
    await record_install(database, Install(org_id, InstallId("phone"), AppPlatform.IOS, None, now))
    facts = {org_id: [tag_fact(TagId("tag"), "Spring")]}
    await in_transaction(database, lambda session: entries.note(database, session, facts))
    await place_all(database, org_id)
    await set_retention(database, org_id, 30)
    await database["organizations"].update_one({"_id": org_id}, {"$set": {"click_days": 60}})
    everything = await types_of(database, org_id)
    assert everything == [EventType.CLICK, EventType.INSTALL, "tag"]
    assert await delete_expired(database, now + 30 * DAY) == 0
    assert await delete_expired(database, now + 32 * DAY) == 1
    assert await types_of(database, org_id) == [EventType.CLICK, "tag"]
    assert await delete_expired(database, now + 62 * DAY) == 0
    assert await delete_expired(database, now + 63 * DAY) == 1
    await set_retention(database, org_id, None)
    assert await delete_expired(database, now + 9_999 * DAY) == 0
    assert await types_of(database, org_id) == ["tag"]
    assert (await heads.find_heads(database, [org_id]))[org_id] == 3


async def test_how_long_the_audit_log_is_kept(database: Database) -> None:
    """As long as the organization says, which stands in the log itself."""
    now = datetime.now(UTC)
    audited = recording(database, COLLECTIONS)
    org_id = (await create_organization(audited, "Acme", now)).id
    await set_audit_days(audited, org_id, 90)
    await place_all(database, org_id)
    assert await types_of(database, org_id) == [EventType.AUDIT, EventType.AUDIT]
    assert await delete_expired(database, now + 90 * DAY) == 0
    assert await delete_expired(database, now + 92 * DAY) == 2


async def test_what_waits_stays(database: Database) -> None:
    """However old an entry is, it gets its place first: readers learn of all that was acknowledged."""
    now = datetime.now(UTC)
    org_id = (await create_organization(database, "Acme", now)).id
    await set_retention(database, org_id, 30)
    await record_install(database, Install(org_id, InstallId("phone"), AppPlatform.IOS, None, now))
    assert await delete_expired(database, now + 99 * DAY) == 0
    await place_all(database, org_id)
    assert await delete_expired(database, now + 99 * DAY) == 1


async def test_one_organization_that_fails_keeps_no_other_from_aging(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entries stay, and those of the others go, whichever comes first."""
    now, org_ids = datetime.now(UTC), []
    for name in ("First", "Second", "Third"):
        org_ids.append((await create_organization(database, name, now)).id)
        await record_install(database, Install(org_ids[-1], InstallId("phone"), AppPlatform.IOS, None, now))
        await set_retention(database, org_ids[-1], 30)
        await place_all(database, org_ids[-1])
    whole = aging._days_of
    failing: list[OrgId] = []

    def days_of(organization: Organization) -> dict[AgesBy, int | None]:
        if not failing:  # the first of them
            failing.append(organization.id)
            raise ValueError("planted")
        return whole(organization)

    monkeypatch.setattr(aging, "_days_of", days_of)
    assert await delete_expired(database, now + 32 * DAY) == 2
    kept = {org_id for org_id in org_ids if await types_of(database, org_id)}
    assert kept == {*failing}
