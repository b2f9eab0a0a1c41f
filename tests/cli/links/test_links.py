"""`waylink links`, and where an organization's links may lead."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.processes.far_site import far_site
from tests.processes.service_process import ServiceProcess, run_command


@pytest.fixture(scope="module")
def made(running: ServiceProcess, org_id: OrgId) -> dict[str, str]:
    """A link of the organization, over REST."""
    running.command("domain", "add", "go.held.localhost", "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    body = {"domain": "go.held.localhost", "destination_url": "https://shop.example/", "link_name": "A"}
    url = f"{running.base_url}/serviceCore/pa/v1/links"
    link: dict[str, str] = httpx.post(url, json=body, headers={"API-KEY": key}, timeout=60).json()
    return link


def test_a_link_is_held_and_released(running: ServiceProcess, made: dict[str, str]) -> None:
    """By its id alone, with a reason; held ones are listed; what is not held or not there is told."""
    held = running.command("links", "hold", made["id"], "--why", "Phishing")
    assert (held["id"], held["state"], held["why"]) == (made["id"], "held", "Phishing")
    assert running.command("links", "held") == {"links": [held]}
    again = running.command("links", "hold", made["id"], "--why", "Fraud")
    assert again["why"] == "Fraud"
    assert running.command("links", "release", made["id"])["state"] == "enabled"
    assert running.command("links", "held") == {"links": []}
    assert "is not held" in running.refusal("links", "release", made["id"])
    assert "There is no link with the id 'x'" in running.refusal("links", "hold", "x", "--why", "a")
    assert "the reason must not be empty" in running.refusal("links", "hold", made["id"], "--why", " ")


def test_rules_for_destinations(running: ServiceProcess, org_id: OrgId) -> None:
    """They are added to, taken away and printed; where an address can't be read, nothing is set."""
    command = ("organization", "destinations", "--org", org_id)
    rules = running.command(
        *command, "--allow", "Shop.com", "--allow", "a.example/x", "--refuse", "old.shop.com"
    )
    assert (rules["allowed"], rules["refused"]) == ("shop.com, a.example/x", "old.shop.com")
    assert running.command(*command, "--refuse", "b.example")["refused"] == "old.shop.com, b.example"
    assert "allowed[0] must be a host" in running.refusal(*command, "--clear", "--allow", "a b")
    assert running.command(*command)["allowed"] == "shop.com, a.example/x"
    assert running.command(*command, "--clear") == {"org_id": org_id, "allowed": "", "refused": ""}


def test_imports_keep_to_the_block_list(
    running: ServiceProcess, org_id: OrgId, made: dict[str, str], tmp_path: Path
) -> None:
    """A row that leads where the operator blocks is refused, in a dry run too."""
    blocked, file = tmp_path / "blocked.txt", tmp_path / "links.csv"
    blocked.write_text("evil.example\n")
    file.write_text("domain,destination_url,link_name\ngo.held.localhost,https://evil.example/,A\n")
    environment = running.environment | {"WAYLINK_BLOCK_LIST": str(blocked)}
    for options in (["--dry-run"], []):
        command = ("import", "csv", str(file), "--org", org_id, *options)
        assert run_command(*command, environment=environment, exit_code=3)["refused"] == 1


def test_destinations_are_checked(running: ServiceProcess, org_id: OrgId, made: dict[str, str]) -> None:
    """Broken ones are listed with their links; nothing private is asked without a setting."""
    with far_site() as site:
        key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
        body = {"destination_url": site.url("/gone")}
        url = f"{running.base_url}/serviceCore/pa/v1/links/{made['id']}"
        assert httpx.patch(url, json=body, headers={"API-KEY": key}, timeout=60).status_code == 200
        (refused,) = running.command("links", "check", "--org", org_id)["broken"]
        assert (refused["problem"], site.asked) == ("is not in the public internet", [])
        environment = running.environment | {"WAYLINK_PRIVATE_DESTINATIONS": "true"}
        checked = run_command("links", "check", "--org", org_id, environment=environment)
    assert checked["checked"] == 1
    (row,) = checked["broken"]
    assert (row["id"], row["problem"]) == (made["id"], "answers with status 404")


def test_reports_are_listed(running: ServiceProcess, org_id: OrgId, made: dict[str, str]) -> None:
    """With what visitors said, for all organizations or one; and dismissed."""
    fields = {"link": made["path"], "reason": "spam", "text": "Again"}
    headers = {"Host": "go.held.localhost"}
    answer = httpx.post(f"{running.base_url}/report", data=fields, headers=headers, timeout=60)
    assert answer.status_code == 200
    for options in ([], ["--org", org_id]):
        (row,) = running.command("links", "reports", *options)["reports"]
        assert (row["id"], row["reports"], row["reason"], row["text"]) == (made["id"], 1, "spam", "Again")
    assert running.command("links", "reports", "--dismiss", made["id"])["dismissed"] is True
    assert running.command("links", "reports") == {"reports": []}
    for nothing in (made["id"], ""):
        assert "Nobody reported" in running.refusal("links", "reports", "--dismiss", nothing)


@pytest.mark.parametrize("command", [("links", "check"), ("links", "reports"), ("doctor",)], ids=" ".join)
@pytest.mark.parametrize("unknown", ["nobody", ""])
def test_an_unknown_organization_is_refused(
    running: ServiceProcess, command: tuple[str, ...], unknown: str
) -> None:
    """An empty text, as of a variable that is not set, is an unknown organization too: not all of them."""
    refusal = running.refusal(*command, "--org", unknown)
    assert f"There is no organization with the id {unknown!r}" in refusal
