"""The page that says what the organization pays for."""

from __future__ import annotations

from datetime import timedelta

from backend.clock import utc_now
from backend.storage.mongo import Database
from backend.storage.organizations import set_subscription
from tests.conftest import MovableClock
from tests.dashboard.people import Person
from tests.organizations import TestOrganization


async def test_none_active_and_ended(
    person: Person, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """The page says whether there is a subscription, until when, and when it has ended."""
    assert '<span class="badge">None</span>' in (await person.get("/subscription")).text
    await set_subscription(database, organization.id, utc_now() + timedelta(days=2))
    assert '<span class="badge good">Active</span>' in (await person.get("/subscription")).text
    clock.offset = timedelta(days=3)
    assert '<span class="badge bad">Ended</span>' in (await person.get("/subscription")).text
