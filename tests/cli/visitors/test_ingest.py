"""The commands about what browsers sent, beside a running service that browsers send to."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import uuid
from typing import Any

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.facts.sdk_batches import BATCH, Call, call, check, conversion, timestamp
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess, invoke

ORIGIN = "https://shop.example"


@pytest.fixture
def org_id(running: ServiceProcess) -> OrgId:
    """An organization with an origin."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    running.command("origin", "add", ORIGIN, "--org", org_id)
    return org_id


def post(running: ServiceProcess, org_id: OrgId, *calls: Call, origin: str = ORIGIN, device: str = "") -> int:
    """Send a batch as a browser does, with a new key; gives the status."""
    body = {
        "api_key": running.command("key", "create", "--org", org_id, "--kind", "web")["key"],
        "device_id": device or str(uuid.uuid4()),
        "sdk": "js/test",
        "sent_at": timestamp(),
        "calls": calls,
    }
    return httpx.post(running.base_url + BATCH, json=body, headers={"Origin": origin}, timeout=60).status_code


def refund(running: ServiceProcess, org_id: OrgId, item: dict[str, Any]) -> None:
    """Tell a refund as a server does, with a new key."""
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    url = f"{running.base_url}/serviceCore/pa/v1/conversions/refund"
    answer = httpx.post(url, json=item, headers={"API-KEY": key}, timeout=60)
    assert answer.json() == {"results": [{"status": "accepted"}]}


