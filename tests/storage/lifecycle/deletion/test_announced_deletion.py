"""A deletion that is announced: it begins a day later, unless somebody takes it back."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest

from backend.domain.accounts.deletion import ANNOUNCED_FOR, DeletionAnnounced
from backend.storage.accounts.announced_deletions import (
    NotAnnounced,
    announce_deletion,
    find_announced,
    list_announced,
    take_back_deletion,
)
from backend.storage.accounts.deleted_organizations import find_deleted, find_deletion
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle import organization_deletion
from backend.storage.lifecycle.organization_deletion import begin_due_deletions, finish_deletions
from backend.storage.links.links import count_links
from backend.storage.processes.work import Work
from backend.system.clock import utc_now
from tests.api.link_calls import create
from tests.conftest import OrganizationFactory
from tests.facts.failing_items import end_pauses
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async

SECOND = timedelta(seconds=1)


async def test_it_begins_a_day_later(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    make_organization: OrganizationFactory,
) -> None:
    """Not a second before; then all of it goes, and nothing of another organization."""
    other, now = await make_organization(), utc_now()
    for owner in (organization, other):
        await create(client, owner)
    announced = await announce_deletion(database, organization.id, "ada@shop.example", now)
    with pytest.raises(DeletionAnnounced):
        await announce_deletion(database, organization.id, "bob@shop.example", now + SECOND)
    assert announced.at == now + ANNOUNCED_FOR
    await begin_due_deletions(database, announced.at - SECOND)
    assert not await find_deleted(database, [organization.id])
    await create(client, organization)  # everything works on
    await begin_due_deletions(database, announced.at + SECOND)
    assert await count_links(database, organization.id) == 0
    assert await find_announced(database, organization.id) is None
    assert await count_links(database, other.id) == 1
    assert await find_deleted(database, [organization.id, other.id]) == {organization.id}


async def test_it_is_taken_back(database: Database, organization: TestOrganization) -> None:
    """Then nothing is deleted, however late it is; and there is nothing more to take back."""
    now = utc_now()
    await announce_deletion(database, organization.id, "ada@shop.example", now)
    assert organization.id in {deletion.org_id for deletion in await list_announced(database)}
    assert (await take_back_deletion(database, organization.id)).asked_by == "ada@shop.example"
    await begin_due_deletions(database, now + timedelta(days=2))
    assert not await find_deleted(database, [organization.id])
    with pytest.raises(NotAnnounced):
        await take_back_deletion(database, organization.id)


async def test_at_the_last_moment_it_is_either_begun_or_taken_back(
    database: Database, make_organization: OrganizationFactory
) -> None:
    """Whoever takes it back is told whether they were in time."""
    for _ in range(3):
        org_id = (await make_organization()).id
        announced = await announce_deletion(database, org_id, "ada@shop.example", utc_now())
        beginning = asyncio.create_task(begin_due_deletions(database, announced.at))
        [told] = await asyncio.gather(take_back_deletion(database, org_id), return_exceptions=True)
        beginning.cancel()
        await asyncio.gather(beginning, return_exceptions=True)
        if isinstance(told, NotAnnounced):
            await wait_for_async(partial(find_deleted, database, [org_id]), "it has begun")
        else:
            assert not await find_deleted(database, [org_id])


async def test_what_a_process_began_another_ends(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """An announced deletion that is interrupted goes on as that of the command does."""
    await create(client, organization)
    announced = await announce_deletion(database, organization.id, "ada@shop.example", utc_now())
    beginning = asyncio.create_task(begin_due_deletions(database, announced.at))
    await wait_for_async(lambda: find_deleted(database, [organization.id]), "it begins")
    beginning.cancel()
    await asyncio.gather(beginning, return_exceptions=True)
    assert await count_links(database, organization.id) == 1
    await begin_due_deletions(database, announced.at)  # not announced any more
    assert await count_links(database, organization.id) == 1
    await finish_deletions(database, announced.at + timedelta(seconds=90))
    assert await count_links(database, organization.id) == 0


@pytest.mark.parametrize("failing_work", ["_deleted", "_continued"])
async def test_one_that_fails_keeps_no_other_from_being_deleted(
    database: Database,
    make_organization: OrganizationFactory,
    monkeypatch: pytest.MonkeyPatch,
    failing_work: str,
) -> None:
    """Neither where deletions begin nor where they go on; and it is tried again."""
    now, own_ids = utc_now(), [(await make_organization()).id for _ in range(3)]
    for own_id in own_ids:
        await announce_deletion(database, own_id, "ada@shop.example", now)
    whole: Any = getattr(organization_deletion, failing_work)
    failing: list[str] = []

    def fail(database: Database, of: Any, *arguments: Any) -> Any:
        org_id = of if isinstance(of, str) else of.org_id
        if org_id in own_ids and (not failing or org_id in failing):  # the first of them
            failing.append(org_id)
            raise ValueError("planted")
        return whole(database, of, *arguments)

    async def work() -> set[str]:
        """Those that are not deleted then, or whose deletion did not end."""
        await begin_due_deletions(database, now + ANNOUNCED_FOR)
        await finish_deletions(database, now + 3 * ANNOUNCED_FOR)
        deleted = await find_deleted(database, own_ids)
        return {
            own_id for own_id in own_ids if own_id not in deleted or await find_deletion(database, own_id)
        }

    with monkeypatch.context() as patch:
        patch.setattr(organization_deletion, failing_work, fail)
        assert await work() == set(failing)
    await end_pauses(database, Work.DELETIONS)
    assert await work() == set()
