"""`waylink domain set` and `waylink domain orphans`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess
from tests.redirector.conftest import DESKTOP

DOMAIN = "go.set.example"


@pytest.fixture(scope="module")
def org_id(running: ServiceProcess) -> OrgId:
    """An organization with a domain."""
    org_id = OrgId(running.command("organization", "create", "Set")["id"])
    running.command("domain", "add", DOMAIN, "--org", org_id)
    return org_id


def visit(running: ServiceProcess, path: str) -> httpx.Response:
    """What a visitor gets."""
    headers = {"host": DOMAIN, "user-agent": DESKTOP}
    return httpx.get(f"{running.base_url}/{path}", headers=headers, timeout=60)


def test_settings_reach_the_service(running: ServiceProcess, org_id: OrgId, tmp_path: Path) -> None:
    """What a command sets, visitors get; what it does not name stays, and an empty value clears one."""
    texts = {"en": {"not_found": {"title": "No kite", "text": "Look into our shop."}}}
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /\n")
    command = ("domain", "set", DOMAIN, "--org", org_id)
    files = ("--texts", str(tmp_path / "texts.json"), "--robots-txt", str(tmp_path / "robots.txt"))
    done = running.command(
        *command, "--name", "Kites", "--color", "#ABC", "--root-url", "https://shop.example/"
    )
    assert done["brand"]["color"] == "#aabbcc"
    done = running.command(*command, *files, "--forwards-path", "--no-ignores-case")
    assert (done["forwards_path"], done["ignores_case"]) == (True, False)
    assert (done["brand"]["name"], done["root_url"], done["texts"]) == (
        "Kites",
        "https://shop.example/",
        texts,
    )
    page = wait_for(
        lambda: visit(running, "nothing"), "the page is as before", lambda got: "No kite" in got.text
    )
    assert "Kites" in page.text
    assert visit(running, "").headers["location"] == "https://shop.example/"
    assert visit(running, "robots.txt").text == "User-agent: *\nDisallow: /\n"
    done = running.command(*command, "--name", "", "--texts", "", "--root-url", "")
    assert (done["brand"]["name"], done["root_url"], done["texts"]) == (None, None, {})
    assert running.command(*command) == done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--color", "red"), "--color must be a colour in hexadecimal digits"),
        (("--root-url", f"https://{DOMAIN}/x"), "--root-url must not lead to a link domain of this service"),
        (("--texts", "/nowhere.json"), "--texts must be a file that can be read"),
    ],
)
def test_what_breaks_a_rule_names_its_option(
    running: ServiceProcess, org_id: OrgId, options: tuple[str, ...], said: str
) -> None:
    """And nothing is changed."""
    before = running.command("domain", "set", DOMAIN, "--org", org_id)
    assert said in running.refusal("domain", "set", DOMAIN, "--org", org_id, *options)
    assert running.command("domain", "set", DOMAIN, "--org", org_id) == before


def test_orphan_visits_are_listed(running: ServiceProcess, org_id: OrgId) -> None:
    """Of the organization's own domain only."""
    other = running.command("organization", "create", "Other")["id"]
    assert "does not belong" in running.refusal("domain", "orphans", DOMAIN, "--org", other)
    visit(running, "sprng")

    def listed() -> Any:
        return running.command("domain", "orphans", DOMAIN, "--org", org_id)["orphans"]

    orphans = wait_for(listed, "the visit is not stored", lambda found: "sprng" in str(found), seconds=30)
    assert {"sprng", "nothing"} >= {orphan["path"] for orphan in orphans}
    assert orphans[0]["nearest"] is None
