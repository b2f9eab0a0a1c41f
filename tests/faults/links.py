"""A link of a running service, and its clicks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.api.link_calls import API
from tests.faults.metrics import metric
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

DOMAIN = "go.faults.localhost"


def new_link(service: ServiceProcess) -> dict[str, str]:
    """A link on DOMAIN, its organization, its REST key and its short URL's path."""
    org_id = service.command("organization", "create", "Faults")["id"]
    service.command("domain", "add", DOMAIN, "--org", org_id)
    key = service.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    body = {
        "domain": DOMAIN, "destination_url": "https://shop.example", "link_name": "Faults",
        "ios_behavior": 1, "android_behavior": 1,
    }  # fmt: skip
    made = _post(service, "create-link", key, body)
    path = urlsplit(made["short_url"]).path
    return {"org_id": org_id, "key": key, "short_url": made["short_url"], "path": path}


def new_limited_link(service: ServiceProcess, key: str, **limits: object) -> str:
    """A link on DOMAIN with these limits; its path."""
    given = {"domain": DOMAIN, "destination_url": "https://shop.example", "link_name": "Limited"}
    made = _post(service, "links", key, given | limits)
    return f"/{made['path']}"


def _post(service: ServiceProcess, path: str, key: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a call of the REST API is answered."""
    headers = {"API-KEY": key}
    answer = httpx.post(f"{service.base_url}{API}/{path}", json=body, headers=headers, timeout=60)
    told: dict[str, Any] = answer.json()
    return told


def follow(service: ServiceProcess, path: str) -> int:
    """The status that a visitor gets."""
    return httpx.get(service.base_url + path, headers={"host": DOMAIN}, timeout=30).status_code


def give_password(service: ServiceProcess, path: str, password: str) -> int:
    """The status that a visitor gets who sends the form of a link's password."""
    form, headers = {"password": password}, {"host": DOMAIN}
    return httpx.post(service.base_url + path, data=form, headers=headers, timeout=30).status_code


def _total_clicks(service: ServiceProcess, link: dict[str, str]) -> int:
    """What the analytics say."""
    told = _post(service, "analytics", link["key"], {"shortUrl": link["short_url"]})
    return int(told.get("total_clicks", -1))


def wait_for_clicks(service: ServiceProcess, link: dict[str, str], least: int) -> int:
    """The clicks counted, once they are at least so many and none waits to be counted.

    One worker may know later than another that MongoDB answers again: each is asked until it does.
    """
    _counted(service, link, least)
    wait_for(lambda: metric(service, "waylink_clicks_waiting_bytes") == 0, "clicks wait", seconds=60)
    return _counted(service, link, least)


def _counted(service: ServiceProcess, link: dict[str, str], least: int) -> int:
    return wait_for(
        lambda: _total_clicks(service, link),
        "clicks are not counted",
        lambda counted: counted >= least,
        seconds=60,
    )
