"""The service is a plain ASGI application: it runs on another server than Hypercorn as well."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.facts.sdk_batches import BATCH, call, timestamp
from tests.polling import wait_for
from tests.processes.proxy_process import server_process
from tests.processes.service_process import environment_of, free_port, own_database, run_command

API = "/serviceCore/pa/v1"


@pytest.fixture
def database(mongodb_uri: str) -> Iterator[dict[str, str]]:
    """Settings that give the service a database."""
    with own_database(mongodb_uri) as own:
        yield own


def test_a_link_is_made_followed_and_counted_on_granian(database: dict[str, str], tmp_path: Path) -> None:
    """REST API, redirector, calls of the browser SDK, startup and shutdown work there."""
    port = free_port()
    environment = environment_of(tmp_path, WAYLINK_PORT=str(port), **database)
    granian = [sys.executable, "-m", "granian", "--interface", "asgi", "--factory", "--loop", "uvloop"]
    command = [*granian, "--port", str(port), "backend.app:create_app"]
    with server_process(command, address := f"http://localhost:{port}", **environment):
        org_id = run_command("organization", "create", "Acme", environment=environment)["id"]
        run_command("domain", "add", "go.granian.example", "--org", org_id, environment=environment)
        key = run_command("key", "create", "--org", org_id, "--kind", "rest", environment=environment)["key"]
        body = {
            "domain": "go.granian.example",
            "selected_path": "kites",
            "destination_url": "https://shop.example/",
            "link_name": "Kites",
        }
        headers = {"API-KEY": key}
        made = httpx.post(f"{address}{API}/create-link", json=body, headers=headers, timeout=60)
        assert made.status_code == 201
        visit = httpx.get(f"{address}/kites", headers={"Host": "go.granian.example"}, timeout=60)
        assert visit.headers["Location"].startswith("https://shop.example/?cl_link_id=")
        assert counted(address, headers) == 1
        assert stored_on(address, org_id, environment) == "accepted"


def stored_on(address: str, org_id: str, environment: dict[str, str]) -> str:
    """The status of a call that a browser sends there."""
    origin = "https://shop.granian.example"
    run_command("origin", "add", origin, "--org", org_id, environment=environment)
    key = run_command("key", "create", "--org", org_id, "--kind", "web", environment=environment)["key"]
    batch = {
        "api_key": key,
        "device_id": str(uuid.uuid4()),
        "sdk": "js/test",
        "sent_at": timestamp(),
        "calls": [call("event", name="seen")],
    }
    answer = httpx.post(f"{address}{BATCH}", json=batch, headers={"Origin": origin}, timeout=60)
    return str(answer.json()["results"][0]["status"])


def counted(address: str, headers: dict[str, str]) -> int:
    """The link's clicks, once there is one."""
    body = {"shortUrl": "https://go.granian.example/kites"}
    return wait_for(
        lambda: int(
            httpx.post(f"{address}{API}/analytics", json=body, headers=headers, timeout=60).json()[
                "total_clicks"
            ]
        ),
        "the click is not counted",
    )
