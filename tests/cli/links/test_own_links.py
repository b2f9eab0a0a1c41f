"""`waylink links list|show|create|update|archive`: links of an organization, as over REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke, run_command
from tests.web.qr_codes.test_drawing import image_file, pages, texts

DOMAIN = "go.own.localhost"
USUAL = ("--domain", DOMAIN, "--destination", "https://shop.example/", "--name", "Spring")


@pytest.fixture(scope="module")
def org(running: ServiceProcess, org_id: OrgId) -> str:
    """An organization with a domain and a tag."""
    running.command("domain", "add", DOMAIN, "--org", org_id)
    assert over_rest(running, org_id, "POST", "/tags", {"name": "Shoes"})["name"] == "Shoes"
    return org_id


@pytest.fixture(scope="module")
def other_org(running: ServiceProcess) -> str:
    """Another organization."""
    other: str = running.command("organization", "create", "Other")["id"]
    return other


def over_rest(running: ServiceProcess, org: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """What REST answers."""
    key = running.command("key", "create", "--org", org, "--kind", "rest")["key"]
    url = f"{running.base_url}/serviceCore/pa/v1{path}"
    answer: dict[str, Any] = httpx.request(
        method, url, json=body, headers={"API-KEY": key}, timeout=60
    ).json()
    return answer


def create(running: ServiceProcess, org: str, *options: str) -> dict[str, Any]:
    """A link made by the command."""
    return running.command("links", "create", "--org", org, *USUAL, *options)


def lines(running: ServiceProcess, *arguments: str) -> dict[str, str]:
    """What a command prints for people: values by the names before them."""
    done = invoke("links", *arguments, environment=running.environment)
    assert done.exit_code == 0, done.stderr
    pairs = (line.partition("  ")[::2] for line in done.stdout.splitlines())
    return {name: value.strip() for name, value in pairs}


def refused(running: ServiceProcess, *arguments: str) -> dict[str, str]:
    """The error for programs of a command that must fail."""
    error: dict[str, str] = json.loads(running.refusal("links", *arguments, "--json"))
    return error


def test_a_link_is_made_and_shown_as_over_rest(running: ServiceProcess, org: str) -> None:
    """With every field an option or --field gives; --json is REST's link, and text says it in words."""
    rules = [{"if": {"country": ["DE"]}, "then": {"destination_url": "https://de.example/"}}]
    made = create(
        running, org, "--path", "spring", "--utm-source", "mail", "--tag", "shoes", "--max-clicks", "5",
        "--click-to-continue",
        "--expires-at", "2099-01-01T00:00:00Z", "--field", f"rules={json.dumps(rules)}",
        "--field", 'social_title="Hello"', "--field", "ios_behavior=2",
    )  # fmt: skip
    assert made == over_rest(running, org, "GET", f"/links/{made['id']}")
    assert (made["tags"], made["max_clicks"], made["social_title"]) == (["Shoes"], 5, "Hello")
    assert made["click_to_continue"]
    assert made["created_by"] == "api_user"  # no key made it
    for name in (made["id"], f"https://{DOMAIN}/spring", f"{DOMAIN}/spring"):
        assert running.command("links", "show", name, "--org", org) == made
    words = lines(running, "show", made["id"], "--org", org)
    assert words["rule 1"] == "If the country is DE, go to https://de.example/"
    assert (words["tags"], words["ios_behavior"]) == ("Shoes", "opens in the app")
    assert made.keys() - words.keys() == {"rules"}


def test_refused_fields_are_named(running: ServiceProcess, org: str) -> None:
    """By their option for people, by their name in REST for programs, with what to do next."""
    command = ("create", "--org", org, *USUAL)
    error = refused(running, *command, "--expires-at", "soon")
    assert error["field"] == "expires_at"
    assert error["error"].startswith("--expires-at must be an ISO 8601 time")
    assert "--help" in running.refusal("links", *command, "--expires-at", "soon")
    assert refused(running, "create", "--org", org) == {"error": "--domain is required", "field": "domain"}
    assert (
        "waylink domain add no.localhost" in refused(running, *command, "--domain", "no.localhost")["error"]
    )
    assert refused(running, *command, "--tag", "Gone")["field"] == "tags"
    assert refused(running, *command, "--field", "colour=1")["error"].startswith("--field colour is not")
    assert "quotation marks" in refused(running, *command, "--field", "social_title=Hi")["error"]
    assert "given once" in refused(running, *command, "--field", 'link_name="A"')["error"]
    create(running, org, "--path", "taken")
    error = refused(running, *command, "--path", "taken")
    assert (error["field"], "choose another" in error["error"]) == ("selected_path", True)
    loop = refused(running, *command, "--path", "me", "--destination", f"https://{DOMAIN}/me")
    assert loop["field"] == "destination_url"


def test_a_link_is_changed(running: ServiceProcess, org: str) -> None:
    """Only in what is given, and "" clears; nothing at all is refused, and one bad field among good ones."""
    made = create(running, org, "--utm-source", "mail", "--external-id", "sku-1")
    command = ("links", "update", made["id"], "--org", org)
    changed = running.command(
        *command, "--name", "Autumn", "--utm-source", "", "--add-tag", "Shoes", "--disabled"
    )
    assert changed["state"] == "disabled"
    assert changed == made | {
        "link_name": "Autumn",
        "utm_source": None,
        "tags": ["Shoes"],
        "is_enabled": False,
        "state": "disabled",
        "modified_at": changed["modified_at"],
    }
    assert "at least one field" in running.refusal(*command)
    assert "--max-clicks" in running.refusal(*command, "--name", "B", "--max-clicks", "0")
    assert "--field domain can't be changed" in running.refusal(*command, "--field", 'domain="a.example"')
    assert running.command("links", "show", made["id"], "--org", org) == changed
    assert create(running, org, "--external-id", "sku-1")["id"] == made["id"]


