"""Commands that take something away for good: they ask before, and leave nothing half done."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from backend.domain.ids import OrgId
from backend.storage.accounts import deleted_organizations
from tests.polling import wait_for
from tests.processes.service_process import (
    ServiceProcess,
    environment_of,
    invoke,
    own_database,
    run_command,
    service_process,
)

BEFORE = "Nothing was changed, since it was not confirmed."


def make_link(running: ServiceProcess, org_id: OrgId, domain: str, path: str) -> str:
    """Make a link over REST, and give its id."""
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    made = httpx.post(
        f"{running.base_url}/serviceCore/pa/v1/links",
        headers={"API-KEY": key},
        json={
            "domain": domain,
            "selected_path": path,
            "destination_url": "https://a.example",
            "link_name": "a",
        },
        timeout=60,
    )
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def purge_link(running: ServiceProcess, org_id: OrgId, link_id: str) -> None:
    """Delete a link for good over REST."""
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    url = f"{running.base_url}/serviceCore/pa/v1/links/{link_id}?purge=true"
    assert httpx.delete(url, headers={"API-KEY": key}, timeout=60).status_code == 204


@pytest.fixture(scope="module")
def kept(running: ServiceProcess, org_id: OrgId) -> str:
    """The id of a key of an organization that also has an origin, a domain with an app, and a user."""
    running.command("origin", "add", "https://kept.example", "--org", org_id)
    running.command("domain", "add", "kept.example", "--org", org_id)
    running.command("app", "set", "kept.example", "--org", org_id, "--android-package", "com.kept")
    made = ("user", "create", "kept@example.com", "--org", org_id, "--password-stdin")
    run_command(*made, environment=running.environment, typed="a long enough one\n")
    return str(running.command("key", "create", "--org", org_id, "--kind", "web")["id"])


@pytest.mark.parametrize(
    ("command", "question"),
    [
        (("key", "revoke", "{key}"), "Revoke the key c_web_…"),
        (("origin", "remove", "https://kept.example", "--org", "{org}"), "Refuse the browser SDK on"),
        (("domain", "remove", "kept.example", "--org", "{org}"), "Remove kept.example?"),
        (("app", "set", "kept.example", "--org", "{org}"), "Remove the apps of kept.example?"),
        (("user", "delete", "kept@example.com"), "Delete the user kept@example.com?"),
        (("privacy", "erase", "--org", "{org}", "--customer", "a"), "Delete everything that is stored about"),
        (("privacy", "retention", "--org", "{org}", "--days", "9"), "Delete data about visitors"),
        (("privacy", "click-retention", "--org", "{org}", "--days", "39"), "Delete single clicks"),
    ],
)
def test_what_deletes_asks_before(
    running: ServiceProcess, org_id: OrgId, kept: str, command: tuple[str, ...], question: str
) -> None:
    """It asks on stderr; a no, and nobody there to answer, change nothing and end with code 1."""
    arguments = [argument.format(key=kept, org=org_id) for argument in command]
    for typed in ("n\n", ""):
        done = invoke(*arguments, environment=running.environment, typed=typed)
        assert (done.exit_code, done.stdout) == (1, "")
        assert question in done.stderr
        assert BEFORE in done.stderr
    [key] = [row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == kept]
    assert key["revoked"] is None
    assert "https://kept.example" in running.command("origin", "list", "--org", org_id)["origins"]
    assert "kept.example" in running.command("domain", "list", "--org", org_id)["domains"]
    assert running.command("app", "list", "--org", org_id)["apps"]
    assert any(user["email"] == "kept@example.com" for user in running.command("user", "list")["users"])
    [stored] = running.stored("organizations", _id=org_id)
    assert {"retention_days", "click_days"}.isdisjoint(stored)


def test_a_yes_goes_on(running: ServiceProcess, org_id: OrgId) -> None:
    """Who answers the question with yes is not asked for --yes; longer retention needs no question."""
    key = running.command("key", "create", "--org", org_id, "--kind", "web")["id"]
    done = invoke("key", "revoke", key, environment=running.environment, typed="y\n")
    assert done.exit_code == 0
    [revoked] = [row for row in running.command("key", "list", "--org", org_id)["keys"] if row["id"] == key]
    assert revoked["revoked"]
    longer = running.command("privacy", "click-retention", "--org", org_id, "--days", "500")
    assert longer["click_days"] == 500


def test_a_key_has_a_name(running: ServiceProcess, org_id: OrgId) -> None:
    """A key may be named when it is made and later; the list and the question before a revocation say it."""
    made = running.command("key", "create", "--org", org_id, "--kind", "rest", "--name", "Shop")
    assert made["name"] == "Shop"
    assert running.command("key", "rename", made["id"], " Warehouse ")["name"] == "Warehouse"
    names = {row["id"]: row["name"] for row in running.command("key", "list", "--org", org_id)["keys"]}
    assert names[made["id"]] == "Warehouse"
    asked = invoke("key", "revoke", made["id"], environment=running.environment, typed="n\n").stderr
    assert f"c_api_…{made['key'][-4:]} (Warehouse)" in asked
    assert "name must not be empty" in running.refusal("key", "rename", made["id"], " ")
    assert "There is no key with the id 'x'" in running.refusal("key", "rename", "x", "a")


def test_an_organization_is_renamed(running: ServiceProcess) -> None:
    """It keeps its id; an unknown one and an empty name are refused."""
    made = running.command("organization", "create", "Before")
    assert running.command("organization", "rename", "After", "--org", made["id"])["name"] == "After"
    listed = running.command("organization", "list")["organizations"]
    assert {"id": made["id"], "name": "After"} in listed
    assert "There is no organization" in running.refusal("organization", "rename", "A", "--org", "x")
    assert "name must not be empty" in running.refusal("organization", "rename", "", "--org", made["id"])


def test_a_domain_with_links_stays(running: ServiceProcess, org_id: OrgId) -> None:
    """Without links the domain and its apps go, and another organization may have it."""
    domain = "leaving.example"
    running.command("domain", "add", domain, "--org", org_id)
    running.command(
        *("app", "set", domain, "--org", org_id, "--ios-team-id", "A1B2C3D4E5", "--ios-bundle-id", "com.a.b")
    )
    link_id = make_link(running, org_id, domain, "a")
    refused = running.refusal("domain", "remove", domain, "--org", org_id, "--yes")
    assert f"The domain {domain} has 1 links, 0 of them archived." in refused
    purge_link(running, org_id, link_id)
    other = running.command("organization", "create", "Next")["id"]
    assert "does not belong to" in running.refusal("domain", "remove", domain, "--org", other, "--yes")
    assert running.command("domain", "remove", domain, "--org", org_id, "--yes")["removed"]
    assert domain not in running.command("domain", "list", "--org", org_id)["domains"]
    running.command("domain", "add", domain, "--org", other)
    assert running.command("app", "list", "--org", other)["apps"] == []


@pytest.fixture
def little_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was under way as a deletion began has come within seconds."""
    monkeypatch.setattr(deleted_organizations, "_TRANSACTIONS_END_WITHIN", timedelta(seconds=3))