def printed(running: ServiceProcess, *arguments: str) -> str:
    """What a command prints without --json."""
    done = invoke(*arguments, environment=running.environment)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_the_report_in_every_form(running: ServiceProcess, org_id: OrgId) -> None:
    """One report as a table, CSV, JSON lines and one JSON object; hostile names are inert in all of them."""
    assert (
        post(running, org_id, check(utm_source="=cmd()"), conversion(customer_id="ada"), call("lead")) == 200
    )
    assert post(running, org_id, conversion(revenue=5, currency="USD", transaction_id="t")) == 200
    refund(running, org_id, {"refund_id": "r", "transaction_id": "t", "amount": 1.25, "currency": "USD"})
    measures = "leads,conversions,contacts,customers,revenue,refunds,net_revenue"
    command = ("report", "analytics", "--org", org_id, "--group-by", "source", "--measures", measures)

    def amounts(amount: str, currency: str = "EUR") -> list[dict[str, str]]:
        return [{"currency": currency, "amount": amount}]

    def one_in(currency: str) -> dict[str, Any]:
        return {"conversions": 1, "conversions_by_currency": [{"currency": currency, "conversions": 1}]}

    row: dict[str, Any] = {"source": "=cmd()", "leads": 1, "contacts": 1, "customers": 1} | one_in("EUR")
    row |= {"revenue": amounts("19.99"), "refunds": [], "net_revenue": amounts("19.99")}
    other: dict[str, Any] = {"source": None, "kind": "not_credited", "leads": 0, "contacts": 0}
    other |= one_in("USD")
    other |= {"customers": 0, "revenue": amounts("5.00", "USD"), "refunds": amounts("1.25", "USD")}
    rows = [row, other | {"net_revenue": amounts("3.75", "USD")}]
    assert running.command(*command)["rows"] == rows
    lines = printed(running, *command, "--format", "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(printed(running, *command, "--format", "csv").splitlines()))
    assert [(row["source"], row["kind"], row["revenue_EUR"], row["net_revenue_USD"]) for row in table] == [
        ("'=cmd()", "", "19.99", "0"),
        ("", "not_credited", "0", "3.75"),
    ]
    head, *body = printed(running, *command).splitlines()
    assert re.split("  +", head) == [
            "SOURCE", "LEADS", "CONVERSIONS", "CONVERSIONS EUR", "CONVERSIONS USD", "CONTACTS", "CUSTOMERS",
            "REVENUE EUR", "REVENUE USD", "REFUNDS EUR", "REFUNDS USD", "NET REVENUE EUR", "NET REVENUE USD",
        ]  # fmt: skip
    assert [re.split("  +", line)[0] for line in body] == ["=cmd()", "(not credited)", "TOTAL"]


def test_what_was_rejected(running: ServiceProcess, org_id: OrgId) -> None:
    """A row for each kind, field and reason, the latest first, with its calls; nothing of what they said."""
    assert post(running, org_id, conversion(revenue=-1), conversion(revenue=-2), call("event")) == 200
    rows = running.command("report", "rejected", "--org", org_id)["rejected"]
    assert sorted((row["kind"], row["field"], row["reason"], row["calls"]) for row in rows) == [
        ("conversion", "revenue", "must be a finite number of 0 or more", 2),
        ("event", "name", "field is required", 1),
    ]
    assert "field is required" in printed(running, "report", "rejected", "--org", org_id)
    assert "There is no organization" in running.refusal("report", "rejected", "--org", "nobody")


def test_refused_origins_are_shown(running: ServiceProcess, org_id: OrgId) -> None:
    """A site owner sees which origins were kept out, how often and why."""
    statuses = [
        post(running, org_id, conversion(), origin=origin)
        for origin in ("http://shop.example", "http://shop.example", "https://www.shop.example")
    ]
    assert statuses == [403, 403, 403]
    refused = running.command("origin", "refused", "--org", org_id)["refused"]
    assert [(row["origin"], row["requests"], row["reason"]) for row in refused] == [
        ("https://www.shop.example", 1, "not an Allowed Web Origin"),
        ("http://shop.example", 2, "not an Allowed Web Origin"),
    ]


def test_a_person_is_exported_and_erased(running: ServiceProcess, org_id: OrgId) -> None:
    """Access and erasure by each name of a person; the address itself is hashed before it is looked for."""
    email_hash = hashlib.sha256(b"ada@example.com").hexdigest()
    device = str(uuid.uuid4())
    identify = call("identify", customer_id="ada", email_sha256=email_hash)
    assert post(running, org_id, identify, conversion(), device=device) == 200
    for names in (("--email", " Ada@Example.com "), ("--device", device), ("--customer", "ada")):
        exported = running.command("privacy", "export", "--org", org_id, *names)
        assert [sale["revenue"] for sale in exported["conversions"]] == ["19.99"]
        assert len(exported["devices"]) == 1
    erased = running.command("privacy", "erase", "--org", org_id, "--customer", "ada", "--yes")
    assert (erased["conversions"], erased["devices"], erased["contacts"]) == (1, 1, 1)
    assert running.command("privacy", "export", "--org", org_id, "--device", device)["devices"] == []


def test_an_erasure_says_whom_it_will_reach(running: ServiceProcess, org_id: OrgId) -> None:
    """Before it asks: each customer, and who said so, a server, a browser or an order."""
    email_hash, device = hashlib.sha256(b"ada@example.com").hexdigest(), str(uuid.uuid4())
    sale = conversion(transaction_id="t-1", customer_id="ada")
    assert post(running, org_id, sale, device=device) == 200
    claimed = call("identify", customer_id="bob", email_sha256=email_hash)
    away = str(uuid.uuid4())
    assert post(running, org_id, claimed, device=away) == 200
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    told = {"customer_id": "ada", "email_sha256": email_hash}
    url = f"{running.base_url}/serviceCore/pa/v1/identities"
    assert httpx.post(url, json=told, headers={"API-KEY": key}, timeout=60).status_code == 200
    for names, lines in (
        (("--customer", "ada"), ["Customer ada, with 1 device (said by browser, order, server)"]),
        (
            ("--email", "ada@example.com"),
            [
                "Customer ada, with 1 device (said by server)",
                f"Customer bob, only what was done on device {away} (said by browser)",
            ],
        ),
        (
            ("--device", device),
            [f"Customer ada, only what was done on device {device} (said by browser, order)"],
        ),
        (("--customer", "eve"), ["Customer eve, with 0 devices (said by nobody yet)"]),
    ):
        erase = ("privacy", "erase", "--org", org_id, *names)
        shown = invoke(*erase, environment=running.environment, typed="n\n").stderr
        assert [line for line in lines if line not in shown] == []
        assert "Delete everything that is stored about this person?" in shown
    assert len(running.command("privacy", "export", "--org", org_id, "--customer", "ada")["conversions"]) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("privacy", "erase"), "Name one of --customer, --device, --install, --email and --email-sha256."),
        (("privacy", "erase", "--customer", "a", "--device", "b"), "Name one of"),
        (("privacy", "export", "--device", "b"), "'b' is not a UUID"),
        (("privacy", "retention", "--days", "0"), "is not a number from 1 to 36500, or none"),
        (("privacy", "retention", "--days", "9" * 5000), "is not a number from 1 to 36500, or none"),
        (("privacy", "click-retention", "--days", "31"), "is not a number from 32 to 36500, or none"),
    ],
)
def test_bad_input_is_named(running: ServiceProcess, arguments: tuple[str, ...], sentence: str) -> None:
    """A command that can't be carried out says what is wrong, without a traceback."""
    assert sentence in running.refusal(*arguments, "--org", "nobody")


