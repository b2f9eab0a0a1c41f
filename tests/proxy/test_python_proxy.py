"""The first-party proxy in Python, in front of the real service, and the command that examines proxies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
from click.testing import CliRunner

from backend.cli import main
from tests.sdk_batches import BATCH, conversion, timestamp
from tests.service_process import ServiceProcess, free_port, service_process

ORIGIN = "https://shop.example"
DEVICE = "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11"


def wait_for(address: str) -> None:
    """Return when the address answers anything."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the proxy did not start")


def batch(service: ServiceProcess) -> dict[str, object]:
    """A batch of one conversion, for a new organization with an origin."""
    org_id = str(service.command("organization", "create", "Acme")["id"])
    service.command("origin", "add", ORIGIN, "--org", org_id)
    key = service.command("key", "create", "--org", org_id, "--kind", "web")["key"]
    return {"api_key": key, "device_id": DEVICE, "sdk": "t", "sent_at": timestamp(), "calls": [conversion()]}


def test_the_proxy_forwards_everything(tmp_path: Path) -> None:
    """A batch sent to the site's own address is stored, and the examination finds nothing lost."""
    with service_process(tmp_path) as service:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        command = [
            sys.executable,
            "-m",
            "hypercorn",
            "proxy_example.proxy:app",
            "--bind",
            f"127.0.0.1:{port}",
        ]
        environment = os.environ | {"WAYLINK_SERVICE": service.base_url}
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as proxy:
            try:
                wait_for(address)
                answer = httpx.post(address + BATCH, json=batch(service), headers={"Origin": ORIGIN})
                assert answer.json()["results"][0]["status"] == "accepted"
                assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
                examined = CliRunner().invoke(main, ["doctor", "proxy", address, "--json"])
                assert json.loads(examined.stdout) == {"url": address, "ok": True, "lost": []}
            finally:
                proxy.terminate()


def test_nothing_behind_the_address() -> None:
    """An address where nothing listens is named as that, and the command fails."""
    done = CliRunner().invoke(main, ["doctor", "proxy", f"http://127.0.0.1:{free_port()}"])
    assert done.exit_code == 1
    assert "does anything listen" in done.stdout
