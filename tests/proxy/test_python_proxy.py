"""The first-party proxy in Python, in front of the real service, and the command that examines proxies."""

from __future__ import annotations

import json

import httpx
from click.testing import CliRunner

from backend.cli import main
from tests.facts.sdk_batches import BATCH, conversion, timestamp
from tests.processes.proxy_process import proxy_process
from tests.processes.service_process import ServiceProcess

ORIGIN = "https://shop.example"
DEVICE = "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11"


def batch(service: ServiceProcess) -> dict[str, object]:
    """A batch of one conversion, for a new organization with an origin."""
    org_id = str(service.command("organization", "create", "Acme")["id"])
    service.command("origin", "add", ORIGIN, "--org", org_id)
    key = service.command("key", "create", "--org", org_id, "--kind", "web")["key"]
    return {"api_key": key, "device_id": DEVICE, "sdk": "t", "sent_at": timestamp(), "calls": [conversion()]}


def test_the_proxy_forwards_everything(running: ServiceProcess) -> None:
    """A batch sent to the site's own address is stored, and the examination finds nothing lost."""
    with proxy_process(running.base_url) as address:
        answer = httpx.post(address + BATCH, json=batch(running), headers={"Origin": ORIGIN}, timeout=60)
        assert answer.json()["results"][0]["status"] == "accepted"
        assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
        examined = CliRunner().invoke(main, ["doctor", "proxy", address, "--json"])
        assert json.loads(examined.stdout) == {"url": address, "ok": True, "lost": []}
