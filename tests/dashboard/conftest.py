"""Fixtures of the dashboard's tests: people who are signed in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from backend.app import Service
from backend.storage.mongo import Database
from tests.browser.conftest import browser_type_launch_args  # noqa: F401 - the machine's own Chromium
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.organizations import TestOrganization


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
