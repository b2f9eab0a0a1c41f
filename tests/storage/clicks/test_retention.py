"""How long single clicks are kept, as organizations say."""

from __future__ import annotations

import pytest

from backend.domain.accounts.organizations import CLICK_DAYS, FEWEST_CLICK_DAYS
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import (
    UnknownOrganization,
    find_click_days,
    get_organization,
    set_click_days,
)
from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization


async def click_days(database: Database, org_id: OrgId) -> int | None:
    """How many days the organization keeps single clicks, by both ways to ask."""
    days = (await find_click_days(database, [org_id]))[org_id]
    assert (await get_organization(database, org_id)).click_days == days
    return days


async def test_days_are_set(database: Database, organization: TestOrganization) -> None:
    """400 if nothing was said; another number, or no limit."""
    assert await click_days(database, organization.id) == CLICK_DAYS
    for days in (9000, None, FEWEST_CLICK_DAYS):
        await set_click_days(database, organization.id, days)
        assert await click_days(database, organization.id) == days


async def test_an_organization_that_does_not_exist(database: Database) -> None:
    """It is refused."""
    with pytest.raises(UnknownOrganization):
        await set_click_days(database, OrgId("nobody"), 50)
