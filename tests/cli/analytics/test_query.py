"""`waylink report analytics`: what the query engine gives, in every form."""

from __future__ import annotations

import csv
import json
import re
import uuid
from datetime import UTC, date, datetime, timedelta

import httpx
import pytest

from backend.domain.ids import OrgId
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess, invoke

REPORT = ("report", "analytics", "--org")


@pytest.fixture(scope="module")
def clicked(running: ServiceProcess) -> OrgId:
    """An organization with a link of a campaign with a hostile name, clicked twice, and one without any."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    domain = f"go.{uuid.uuid4().hex[:8]}.example"
    running.command("domain", "add", domain, "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    for path, campaign in (("a", {"utm_campaign": "=cmd()"}), ("b", {})):
        body = {
            "domain": domain, "selected_path": path, "destination_url": "https://shop.example/",
            "link_name": f"Link {path}", **campaign,
        }  # fmt: skip
        url = f"{running.base_url}/serviceCore/pa/v1/create-link"
        assert httpx.post(url, json=body, headers={"API-KEY": key}, timeout=60).status_code == 201
    for path in "aab":
        visit = httpx.get(f"{running.base_url}/{path}", headers={"Host": domain}, timeout=60)
        assert visit.status_code == 302
    wait_for(
        lambda: running.command(*REPORT, org_id)["totals"]["clicks"],
        "not counted",
        lambda clicks: clicks == 3,
    )
    return org_id


def printed(running: ServiceProcess, *arguments: str) -> tuple[str, str]:
    """What a command prints without --json, and on stderr."""
    done = invoke(*arguments, environment=running.environment)
    assert done.exit_code == 0, done.stderr
    return done.stdout, done.stderr


def test_properties_of_events(running: ServiceProcess, clicked: OrgId) -> None:
    """They are marked and unmarked by a command; a report by one that is not marked says how."""
    mark = ("organization", "event-properties", "--org", clicked)
    assert running.command(*mark)["properties"] == ""
    by_plan = (*REPORT, clicked, "--measures", "events", "--group-by", "event.plan")
    refused = invoke(*by_plan, environment=running.environment)
    assert refused.exit_code == 2
    assert (
        "--group-by can't be by event.plan: the organization has not marked this property" in refused.stderr
    )
    assert running.command(*mark, "--mark", "plan", "--mark", "a b")["properties"] == "plan, a b"
    asked = running.command(*by_plan, "--filter", "event.a b=x")
    assert (asked["rows"], asked["totals"]) == ([], {"events": 0})
    assert running.command(*mark, "--unmark", "plan")["properties"] == "a b"
    wrong = invoke(*mark, "--mark", "$x", environment=running.environment)
    assert wrong.exit_code == 2
    assert "--mark must have from 1 to 64 characters" in wrong.stderr


def test_every_form(running: ServiceProcess, clicked: OrgId) -> None:
    """One report as a table with headings and totals, CSV, JSON lines and one JSON object."""
    command = (*REPORT, clicked, "--group-by", "campaign", "--measures", "clicks,conversions,revenue")
    whole = running.command(*command)
    assert whole["rows"] == [
        {"campaign": "=cmd()", "clicks": 2, "conversions": 0, "conversions_by_currency": [], "revenue": []},
        {"campaign": None, "clicks": 1, "conversions": 0, "conversions_by_currency": [], "revenue": []},
    ]
    table, notes = printed(running, *command)
    assert [re.split("  +", line) for line in table.splitlines()] == [
        ["CAMPAIGN", "CLICKS", "CONVERSIONS", "REVENUE"],
        ["=cmd()", "2", "0", "-"], ["(none)", "1", "0", "-"],
        ["TOTAL", "3", "0"],
    ]  # fmt: skip
    assert notes == "".join(f"Note: {note}\n" for note in whole["notes"])
    lines = printed(running, *command, "--format", "jsonl")[0].splitlines()
    assert [json.loads(line) for line in lines] == whole["rows"]
    rows = list(csv.DictReader(printed(running, *command, "--format", "csv")[0].splitlines()))
    assert [(row["campaign"], row["clicks"]) for row in rows] == [("'=cmd()", "2"), ("", "1")]


def test_each_option(running: ServiceProcess, clicked: OrgId) -> None:
    """Time, zone, filters, comparison, currency, order and limit are what the engine takes."""
    today = datetime.now(UTC).date()
    command = (*REPORT, clicked, "--group-by", "link")
    answer = running.command(*command, "--filter", "campaign==cmd()", "--compare", "year")
    assert [(row["link_name"], row["clicks"], row["previous"]) for row in answer["rows"]] == [
        ("Link a", 2, {"clicks": 0})
    ]
    answer = running.command(
        *command, "--filter", "campaign=", "--filter", "campaign==cmd()", "--order-by", "clicks"
    )
    assert [row["clicks"] for row in answer["rows"]] == [1, 2]
    assert len(running.command(*command, "--limit", "1")["rows"]) == 1
    before = running.command(*command, "--from", "2026-01-01", "--to", str(today), "--timezone", "Asia/Tokyo")
    assert before["period"]["from"] == "2026-01-01T00:00:00+09:00"
    money = ("--measures", "revenue", "--currency", "jpy", "--model", "first")
    assert running.command(*REPORT, clicked, *money)["rows"] == [{"revenue": "0"}]


def test_filters_of_every_kind(running: ServiceProcess, clicked: OrgId) -> None:
    """Only these values, all but these, or what begins with a text; `FIELD=` is what has none."""
    command = (*REPORT, clicked, "--group-by", "campaign")
    for options, campaigns in (
        (("--filter-not", "campaign==cmd()"), [None]),
        (("--filter-not", "campaign="), ["=cmd()"]),
        (("--filter-not", "campaign=", "--filter-not", "campaign==cmd()"), []),
        (("--filter-prefix", "campaign==cm"), ["=cmd()"]),
        (("--filter-prefix", "campaign=cm"), []),
        (("--filter-prefix", "campaign==", "--filter-not", "country=DE"), ["=cmd()"]),
    ):
        rows = running.command(*command, *options)["rows"]
        assert [row["campaign"] for row in rows] == campaigns, options


def test_changes_against_the_time_before(running: ServiceProcess, clicked: OrgId) -> None:
    """Rows and totals have them, in every form, and rows are sorted by them."""
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)
    days = ("--from", str(tomorrow), "--to", str(tomorrow + timedelta(days=1)))
    compared = (*REPORT, clicked, *days, "--compare", "previous", "--change", "--group-by", "campaign")
    answer = running.command(*compared, "--order-by", "-change.clicks")
    assert [row["change"] for row in (*answer["rows"], answer["totals"])] == [{"clicks": -1.0}] * 3
    assert [re.split("  +", line) for line in printed(running, *compared)[0].splitlines()] == [
        ["CAMPAIGN", "CLICKS", "PREVIOUS CLICKS", "CHANGE CLICKS"], ["=cmd()", "0", "2", "-1.0"],
        ["(none)", "0", "1", "-1.0"], ["TOTAL", "0", "3", "-1.0"],
    ]  # fmt: skip
    lines = list(csv.DictReader(printed(running, *compared, "--format", "csv")[0].splitlines()))
    assert [line["change_clicks"] for line in lines] == ["-1.0", "-1.0"]


def test_the_day_on_which_weeks_begin(running: ServiceProcess, clicked: OrgId) -> None:
    """Monday, unless Sunday is asked for."""
    for options, weekday in (((), 0), (("--week-starts", "monday"), 0), (("--week-starts", "sunday"), 6)):
        rows = running.command(*REPORT, clicked, "--group-by", "week", *options)["rows"]
        assert {date.fromisoformat(row["week"]).weekday() for row in rows} == {weekday}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--measures", "clickz"), "--measures must be one of clicks, visitors"),
        (("--measures", ""), "--measures must have from 1 to"),
        (("--group-by", "day,week"), "--group-by must have at most one of"),
        (("--filter", "campaign"), "--filter campaign must be FIELD=VALUE"),
        (("--filter", "day=2026-01-01"), "--filter day can't be filtered by; possible are"),
        (("--filter-not", "country"), "--filter-not country must be FIELD=VALUE"),
        (("--filter-not", "day=2026-01-01"), "--filter-not day can't be filtered by; possible are"),
        (("--filter-not", "link=spring"), "--filter-not link must be a UUID"),
        (("--filter-prefix", "campaign"), "--filter-prefix campaign must be FIELD=TEXT"),
        (("--filter-prefix", "campaign="), "--filter-prefix campaign must have from 1 to"),
        (
            ("--filter-prefix", "campaign=a", "--filter-prefix", "campaign=b"),
            "--filter-prefix campaign can't be given twice",
        ),
        (
            ("--filter-not", "source=a", "--filter", "source=b"),
            "--filter-not source can't be given beside --filter source",
        ),
        (("--change",), "--change needs compare"),
        (("--order-by", "change.clicks"), "--order-by can't be change.clicks without change"),
        (("--week-starts", "friday"), "Invalid value for '--week-starts': 'friday' is not one of 'monday'"),
        (("--timezone", "Mars/Olympus"), "--timezone must be the IANA name"),
        (("--from", "3026-01-01"), "--from must be between"),
        (("--from", "2026-01-02", "--to", "2026-01-01"), "--to must be after from"),
        (("--order-by", "-revenue"), "--order-by must be one of clicks"),
        (("--limit", "0"), "--limit must be a whole number"),
    ],
)
def test_what_cannot_be_asked(
    running: ServiceProcess, clicked: OrgId, options: tuple[str, ...], sentence: str
) -> None:
    """The option is named, and what is possible."""
    assert sentence in running.refusal(*REPORT, clicked, *options)


def test_an_unknown_organization(running: ServiceProcess) -> None:
    """It is named; an organization without anything has an empty report."""
    assert "There is no organization" in running.refusal(*REPORT, "nobody")
    empty = OrgId(running.command("organization", "create", "Empty")["id"])
    assert printed(running, *REPORT, empty, "--group-by", "link")[0] == "(none)\n"


def test_installs_need_a_subscription(running: ServiceProcess, clicked: OrgId) -> None:
    """Without one the report of them is refused, as over the REST API, and says how one begins."""
    command = (*REPORT, clicked, "--measures", "clicks,installs")
    done = invoke(*command, environment=running.environment)
    assert (done.exit_code, done.stdout) == (1, "")
    begins = f"waylink subscription set --org {clicked} --until "
    assert begins in done.stderr
    running.command("subscription", "set", "--org", clicked, "--until", "2999-12-31")
    assert running.command(*command)["totals"] == {"clicks": 3, "installs": 0}
    running.command("subscription", "set", "--org", clicked, "--until", "none")