def test_the_device_cookie_is_a_setting(running: ServiceProcess, org_id: OrgId) -> None:
    """It is switched on and off, with the domain that the sites chose, in the one form that is compared."""
    on = running.command(
        "organization", "set", "--org", org_id, "--device-cookie", "on", "--cookie-domain", ".Shop.Example"
    )
    assert on == {"org_id": org_id, "device_cookie": "on", "cookie_domain": "shop.example"}
    off = running.command("organization", "set", "--org", org_id, "--device-cookie", "off")
    assert off == {"org_id": org_id, "device_cookie": "off", "cookie_domain": None}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--device-cookie", "maybe"], "'maybe' is not one of"),
        (["--device-cookie", "on", "--cookie-domain", "com"], "'com' is not a domain"),
        (["--device-cookie", "on", "--cookie-domain", "a b.com"], "must be a host name"),
        (["--device-cookie", "on", "--cookie-domain", "co.uk"], "'co.uk' is not a domain"),
        (["--device-cookie", "on", "--cookie-domain", "github.io"], "'github.io' is not a domain"),
        (["--device-cookie", "on", "--cookie-domain", "xn--.com"], "'xn--.com' must be a host name"),
        (["--device-cookie", "on", "--cookie-domain", "10.0.0.1"], "'10.0.0.1' is not a domain"),
        (["--device-cookie", "on", "--org", "none"], "There is no organization with the id 'none'"),
    ],
)
def test_bad_settings_of_the_device_cookie(
    running: ServiceProcess, org_id: OrgId, arguments: list[str], sentence: str
) -> None:
    """A wrong word, what is no domain, and an unknown organization are named, and nothing is changed."""
    assert sentence in running.refusal("organization", "set", "--org", org_id, *arguments)


def test_single_clicks(running: ServiceProcess, org_id: OrgId) -> None:
    """A visit is printed in both forms once it is stored; what is wrong is named."""
    domain = f"go.{uuid.uuid4().hex[:8]}.example"
    running.command("domain", "add", domain, "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    body = {"domain": domain, "selected_path": "a", "destination_url": ORIGIN, "link_name": "A"}
    made = httpx.post(
        f"{running.base_url}/serviceCore/pa/v1/create-link", json=body, headers={"API-KEY": key}, timeout=60
    )
    assert httpx.get(f"{running.base_url}/a", headers={"Host": domain}, timeout=60).status_code == 302
    command = ("report", "clicks", "--org", org_id, "--from", "2026-01-01")
    lines = wait_for(
        lambda: printed(running, *command, "--format", "ndjson").splitlines(), "not stored", bool
    )
    assert [json.loads(line)["short_url"] for line in lines] == [made.json()["short_url"]]
    assert [row["outcome"] for row in csv.DictReader(printed(running, *command).splitlines())] == ["web"]
    kept = running.command("privacy", "click-retention", "--org", org_id, "--days", "40", "--yes")
    assert kept["click_days"] == 40
    for wrong, reason in (
        (("--link", "x"), "no link with the id"),
        (("--link", ""), "no link with the id"),
        (("--to", "2025-01-01"), "must not be before"),
        (("--to", "soon"), "must be a date"),
    ):
        assert reason in running.refusal(*command, *wrong)