@pytest.mark.usefixtures("little_under_way")
def test_a_deletion_says_when_it_is_over(running: ServiceProcess, tmp_path: Path) -> None:
    """It waits until then; who does not wait is told, as is who restores, with what to do: and that works."""
    org_id = running.command("organization", "create", "Moving")["id"]
    archive = str(tmp_path / "archive")
    running.command("export", "--org", org_id, "-o", archive)
    command = ("organization", "delete", "--org", org_id, "--yes")
    begun = running.command(*command, "--no-wait")
    assert begun["deleted"] is False
    over_at = datetime.fromisoformat(begun["goes_on_until"])
    refused = running.refusal("restore", archive)
    assert f"until {over_at:%Y-%m-%d %H:%M:%S} UTC" in refused
    assert f"`waylink organization delete --org {org_id}` waits for that and ends it" in refused
    done = invoke(*command, environment=running.environment)
    assert ("deleted    yes" in done.stdout, datetime.now(UTC) > over_at) == (True, True)
    assert "Waiting for clicks that were just being stored" in done.stderr
    assert running.command("restore", archive)["name"] == "Moving"


@pytest.mark.usefixtures("little_under_way")
def test_an_organization_is_deleted_by_its_name(running: ServiceProcess) -> None:
    """Its name has to be typed, or --yes given; then no command knows it, and its keys are refused."""
    org_id = running.command("organization", "create", "Short lived")["id"]
    running.command("domain", "add", "short.example", "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    command = ("organization", "delete", "--org", org_id)
    for typed in ("Another\n", "y\n", ""):
        done = invoke(*command, environment=running.environment, typed=typed)
        assert (done.exit_code, done.stdout) == (1, "")
        assert "Delete the organization Short lived with 0 links and all data?" in done.stderr
        assert BEFORE in done.stderr
    assert running.command("domain", "list", "--org", org_id)["domains"] == ["short.example"]
    done = invoke(*command, environment=running.environment, typed="Short lived\n")
    assert done.exit_code == 0, done.stderr
    # What it counts is what it deleted itself: the running service may have been quicker at some of it.
    assert {"deleted", "documents"} <= {line.split()[0] for line in done.stdout.splitlines()}
    assert "There is no organization" in running.refusal("domain", "list", "--org", org_id)
    url = f"{running.base_url}/serviceCore/pa/v1/links"
    refused = httpx.get(url, headers={"API-KEY": key}, timeout=60)
    assert refused.status_code == 401
    other = running.command("organization", "create", "Next")["id"]
    running.command("domain", "add", "short.example", "--org", other)
    assert running.command("organization", "delete", "--org", other, "--yes")["deleted"] is True
    assert "There is no organization" in running.refusal("domain", "list", "--org", other)


def test_a_service_ends_a_deletion_that_was_interrupted(mongodb_uri: str, tmp_path: Path) -> None:
    """It begins with that when it starts, and doctor says that it is still to be done. An announced one whose
    day is over it carries out, too."""
    with own_database(mongodb_uri) as variables, MongoClient[dict[str, Any]](mongodb_uri) as client:
        environment = environment_of(tmp_path, **variables)
        org_id = run_command("organization", "create", "Gone", environment=environment)["id"]
        run_command("domain", "add", "gone.example", "--org", org_id, environment=environment)
        database = client[variables["WAYLINK_MONGODB_DATABASE"]]
        begun = {"_id": org_id, "at": datetime(2026, 1, 1, tzinfo=UTC), "is_gone": False}
        database["deleted_organizations"].insert_one(begun)
        announced_id = run_command("organization", "create", "Announced", environment=environment)["id"]
        announced = {"_id": announced_id, "asked_by": "ada@shop.example"}
        database["announced_deletions"].insert_one(announced | {"asked_at": datetime(2026, 1, 1, tzinfo=UTC)})
        examined = invoke("doctor", "--json", environment=environment)
        assert f'"{org_id}", "message": "Its deletion, begun on 2026-01-01 00:00, is not' in examined.stdout
        with service_process(tmp_path, **variables):
            wait_for(
                lambda: database["deleted_organizations"].find_one({"_id": org_id, "is_gone": True}),
                "the service ends the deletion",
                seconds=60,
            )
            assert database["organizations"].find_one({"_id": announced_id}) is None
        assert database["domains"].count_documents({}) == 0


def test_an_announced_deletion_is_listed_and_taken_back(running: ServiceProcess) -> None:
    """The operator sees when it begins and who asked for it, and keeps the organization."""
    org_id = str(running.command("organization", "create", "Kites")["id"])
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as client:
        announced = client[running.environment["WAYLINK_MONGODB_DATABASE"]]["announced_deletions"]
        asked_at = datetime(2099, 1, 1, 12, tzinfo=UTC)
        announced.insert_one({"_id": org_id, "asked_by": "ada@shop.example", "asked_at": asked_at})
    listed = {"org_id": org_id, "name": "Kites", "at": "2099-01-02T12:00:00+00:00"}
    assert running.command("organization", "deletions")["deletions"] == [
        listed | {"asked_by": "ada@shop.example"}
    ]
    assert running.command("organization", "keep", "--org", org_id)["kept"] is True
    assert running.command("organization", "deletions")["deletions"] == []
    assert "No deletion of the organization" in running.refusal("organization", "keep", "--org", org_id)


@pytest.mark.usefixtures("little_under_way")
def test_a_restore_that_was_interrupted_is_given_up(running: ServiceProcess) -> None:
    """The organization does not exist yet: its id is asked for, and then its domain can be added again."""
    org_id, domain = str(uuid.uuid4()), f"{uuid.uuid4().hex}.example"
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as client:
        database = client[running.environment["WAYLINK_MONGODB_DATABASE"]]
        database["restores"].insert_one({"_id": org_id, "fingerprint": "f", "position": 0})
        database["domains"].insert_one({"_id": domain, "org_id": org_id, "is_leaving": True})
    other = str(running.command("organization", "create", "Other")["id"])
    assert "belongs to another" in running.refusal("domain", "add", domain, "--org", other)
    command = ("organization", "delete", "--org", org_id)
    assert "unfinished restore" in running.refusal(*command, typed="no\n")
    assert running.command(*command, "--yes")["deleted"] is True
    running.command("domain", "add", domain, "--org", other)