def test_passwords_are_no_arguments(running: ServiceProcess, org: str) -> None:
    """They are read from standard input or asked for, twice; not shown; and taken away again."""
    command = ("links", "create", "--org", org, *USUAL)
    environment = running.environment
    made = run_command(*command, "--password-stdin", environment=environment, typed="secret\n")
    assert made["has_password"] is True
    update = ("links", "update", made["id"], "--org", org)
    assert running.command(*update, "--no-password")["has_password"] is False
    done = invoke(*update, "--password", environment=environment, typed="open sesame\nopen sesame\n")
    assert (done.exit_code, "sesame" in done.output) == (0, False)
    assert running.command("links", "show", made["id"], "--org", org)["has_password"] is True
    assert "--password must have" in running.refusal(*command, "--password-stdin", typed="abc\n")
    message = running.refusal(*command, "--field", 'password="secret"')
    assert "use --password or --password-stdin" in message


def test_a_link_is_archived_and_brought_back(running: ServiceProcess, org: str) -> None:
    """Not without a confirmation; an archived link is shown, and in lists that ask for it."""
    made = create(running, org)
    command = ("links", "archive", made["short_url"], "--org", org)
    assert "not confirmed" in running.refusal(*command, typed="n\n")
    assert running.command(*command, "--yes")["state"] == "archived"
    assert running.command("links", "show", made["id"], "--org", org)["is_archived"] is True
    listed = running.command("links", "list", "--org", org, "--state", "archived")["links"]
    assert [link["id"] for link in listed] == [made["id"]]
    assert running.command(*command, "--undo")["state"] == "enabled"


def test_links_are_listed(running: ServiceProcess, org: str) -> None:
    """By the filters and orders of REST, as many as are asked for, as a table with headings."""
    for name in ("c", "a", "b"):
        create(running, org, "--name", f"Listed {name}", "--utm-campaign", "listed", "--tag", "Shoes")
    command = ("links", "list", "--org", org, "--campaign", "listed")
    by_name = running.command(*command, "--sort", "-name", "--limit", "2")
    assert [link["link_name"] for link in by_name["links"]] == ["Listed c", "Listed b"]
    assert by_name["has_more"] is True
    by_clicks = running.command(*command, "--sort", "clicks_30", "--tag", "shoes", "--search", "Listed")
    assert (len(by_clicks["links"]), by_clicks["has_more"]) == (3, False)
    rest = over_rest(running, org, "GET", "/links?campaign=listed&sort=-name&size=2")
    assert by_name["links"] == rest["links"]
    done = invoke(*command, "--sort", "name", "--limit", "1", environment=running.environment)
    heading, row = done.stdout.splitlines()
    assert heading.split() == ["SHORT", "URL", "NAME", "STATE", "DESTINATION", "CLICKS"]
    assert row.split()[1:] == ["Listed", "a", "enabled", "https://shop.example/", "0"]
    assert "more links match" in done.stderr
    assert refused(running, *command[1:], "--state", "gone")["field"] == "state"
    assert refused(running, *command[1:], "--sort", "size")["field"] == "sort"


def test_links_of_others_are_not_found(running: ServiceProcess, org: str, other_org: str) -> None:
    """Neither shown, changed, archived nor listed, by id or short URL; nor is a domain of others used."""
    made = create(running, org)
    for name in (made["id"], made["short_url"], "nothing"):
        for arguments in (["show"], ["update", "--name", "Mine"], ["archive", "--yes"]):
            message = running.refusal("links", *arguments, name, "--org", other_org)
            assert "has no link" in message
    assert running.command("links", "list", "--org", other_org)["links"] == []
    assert refused(running, "create", "--org", other_org, *USUAL)["field"] == "domain"
    assert running.command("links", "show", made["id"], "--org", org) == made
    assert "There is no organization" in running.refusal("links", "list", "--org", "nobody")


def test_qr_codes(running: ServiceProcess, org: str, other_org: str, tmp_path: Path) -> None:
    """Codes in a style with the organization's logo, and sheets, are files that a decoder reads."""
    made, other = create(running, org, "--path", "qr"), create(running, org, "--path", "qr/2")
    image = tmp_path / "logo.png"
    image.write_bytes(image_file(60, 40))
    logo = ("links", "qr-logo", "--org", org)
    assert running.command(*logo) == {"has_logo": False}
    code = ("qr", made["short_url"], "--org", org, "--logo", "--color", "1f5fbf", "--text", "Scan me")
    file = tmp_path / "code.png"
    assert refused(running, *code, "--output", str(file))["field"] == "logo"
    assert running.command(*logo, "--set", str(image)) == {"has_logo": True}
    running.command("links", *code, "--output", str(file))
    assert texts(Image.open(file)) == [made["short_url"]]
    sheet = tmp_path / "sheet.pdf"
    named = (made["id"], other["short_url"], "--org", org, "--output", str(sheet))
    assert running.command("links", "qr-sheet", *named)["labels"] == 2
    assert len(texts(pages(sheet.read_bytes(), 3)[0])) == 2
    for wrong, field in (
        ((*code, "--output", "code.gif"), "output"),
        (("qr", made["id"], "--org", org, "--color", "ff0", "--output", str(file)), "color"),
        (("qr-sheet", "--org", org, "--output", str(sheet)), "links"),
    ):
        assert refused(running, *wrong)["field"] == field
    assert refused(running, "qr", made["id"], "--org", other_org, "--output", str(file))
    assert running.command(*logo, "--remove") == {"has_logo": False}
