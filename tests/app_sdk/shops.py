"""An organization with an app, at a running service, for the tests of the client for apps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

API = "/serviceCore/pa/v1"


@dataclass(frozen=True, slots=True)
class Shop:
    """The organization: its service, its domain and its keys. The mobile key may make invitations."""

    service: ServiceProcess
    host: str
    rest_key: str
    mobile_key: str

    def asks(self, path: str, **body: Any) -> Any:
        """What the REST API answers."""
        url = f"{self.service.base_url}{API}/{path}"
        answer = httpx.post(url, json=body, headers={"API-KEY": self.rest_key}, timeout=30)
        assert answer.is_success, answer.text
        return answer.json()

    def link(self, path: str, **fields: Any) -> dict[str, Any]:
        """A new link that opens the app, as `links/info` shows it, with its short URL."""
        fields |= {"selected_path": path, "destination_url": f"https://shop.example/{path}"}
        made = self.asks(
            "create-link", domain=self.host, link_name=path, ios_behavior=2, android_behavior=2, **fields
        )
        return dict(self.asks("links/info", shortUrl=made["short_url"])) | {"short_url": made["short_url"]}

    def figures(self, *measures: str, until: Callable[[Any], object]) -> Any:
        """The rows of these measures by campaign, once they are as `until` wants them."""
        query = {"measures": measures, "group_by": ["campaign"], "currency": "EUR"}
        return wait_for(lambda: self.asks("analytics/query", **query)["rows"], "the figures", until)


def open_shop(service: ServiceProcess, host: str) -> Shop:
    """A new organization at this service, with this domain."""
    org = service.command("organization", "create", "Shop")["id"]
    service.command("domain", "add", host, "--org", org)
    service.command("subscription", "set", "--org", org, "--until", "2999-12-31")
    service.command("privacy", "withdrawal", "--org", org, "--erase", "on")
    apple = ("--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.shop.app", "--app-store-id", "1234567890")
    service.command("app", "set", host, "--org", org, *apple, "--android-package", "com.shop.app")
    inviting = ("mobile", "--links-domain", host, "--links-to", "shop.example/invite/*")
    rest_key, mobile_key = (
        service.command("key", "create", "--org", org, "--kind", *kind)["key"]
        for kind in (("rest",), inviting)
    )
    return Shop(service, host, rest_key, mobile_key)
