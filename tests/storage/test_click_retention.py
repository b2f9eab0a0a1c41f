"""How long single clicks are kept: whole blocks expire, counts stay."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.ids import LinkId, OrgId
from backend.domain.organizations import CLICK_DAYS
from backend.storage import click_blocks
from backend.storage.click_counts import count_totals
from backend.storage.click_folds import Busy
from backend.storage.click_merges import merge_small_blocks
from backend.storage.click_retention import set_click_days
from backend.storage.folding import Folds
from backend.storage.mongo import Database
from backend.storage.organizations import UnknownOrganization, find_click_days
from tests.clicks import click, count_clicks, fold, ship
from tests.organizations import TestOrganization
from tests.storage.test_former_folds import leave_open

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINK = LinkId(str(uuid.uuid4()))


async def expiries(database: Database, org_id: OrgId) -> list[timedelta | None]:
    """How long after AT each of the organization's blocks expires; None if it does not."""
    found = await database[click_blocks.NAME].find({"org_id": org_id}).to_list(None)
    return [each["expires_at"] - AT if "expires_at" in each else None for each in found]


async def test_blocks_expire_after_the_organization_s_days(
    database: Database, organization: TestOrganization
) -> None:
    """400 days if nothing was said; another number also holds for blocks that are stored or merged."""
    await count_clicks(database, [click(organization.id, LINK, AT)])
    assert await expiries(database, organization.id) == [timedelta(days=CLICK_DAYS)]
    assert await set_click_days(database, organization.id, 9000) == 1
    assert await expiries(database, organization.id) == [timedelta(days=9000)]
    await count_clicks(database, [click(organization.id, LINK, AT)])
    assert await expiries(database, organization.id) == [timedelta(days=9000)] * 2
    await set_click_days(database, organization.id, None)
    assert await expiries(database, organization.id) == [None] * 2
    await merge_small_blocks(database, organization.id)
    assert await expiries(database, organization.id) == [None]
    assert await count_totals(database, organization.id, [LINK]) == {LINK: 2}
    assert await find_click_days(database, [organization.id]) == {organization.id: None}


async def test_blocks_that_wait_to_be_folded_do_not_expire(
    database: Database, organization: TestOrganization
) -> None:
    """However old the clicks of a log that was left behind are, they are counted before they may go."""
    await ship(database, [click(organization.id, LINK, AT)])
    await set_click_days(database, organization.id, 1)
    assert await expiries(database, organization.id) == [None]


async def test_blocks_of_an_open_fold_do_not_expire(
    database: Database, organization: TestOrganization
) -> None:
    """Who closes the fold of a former version that was killed reads them again; then they have their date."""
    clicks = [click(organization.id, LinkId(str(uuid.uuid4())), AT) for _ in range(3)]
    await leave_open(database, organization.id, clicks, clicks[0].link_id)
    await set_click_days(database, organization.id, 9000)
    assert await expiries(database, organization.id) == [None]
    await fold(database, [organization.id])
    assert await expiries(database, organization.id) == [timedelta(days=9000)]


async def test_days_that_change_during_folds(database: Database, organization: TestOrganization) -> None:
    """Whatever the order of folds and changes, every block has the date of the last change."""
    folds = Folds(database)
    for days in (4000, 5000, 6000):
        await ship(database, [click(organization.id, LINK, AT)])

        async def fold_once() -> None:
            with suppress(Busy):
                await folds.fold([organization.id])

        await asyncio.gather(fold_once(), set_click_days(database, organization.id, days), fold_once())
        await fold(database, [organization.id])
        assert set(await expiries(database, organization.id)) == {timedelta(days=days)}


async def test_an_organization_that_does_not_exist(database: Database) -> None:
    """It is refused, and nothing is left of it."""
    with pytest.raises(UnknownOrganization):
        await set_click_days(database, OrgId("nobody"), 5)
    assert await database["click_folds"].find_one({"_id": "nobody"}) is None
