"""The real service beside tests of the SDK: a process of its own, with an organization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess


@dataclass(frozen=True, slots=True)
class RealService:
    """A running service, and an organization with a public key."""

    service: ServiceProcess
    org_id: OrgId
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
        return self.service.stored(collection, org_id=self.org_id)

    def init(self, options: str = "") -> str:
        """The call of `init` for a page of the organization; `options` are further ones, or others."""
        return f"Waylink.init({{apiKey: '{self.web_key}', baseUrl: '{self.base_url}', {options}}})"


def new_shop(service: ServiceProcess) -> RealService:
    """A new organization of a running service."""
    org_id = service.command("organization", "create", "Shop")["id"]
    key = service.command("key", "create", "--org", org_id, "--kind", "web")["key"]
    return RealService(service, org_id, key)
