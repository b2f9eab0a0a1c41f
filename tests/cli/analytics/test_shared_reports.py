"""`waylink report share`, `list` and `revoke`: as over REST."""

from __future__ import annotations

import json
from typing import Any

import httpx

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke


def test_a_report_is_shared_listed_and_revoked(running: ServiceProcess, org_id: OrgId) -> None:
    """Its URL is printed, and opens the report until it is revoked; a password is read and never printed."""
    options = (
        *("--measures", "clicks,conversions,revenue", "--group-by", "day", "--period", "last_28_days"),
        *("--filter", "campaign=spring", "--filter-not", "country=", "--compare", "previous"),
        *("--expires-at", "2099-01-01T00:00Z", "--embed-origin", "https://shop.example"),
    )
    share = ("report", "share", "--org", org_id, "--name", "Spring", *options)
    typed = invoke(*share, "--password-stdin", "--json", environment=running.environment, typed="kites-42\n")
    assert "kites" not in typed.output
    made = json.loads(typed.stdout)
    assert made["query"] == {
        "measures": ["clicks", "conversions", "revenue"],
        "group_by": ["day"],
        "period": "last_28_days",
        "filters": {"campaign": ["spring"], "country": {"not": [None]}},
        "compare": "previous",
    }
    assert (made["shows_revenue"], made["has_password"]) == (False, True)
    assert made["embed_origins"] == ["https://shop.example"]
    assert running.command("report", "list", "--org", org_id) == {"reports": [made]}
    printed = invoke(*share, "--shows-revenue", environment=running.environment)
    assert printed.stdout.strip().startswith(f"{running.base_url}/shared/")
    assert httpx.get(printed.stdout.strip(), timeout=60).status_code == 200
    assert "This report has a password" in httpx.get(made["url"], timeout=60).text
    of_cohorts = ("--measures", "revenue_per_customer,customers", "--weeks", "4", "--added-up")
    cohorts = running.command(*share[: -len(options)], "--kind", "cohorts", *of_cohorts)
    assert cohorts["query"] == {
        "measures": ["revenue_per_customer", "customers"],
        "weeks": 4,
        "added_up": True,
        "filters": {},
    }
    revoked = running.command("report", "revoke", made["id"], "--org", org_id, "--yes")
    assert revoked == {"id": made["id"], "revoked": True}
    assert httpx.get(made["url"], timeout=60).status_code == 404
    again = running.refusal("report", "revoke", made["id"], "--org", org_id, "--yes")
    assert "The organization has no such report" in again


def test_overviews_and_funnels_are_shared(running: ServiceProcess, org_id: OrgId) -> None:
    """An overview has its own figures and tables unless others are given; a funnel has its saved steps."""
    share = ("report", "share", "--org", org_id, "--name", "x")
    overview = running.command(*share, "--kind", "overview", "--period", "last_7_days")
    assert (overview["kind"], overview["query"]) == ("overview", {"filters": {}, "period": "last_7_days"})
    listed = running.command(
        *share, "--kind", "links", "--filter", "campaign=spring", "--order-by", "-clicks"
    )
    assert listed["query"] == {"filters": {"campaign": "spring"}, "order_by": "-clicks"}
    tables = running.command(*share, "--kind", "overview", "--group-by", "tag,country", "--limit", "5")
    assert tables["query"] == {"filters": {}, "group_by": ["tag", "country"], "limit": 5}
    headers = {"API-KEY": running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]}
    steps: list[dict[str, Any]] = [
        {"kind": "click", "name": None, "filters": {}},
        {"kind": "lead", "name": None, "filters": {}},
    ]
    saved = {"name": "Trial", "steps": steps, "within_days": 3}
    api = f"{running.base_url}/serviceCore/pa/v1/funnels"
    assert httpx.post(api, json=saved, headers=headers, timeout=60).status_code == 201
    funnel = running.command(*share, "--funnel", "Trial", "--group-by", "country", "--period", "today")
    assert funnel["kind"] == "funnel"
    assert funnel["query"] == {
        "steps": steps,
        "by": "device",
        "within_days": 3,
        "ordered": True,
        "group_by": ["country"],
        "period": "today",
    }
    page = httpx.get(funnel["url"], timeout=60)
    assert (page.status_code, "Nobody did the first step" in page.text) == (200, True)
    assert "There is no funnel Other. Saved are: Trial." in running.refusal(*share, "--funnel", "Other")
    wrong = running.refusal(*share, "--funnel", "Trial", "--measures", "clicks")
    assert "--measures is not a field of this request" in wrong


def test_what_is_wrong_names_its_option(running: ServiceProcess, org_id: OrgId) -> None:
    """Fields of the query and of the report are told by the options that gave them."""
    share = ("report", "share", "--org", org_id, "--name", "x")
    for options, rule in (
        (("--measures", "revenue"), "--measures must have one that is no amount"),
        (("--filter", "day=x"), "--filter day can't be filtered by"),
        (("--period", "today", "--from", "2026-01-01"), "--period can't be given together with from"),
        (("--limit", "5000"), "--limit must be a whole number from 1 to 1000"),
        (("--expires-at", "soon"), "--expires-at must be an ISO 8601 time"),
        (("--embed-origin", "x"), "--embed-origin must have origins"),
        (("--measures", "installs"), "Installs need an active paid subscription"),
    ):
        assert rule in running.refusal(*share, *options), options
