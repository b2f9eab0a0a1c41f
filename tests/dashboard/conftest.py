"""Fixtures of the dashboard's tests: people who are signed in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from backend.app import Service
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.browser.conftest import browser_type_launch_args  # noqa: F401 - the machine's own Chromium
from tests.conftest import MovableClock
from tests.dashboard.campaigns import NOON, make_link
from tests.dashboard.furnished import other, their_ids  # noqa: F401 - fixtures
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization


@pytest.fixture
async def stranger(
    service: Service, database: Database, organization: TestOrganization
) -> AsyncIterator[Person]:
    """A user of `organization` who is not signed in."""
    async with browser(service) as client:
        yield Person(client, await make_user(database, organization.id))


@pytest.fixture
async def person(stranger: Person, database: Database) -> Person:
    """A user of `organization` who is signed in."""
    await open_session(database, stranger)
    return stranger


@pytest.fixture
async def owner(
    service: Service,
    database: Database,
    other: TestOrganization,  # noqa: F811 - the fixture
    organization: TestOrganization,
) -> AsyncIterator[Person]:
    """An owner of `other`, where the session begins, and of `organization`."""
    async with browser(service) as client:
        made = Person(client, await make_user(database, other.id, organization.id))
        await open_session(database, made)
        yield made


@pytest.fixture
def now(clock: MovableClock) -> datetime:
    """Noon of a day without a change of clocks near it; the service's clock stands there, nearly."""
    clock.offset = NOON - utc_now()
    return NOON


@pytest.fixture
def midday(clock: MovableClock) -> datetime:
    """Half past noon in UTC, today, where the service's clock stands nearly: no hour and no day ends soon."""
    midday = utc_now().replace(hour=12, minute=30, second=0, microsecond=0)
    clock.offset = midday - utc_now()
    return midday


@pytest.fixture
async def link(database: Database, organization: TestOrganization, now: datetime) -> Link:
    """A link of a campaign."""
    return await make_link(database, organization, "Spring", now, utm_campaign="spring")
