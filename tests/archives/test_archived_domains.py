"""Domains of an archive: they are one organization's at every moment of a restore."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from backend.archives.restore import RestoreResult, restore_organization
from backend.domain.ids import OrgId
from backend.storage.accounts import restores
from backend.storage.accounts.domains import DomainTaken, insert_domain, list_domains
from backend.storage.accounts.organizations import UnknownOrganization
from backend.storage.accounts.restores import unfinished_restores
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.organization_deletion import delete_organization
from backend.storage.lifecycle.restores import AlreadyTaken, RestoreCancelled, finish_restore, insert_history
from backend.storage.links.links import count_links
from backend.system.clock import utc_now
from tests.archives.forging import Archive, remove, restore
from tests.facts.organizations import create_test_organization
from tests.fresh_database import fresh_database

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
async def elsewhere(database: Database) -> AsyncIterator[Database]:
    """A database of this file's own: the other organizations stay in it."""
    async with fresh_database(database) as fresh:
        yield fresh


async def interrupted_restore(database: Database, archive: Archive, stored: float) -> None:
    """Restore the archive, and end once more than this part of it is stored; before that it is checked."""
    done, most = 0, (1 + stored) * archive.file.stat().st_size

    def interrupt(more: int) -> None:
        nonlocal done
        done += more
        if done > most:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await restore_organization(database, archive.file, utc_now(), interrupt, lambda _: False)


async def test_a_domain_is_kept_for_an_organization_that_is_being_restored(
    archive: Archive, elsewhere: Database
) -> None:
    """Its links are stored before it is usable: nobody else gets a domain that has them."""
    archived_org, other = archive.organization, await create_test_organization(elsewhere)
    await interrupted_restore(elsewhere, archive, stored=0.8)
    assert await elsewhere[restores.NAME].find_one({"_id": archived_org.id})
    with pytest.raises(DomainTaken):
        await insert_domain(elsewhere, archived_org.domain, other.id, NOW)
    await restore(elsewhere, archive.file)
    assert archived_org.domain in await list_domains(elsewhere, archived_org.id)
    domain = await elsewhere["domains"].find_one({"_id": archived_org.domain})
    assert "is_leaving" not in (domain or {"is_leaving": True})
    await remove(elsewhere, archive)


async def test_a_domain_that_is_added_while_its_restore_begins(archive: Archive, elsewhere: Database) -> None:
    """One of both has it. Where it is not the restore, that one has stored nothing."""
    archived_org, other = archive.organization, await create_test_organization(elsewhere)
    restored, added = await asyncio.gather(
        restore_organization(elsewhere, archive.file, utc_now(), lambda _: None, lambda _: False),
        insert_domain(elsewhere, archived_org.domain, other.id, NOW),
        return_exceptions=True,
    )
    owners = [domain["org_id"] async for domain in elsewhere["domains"].find({"_id": archived_org.domain})]
    if isinstance(added, DomainTaken):
        assert isinstance(restored, RestoreResult)
        assert owners == [archived_org.id]
    else:
        assert added is None
        assert isinstance(restored, AlreadyTaken)
        assert owners == [other.id]
        assert await count_links(elsewhere, archived_org.id) == 0
    await remove(elsewhere, archive)


async def test_a_restore_that_is_given_up(archive: Archive, elsewhere: Database) -> None:
    """What an interrupted restore has stored goes with its domains, and one that is still at work fails."""
    archived_org, other = archive.organization, await create_test_organization(elsewhere)
    await interrupted_restore(elsewhere, archive, stored=0)
    with pytest.raises(DomainTaken):
        await insert_domain(elsewhere, archived_org.domain, other.id, NOW)
    await delete_organization(elsewhere, archived_org.id, NOW)
    with pytest.raises(RestoreCancelled):
        await finish_restore(elsewhere, archived_org.id, {})
    with pytest.raises(RestoreCancelled):
        await insert_history(elsewhere, "links", [], org_id=archived_org.id, fingerprint="", position=1)
    assert await unfinished_restores(elsewhere) == set()
    await insert_domain(elsewhere, archived_org.domain, other.id, NOW)
    assert await count_links(elsewhere, archived_org.id) == 0
    with pytest.raises(UnknownOrganization):
        await delete_organization(elsewhere, OrgId(str(uuid.uuid4())), NOW)
