"""Fixtures for links that lead to an app which has to be installed first."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.accounts.apps import Apps
from backend.settings import Settings
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from tests.api.apps.phones import APPS, LinkMaker, Phone, PhoneFactory, ServiceFactory
from tests.api.link_calls import create
from tests.facts.organizations import TestOrganization

_hosts = itertools.count(1)


@pytest.fixture
def make_phone(service: Service, database: Database) -> PhoneFactory:
    """Makes a visitor at an address, by default one of its own."""

    def make(address: str | None = None) -> Phone:
        where = address or f"198.51.{next(_hosts)}.7"
        transport = httpx.ASGITransport(app=service, client=(where, 4711))
        return Phone(httpx.AsyncClient(transport=transport), database)

    return make


@pytest.fixture
def phone(make_phone: PhoneFactory) -> Phone:
    """A visitor at an address of its own."""
    return make_phone()


@pytest.fixture
def make_app_link(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> LinkMaker:
    """Makes a link of an organization that opens in its app; gives its short URL."""

    async def make(owner: TestOrganization = organization, apps: Apps = APPS, **fields: Any) -> str:
        await set_apps(database, owner.domain, owner.id, apps)
        return await create(client, owner, **{"ios_behavior": 2, "android_behavior": 2} | fields)

    return make


@pytest.fixture
def service_with(settings: Settings, tmp_path: Path) -> ServiceFactory:
    """Starts a second service on the same database, with other settings."""

    @asynccontextmanager
    async def start(**changes: Any) -> AsyncIterator[Service]:
        service = create_app(replace(settings, data_dir=tmp_path, **changes))
        await service.startup()
        yield service
        await service.shutdown()

    return start
