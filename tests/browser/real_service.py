"""The real service beside tests of the SDK: a process of its own, with an organization."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.settings import Settings
from backend.storage.database import open_database
from tests.service_process import ServiceProcess, service_process


def stored_documents(data_dir: Path, org_id: str, collection: str) -> list[dict[str, Any]]:
    """An organization's documents of a collection, read beside the running service."""

    async def read() -> list[dict[str, Any]]:
        async with open_database(Settings(data_dir=data_dir)) as database:
            return await database[collection].find({"org_id": org_id}).to_list(None)

    # In a thread: Playwright's own loop runs in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, read()).result()


@dataclass(frozen=True, slots=True)
class RealService:
    """A running service, and an organization with a public key."""

    service: ServiceProcess
    data_dir: Path
    org_id: str
    web_key: str

    @property
    def base_url(self) -> str:
        """The service's public address."""
        return self.service.base_url

    def allow(self, origin: str) -> None:
        """Add an Allowed Web Origin."""
        self.service.command("origin", "add", origin, "--org", self.org_id)

    def stored(self, collection: str) -> list[dict[str, Any]]:
        """The organization's documents of a collection."""
        return stored_documents(self.data_dir, self.org_id, collection)

    def init(self, options: str = "") -> str:
        """The call of `init` for a page of the organization; `options` are further ones, or others."""
        return f"Waylink.init({{apiKey: '{self.web_key}', baseUrl: '{self.base_url}', {options}}})"


@contextmanager
def real_service(data_dir: Path, **settings: str) -> Iterator[RealService]:
    """A service for the length of the block, with a new organization."""
    with service_process(data_dir, **settings) as service:
        org_id = service.command("organization", "create", "Shop")["id"]
        key = service.command("key", "create", "--org", org_id, "--kind", "web")["key"]
        yield RealService(service, data_dir, org_id, key)
