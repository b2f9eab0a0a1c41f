"""What was erased is in the bytes of no file of a host, once an hour's work was done."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from backend.domain.ids import CustomerId, LinkId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.messages import KEPT_UP
from backend.storage.analytics.question import Facts, Question
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.columns.projections import Projections
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.lifecycle.purge import purge_link
from backend.storage.outbox import heads
from backend.storage.sales.batches import store_batches
from backend.system.clock import utc_now
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.domain.sales.shelf import START, arrived, batch
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.storage.columns.hosts import count, files_with, host

HASH = 0x5EC2E7A9
NOW = START + timedelta(days=100)


@dataclass(frozen=True)
class LayAside(Question[None]):
    """A question that lays more aside than there is memory for, as credit over years does."""

    text: str

    def answer(self, facts: Facts) -> None:
        """Lays aside texts that are alike in nothing but this one."""
        texts = f"SELECT md5(n::VARCHAR) || '{self.text}' AS text FROM range(1_200_000) AS numbers(n)"
        facts.connection.execute(f"CREATE TEMP TABLE laid_aside AS {texts}")


async def test_a_customer_on_a_shared_tablet(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Who is erased from a device that stays another's, and has done nothing else, leaves it too."""
    name = f"ada-{uuid.uuid4().hex}"
    calls = [arrived("identify", second, customer=who) for second, who in ((0, name), (60, "bob"))]
    await store_batches(database, [batch(*calls, device="tablet", org=organization.id)])

    async def erase() -> None:
        await erase_subject(database, organization.id, Subject(customer_id=CustomerId(name)))

    await leaves(database, organization.id, tmp_path, name.encode(), erase)
    devices = await database["devices"].find({"org_id": organization.id}).to_list(None)
    assert [[who["customer_id"] for who in device["customers"]] for device in devices] == [["bob"]]


async def test_visitors_of_days_that_are_added_up(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """The hashes of their addresses go with the single clicks."""
    await ship(database, [click(organization.id, LinkId("link"), START, visitor=HASH)])
    await set_click_days(database, organization.id, 40)

    async def add_up() -> None:
        assert await sum_expired(database, organization.id, NOW) == 1

    await leaves(database, organization.id, tmp_path, HASH.to_bytes(4, "little"), add_up)


async def test_links_that_are_purged(
    database: Database, client: httpx.AsyncClient, organization: TestOrganization, tmp_path: Path
) -> None:
    """A link that is deleted for good leaves neither its name nor its path."""
    name = f"for-ada-{uuid.uuid4().hex}"
    link = await Links(client, organization).make(link_name=name)

    async def purge() -> None:
        assert await purge_link(database, None, LinkId(link["id"]), organization.id, utc_now())

    await leaves(database, organization.id, tmp_path, name.encode(), purge)


async def test_what_a_backup_does_not_have(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Where MongoDB was put back, nothing stays of what came since the backup."""
    name = f"ada-{uuid.uuid4().hex}"
    of_org = {"$or": [{"org_id": organization.id}, {"_id": organization.id}]}
    await store_batches(database, [batch(arrived("identify", customer=name), org=organization.id)])

    async def put_back() -> None:
        for collection in ("devices", "feed_entries", heads.NAME):
            await database[collection].delete_many(of_org)

    await leaves(database, organization.id, tmp_path, name.encode(), put_back)


async def test_what_questions_laid_aside(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """What is kept of a question for the next one who asks, and stands on the disk, goes within the hour,
    also with others' that are asked later."""
    first, second = [(await make_organization()).id for _ in range(2)]
    async with host(database, tmp_path, memory_mb=40) as projections:
        for org_id in (first, second):
            assert await count(projections, database, org_id) == 0
        await projections.ask(first, [LayAside("adas-text")])
        assert files_with(tmp_path / "spills", b"adas-text")
        await projections.keep_up()
        assert files_with(tmp_path / "spills", b"adas-text") == []
        assert await count(projections, database, second) == 0


async def test_files_that_were_moved_aside(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A file that was moved aside by a process that ended then is found, also where nobody asks for it."""
    name = f"ada-{uuid.uuid4().hex}"
    await store_batches(database, [batch(arrived("identify", customer=name), org=organization.id)])
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 0
    path = tmp_path / f"{organization.id}.duckdb"
    path.rename(path.with_name(f"{path.name}.former"))
    assert files_with(tmp_path, name.encode()) == [f"{path.name}.former"]
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId(name)))
    await place_all(database, organization.id)
    async with host(database, tmp_path) as projections:
        await projections.keep_up()
        assert files_with(tmp_path, name.encode()) == []


async def leaves(
    database: Database,
    org_id: OrgId,
    folder: Path,
    erased: bytes,
    erase: Callable[[], Awaitable[None]],
) -> None:
    """Have something erased that is in the columns. It is in no file's bytes after an hour's work."""
    async with host(database, folder) as projections:
        assert await count(projections, database, org_id) >= 0
        assert files_with(folder, erased)
        await erase()
        await place_all(database, org_id)
        await kept_up(projections, folder)
        assert files_with(folder, erased) == []
    assert files_with(folder, erased) == []


async def kept_up(projections: Projections, folder: Path) -> None:
    """Do what is to be done within the hour: until it is noted as done, it is tried again each minute."""
    for _ in range(3):
        await projections.keep_up()
        if (folder / KEPT_UP).exists():
            return
    pytest.fail("it is not noted as done")
