"""`waylink webhook …`: webhooks of an organization, as over REST."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, free_port, invoke
from tests.webhooks.receiver import Receiver, receiver


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver of this test's own."""
    with receiver() as started:
        yield started


def create(running: ServiceProcess, org_id: OrgId, url: str, *options: str) -> dict[str, Any]:
    """A webhook made by the command."""
    return running.command("webhook", "create", "--org", org_id, "--url", url, *options)


def read(running: ServiceProcess, *arguments: str) -> str:
    """What a command prints for people."""
    done = invoke("webhook", *arguments, environment=running.environment)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def refused(running: ServiceProcess, *arguments: str) -> dict[str, str]:
    """The error for programs of a command that must fail."""
    error: dict[str, str] = json.loads(running.refusal("webhook", *arguments, "--json"))
    return error


def test_a_webhook_is_made_listed_changed_and_deleted(running: ServiceProcess, org_id: OrgId) -> None:
    """With options for each field; its secret is printed where it is made, and replaced, only."""
    options = ("--type", "click", "--type", "lead", "--form", "slack", "--batch-size", "20")
    made = create(running, org_id, "https://crm.example/a", *options)
    secret = made.pop("secret")
    assert (made["types"], made["form"], made["batch_size"]) == (["click", "lead"], "slack", 20)
    assert running.command("webhook", "list", "--org", org_id) == {"webhooks": [made]}
    words = read(running, "list", "--org", org_id)
    assert words.split("\n")[0].split() == [
        "ID",
        "URL",
        "TYPES",
        "STATE",
        "TOLD",
        "UP",
        "TO",
        "LAST",
        "ERROR",
    ]
    assert "click, lead" in words
    one = (made["id"], "--org", org_id)
    changed = running.command("webhook", "change", *one, "--all-types", "--disabled")
    assert changed == made | {"types": [], "is_enabled": False, "state": "disabled"}
    rotated = running.command("webhook", "rotate-secret", *one)
    assert rotated["secret"] not in {secret, ""}
    for command in ("go-on", "deliveries"):
        assert "whsec_" not in read(running, command, *one)
    assert "whsec_" not in read(running, "list", "--org", org_id)
    assert "not confirmed" in running.refusal("webhook", "delete", *one, "--json")
    assert running.command("webhook", "delete", *one, "--yes") == {"id": made["id"], "deleted": True}
    assert read(running, "list", "--org", org_id) == "(none)\n"


def test_a_test_tells_what_was_answered(running: ServiceProcess, org_id: OrgId, hook: Receiver) -> None:
    """The command prints it at once, and it is among the deliveries then."""
    made = create(running, org_id, hook.url(), "--type", "open")
    one = (made["id"], "--org", org_id)
    assert running.command("webhook", "test", *one)["status"] == 204
    assert hook.requests[0].verify(made["secret"]) == hook.requests[0].json
    hook.answer = lambda _: (500, {}, "")
    assert running.command("webhook", "test", *one)["error"] == "The receiver answered with status 500"
    running.command("webhook", "change", *one, "--url", f"http://127.0.0.1:{free_port()}/")
    assert "The receiver does not answer" in read(running, "test", *one)
    deliveries = running.command("webhook", "deliveries", *one)["deliveries"]
    assert [delivery["status"] for delivery in deliveries] == [None, 500, 204]


def test_a_replay(running: ServiceProcess, org_id: OrgId) -> None:
    """From a time that was; another one is refused."""
    made = create(running, org_id, "https://crm.example/b", "--disabled")
    one = (made["id"], "--org", org_id)
    assert running.command("webhook", "replay", *one, "--from", "2026-01-01")["id"] == made["id"]
    error = refused(running, "replay", *one, "--from", "2999-01-01")
    assert error == {"error": "--from must not lie in the future", "field": "since"}
    assert "--from must be a date" in refused(running, "replay", *one, "--from", "soon")["error"]


@pytest.mark.parametrize(
    ("arguments", "error", "field"),
    [
        (("create",), "--url is required", "url"),
        (("create", "--url", "http://crm.example/"), "--url must be an https URL", "url"),
        (
            ("create", "--url", "https://crm.example/", "--batch-size", "0"),
            "--batch-size must be a whole number from 1 to 100",
            "batch_size",
        ),
        (
            ("create", "--url", "https://crm.example/", "--tag", "None"),
            "--tag has a tag that was not found: None",
            "tags",
        ),
    ],
)
def test_a_bad_field_is_named(
    running: ServiceProcess, org_id: OrgId, arguments: tuple[str, ...], error: str, field: str
) -> None:
    """By the option that gave it, and for programs by its name."""
    refusal = refused(running, *arguments, "--org", org_id)
    assert refusal == {"error": error, "field": field}


@pytest.mark.parametrize(
    "command",
    [
        ("change", "--disabled"), ("delete", "--yes"), ("test",), ("replay", "--from", "2026-01-01"),
        ("go-on",), ("rotate-secret",), ("deliveries",),
    ],
)  # fmt: skip
def test_a_webhook_of_another_organization(
    running: ServiceProcess, org_id: OrgId, command: tuple[str, ...]
) -> None:
    """It is not found, and the message says which command lists one's own."""
    other = running.command("organization", "create", "Other")["id"]
    theirs = create(running, OrgId(other), "https://crm.example/c")
    name, *options = command
    error = refused(running, name, theirs["id"], "--org", org_id, *options)["error"]
    assert error == (
        f"The organization has no such webhook; `waylink webhook list --org {org_id}` lists its webhooks."
    )
    (after,) = running.command("webhook", "list", "--org", other)["webhooks"]
    assert after == {name: value for name, value in theirs.items() if name != "secret"}
