"""What the systemd units let the service do suffices for all that it does."""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from pymongo import MongoClient

from tests.polling import wait_for
from tests.processes.arguments import processes_that_show
from tests.processes.programs import find_program
from tests.processes.service_process import SERVE, WAYLINK, own_database, service_process

ROOT = Path(__file__).parents[2]
UNIT, FOLLOW_UNIT = ROOT / "deploy" / "waylink.service", ROOT / "deploy" / "waylink-follow.service"
UNDER_FILTER = (sys.executable, "-m", "tests.processes.system_call_filter")


def test_all_is_done_under_the_units_filters(tmp_path: Path, mongodb_uri: str) -> None:
    """Figures and archives, each by a process of its own that gives way, and following a feed."""
    find_program("systemd-analyze", "systemd")
    command = (*UNDER_FILTER, str(UNIT), *SERVE)
    with (
        user_of_mongodb(mongodb_uri) as (password, uri),
        own_database(uri) as database,
        service_process(tmp_path, command, **database) as service,
    ):
        org_id = service.command("organization", "create", "Shop")["id"]
        scopes = [f"--scope={scope}" for scope in ("analytics:read", "organization:export")]
        key = service.command("key", "create", f"--org={org_id}", "--kind=rest", *scopes)["key"]
        api = f"{service.base_url}/serviceCore/pa/v1"
        with httpx.Client(base_url=api, headers={"API-KEY": key}, timeout=30) as client:
            query = {"from": "2026-03-01", "to": "2026-03-08", "measures": ["clicks"]}
            answer = client.post("/analytics/query", json=query)
            assert answer.status_code == 200, answer.text
            asked = client.post("/archives").json()["id"]
            made = wait_for(
                lambda: client.get(f"/archives/{asked}").json()["state"],
                "the archive",
                lambda state: state not in {"waiting", "in_progress"},
            )
            assert made == "ready"
            options = ("follow", f"--org={org_id}", "--into=parquet", f"--to={tmp_path / 'feed'}", "--once")
            follow = (*UNDER_FILTER, str(FOLLOW_UNIT), *WAYLINK, *options, "--types=audit")
            subprocess.run(follow, env=service.environment, check=True)
            assert list((tmp_path / "feed").rglob("*.parquet"))
            # The processes of figures and archives were told no password in their arguments.
            assert processes_that_show(password) == []


@contextmanager
def user_of_mongodb(uri: str) -> Iterator[tuple[str, str]]:
    """The password of a user whom this MongoDB knows meanwhile, and the URI that signs in as the user."""
    name, password = f"units_{secrets.token_hex(4)}", secrets.token_hex(16)
    with MongoClient[dict[str, Any]](uri) as client:
        client.admin.command("createUser", name, pwd=password, roles=["root"])
        parts = urlsplit(uri)
        hosts = parts.netloc.rpartition("@")[2]
        yield password, parts._replace(netloc=f"{name}:{password}@{hosts}").geturl() + "&authSource=admin"
        client.admin.command("dropUser", name)
