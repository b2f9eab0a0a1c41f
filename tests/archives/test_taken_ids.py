"""Archives whose documents say what is another's already, or is yet to come: they take nothing of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from backend.domain.accounts.users import User
from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.ids import InstallId, OrgId, UserId
from backend.domain.visitors.calls import Kind
from backend.storage.accounts.users import users
from backend.storage.apps.installs import record_install
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import logs as click_logs
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.restores import AlreadyTaken
from backend.storage.visitors import counted_once
from tests.archives.forging import MARKS, Archive, forge, remove, restore, unchanged
from tests.archives.full_organization import PASSWORD_HASH
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, conversion
from tests.fresh_database import fresh_database

NOW = datetime.now(UTC)


def mark(org_id: OrgId, kind: str, own_id: str) -> Document:
    """The mark that an order or a lead leaves."""
    return counted_once.document((org_id, kind, own_id), NOW)


async def test_marks_of_another_organization(
    client: httpx.AsyncClient,
    archive: Archive,
    database: Database,
    organization: TestOrganization,
    tmp_path: Path,
) -> None:
    """Marks of another's orders and leads keep none of them from being counted; one of its own, whose record
    was erased, still does."""
    archived_org = archive.organization
    forged = [
        mark(organization.id, Kind.CONVERSION, "order-9") | {"org_id": archived_org.id},
        mark(organization.id, Kind.LEAD, "lead-9") | {"org_id": archived_org.id},
        mark(archived_org.id, Kind.CONVERSION, "erased"),
        mark(organization.id, "install", "phone-9") | {"org_id": archived_org.id},
    ]
    await restore(
        database, forge(archive, tmp_path, unchanged, *((MARKS, mark_document) for mark_document in forged))
    )
    other, self = Visitor(client, organization), Visitor(client, archived_org)
    calls = conversion(transaction_id="order-9"), call("lead", event_id="lead-9")
    assert [result["status"] for result in await other.results(*calls)] == ["accepted", "accepted"]
    again = [conversion(transaction_id=transaction_id) for transaction_id in ("order-1", "erased", "new")]
    assert [result["status"] for result in await self.results(*again)] == [
        "duplicate",
        "duplicate",
        "accepted",
    ]
    assert [result["status"] for result in await self.results(conversion(transaction_id="new"))] == [
        "duplicate"
    ]
    install = Install(organization.id, InstallId("phone-9"), AppPlatform.IOS, None, NOW)
    assert await record_install(database, install)
    await remove(database, archive)


async def test_blocks_that_a_log_is_yet_to_give(archive: Archive, database: Database, tmp_path: Path) -> None:
    """Ids of blocks to come would keep this installation's own log from being shipped."""
    blocks = [entry.document for entry in archive.entries if entry.collection == click_blocks.NAME]
    log_id, _, _ = str(blocks[0]["_id"]).partition("/")[2].partition("/")
    forged = forge(
        archive,
        tmp_path,
        lambda name, document: (
            document | {"_id": document["_id"].replace(f"{log_id}/0/", f"{log_id}/700/")}
            if name == click_blocks.NAME
            else None
        ),
    )
    async with fresh_database(database) as fresh:
        await fresh[click_logs.NAME].insert_one({"_id": log_id, "position": 700})
        with pytest.raises(AlreadyTaken, match=r"in click_blocks a document with the id .*/700/"):
            await restore(fresh, forged)
        await fresh[click_logs.NAME].update_one({"_id": log_id}, {"$set": {"position": 750}})
        await restore(fresh, forged)
        assert await fresh[click_blocks.NAME].count_documents({}) == len(blocks)


async def test_a_user_of_another_organization(archive: Archive, database: Database) -> None:
    """Nobody is given an account by an archive that knows its id alone."""
    [document] = [entry.document for entry in archive.entries if entry.collection == users.NAME]
    other = User(UserId(document["_id"]), "grace@other.example", PASSWORD_HASH, (OrgId("other"),), NOW)
    async with fresh_database(database) as fresh:
        await users.insert_user(fresh, other)
        with pytest.raises(AlreadyTaken, match="with another address the user"):
            await restore(fresh, archive.file)
        assert [user.org_ids for user in await users.list_users_of_all(fresh)] == [("other",)]
