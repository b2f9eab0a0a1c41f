"""An organization that has something on every page, some of it long."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
from pymongo import MongoClient
from pymongo.database import Database

from backend.domain.accounts.single_sign_on.refusals import Refusal
from backend.domain.archives.archive import ArchiveProgress, ArchiveState
from backend.domain.ids import OrgId
from backend.domain.mail.mail import Mail
from backend.rate_limits.service_limits import CALLS_OF_ADDRESS, INSTALLS_OF_ADDRESS
from backend.storage.accounts.rate_limited_requests import KEPT, NAME
from backend.storage.accounts.single_sign_on import refused_sign_ins
from backend.storage.accounts.single_sign_on import settings as single_sign_on
from backend.storage.alerts import alerts
from backend.storage.archives import archives
from backend.storage.links import reports as link_reports
from backend.storage.links.destinations import broken as broken_destinations
from backend.storage.mail import mails
from backend.storage.mail.mails import waiting_document
from backend.storage.reports import recipients, reports
from backend.storage.webhooks import endpoints
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.facts.archives import archive_document
from tests.processes.service_process import ServiceProcess

LONG = "A name that goes on and on " * 3 + "andhaswordsthatnoscreeniswideenoughfor" * 3
MONTH = timedelta(days=30)
DESTINATION = f"https://shop.example/{'long/' * 60}"


def make_full_office(running: ServiceProcess) -> Office:
    """An organization that has everything, some of it long; its user has a second one."""
    org = make_organization(running, LONG)
    domain = f"as-long-as-a-shop-would-name-the-domain-of-its-links.{uuid.uuid4().hex}.localhost"
    site = "https://shop.example"
    running.command("domain", "add", domain, "--org", org)
    running.command("origin", "add", site, "--org", org)
    running.command("app", "set", domain, "--org", org, "--android-package", "com.shop.app")
    keys = {kind: make_key(running, org, kind) for kind in ("rest", "web", "mobile")}
    running.command("key", "revoke", running.command("key", "list", "--org", org)["keys"][2]["id"], "--yes")
    with httpx.Client(base_url=running.base_url, timeout=60) as client:
        _tags(client, keys["rest"])
        link_id = _links(client, keys["rest"], domain)
        _invitation(client, _inviting_key(running, org, domain))
        _visits(client, domain, keys["web"], site)
        funnel = _funnel(client, keys["rest"])
    _refuse_by_limits(running, org)
    _archives(running, org)
    _blame(running, org, link_id)
    _refuse_sign_ins(running, org)
    ids = (
        {"link_id": link_id, "domain": domain, "note_id": _note(running, org, link_id)}
        | _named_items(running, org)
        | _webhooks(running, org, link_id)
        | _alerts(running, org, link_id, keys["rest"])
    )
    ids |= funnel | _reports(running, keys["rest"])
    return Office(running.base_url, make_user(running, org, make_organization(running, "Second")), ids)


@contextmanager
def database_of(running: ServiceProcess) -> Iterator[Database[dict[str, Any]]]:
    """The service's database, to read and write beside it."""
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as client:
        yield client[running.environment["WAYLINK_MONGODB_DATABASE"]]


def _refuse_by_limits(running: ServiceProcess, org: str) -> None:
    """What a flood of calls and installs would have left."""
    refused = {"requests": 12345, "last": utc_now()}
    limits = dict.fromkeys((CALLS_OF_ADDRESS, INSTALLS_OF_ADDRESS), refused)
    kept = {"_id": f"{org}/2026-01-31", "limits": limits, "expires_at": utc_now() + KEPT}
    with database_of(running) as database:
        database[NAME].insert_one(kept)


def _archives(running: ServiceProcess, org: str) -> None:
    """Archives in every state, which nobody is about to make."""
    progress = ArchiveProgress(3_456_789, {"calls": 1_234_567})
    facts: dict[ArchiveState, dict[str, Any]] = {
        ArchiveState.WAITING: {},
        ArchiveState.IN_PROGRESS: {"progress": progress},
        ArchiveState.READY: {"progress": progress, "size": 1_234_567_890, "sha256": "ab" * 32},
        ArchiveState.FAILED: {"error": LONG},
    }
    with database_of(running) as database:
        for state, more in facts.items():
            database[archives.NAME].insert_one(archive_document(OrgId(org), utc_now(), state, **more))


def _refuse_sign_ins(running: ServiceProcess, org: str) -> None:
    """A provider, and people whom it did not get in, one with a long story."""
    provider: dict[str, Any] = {
        "issuer": "https://id.shop.example",
        "client_id": "waylink",
        "client_secret": "secret",
    }
    provider |= {"email_domains": [], "vouches_for_emails": False, "groups_claim": "groups"}
    now = utc_now()
    recent = [
        {"refusal": refusal.value, "detail": LONG, "email": f"{'a' * 60}@shop.example", "at": now}
        for refusal in Refusal
    ]
    with database_of(running) as database:
        database[single_sign_on.NAME].insert_one({"_id": org, "provider": provider})
        database[refused_sign_ins.NAME].insert_one({"_id": org, "recent": recent, "expires_at": now + MONTH})


def _note(running: ServiceProcess, org: str, link_id: str) -> str:
    """A long note of today, of the link."""
    note = ("--at", f"{utc_now():%Y-%m-%d}", "--text", LONG[:200], "--link", link_id)
    noted: str = running.command("annotation", "add", "--org", org, *note)["id"]
    return noted


def _blame(running: ServiceProcess, org: str, link_id: str) -> None:
    """What a look at the link's destination, and a visitor who reports the link, would have left."""
    now = utc_now()
    kept = {"_id": link_id, "org_id": org, "expires_at": now + KEPT}
    broken = {
        "field": "destination_url",
        "url": DESTINATION,
        "problem": "answers with status 404",
        "since": now,
    }
    report = {"reason": "fraud", "text": LONG, "at": now}
    with database_of(running) as database:
        database[broken_destinations.NAME].insert_one(
            kept | {"broken": [broken], "since": now, "checked_at": now}
        )
        database[link_reports.NAME].insert_one(kept | {"count": 1, "latest": [report], "last_at": now})


def _inviting_key(running: ServiceProcess, org: str, domain: str) -> str:
    """A mobile key that makes links on the domain."""
    grant = ("--links-domain", domain, "--links-to", "shop.example")
    return str(running.command("key", "create", "--org", org, "--kind", "mobile", *grant)["key"])


def _invitation(client: httpx.Client, key: str) -> None:
    """A link that an app made, and a customer whom it brought."""
    install_id = str(uuid.uuid4())
    link = {"install_id": install_id, "external_id": "ada-1", "destination_url": DESTINATION}
    invited = link | {"link_name": LONG, "custom_data": {"inviter": LONG}}
    headers = {"API-KEY": key}
    made = client.post("/serviceCore/app/v1/links", json=invited, headers=headers).raise_for_status().json()
    opened = {"platform": "ios", "install_id": install_id, "is_first_launch": True, "link_id": made["id"]}
    opened |= {"open_id": str(uuid.uuid4())}
    client.post("/serviceCore/app/v1/open", json=opened, headers=headers).raise_for_status()
    now = utc_now().isoformat()
    known = {"kind": "identify", "call_id": str(uuid.uuid4()), "occurred_at": now, "customer_id": LONG}
    batch = {"api_key": key, "install_id": install_id, "sdk": "app/1", "sent_at": now, "calls": [known]}
    client.post("/serviceCore/sdk/v1/batch", json=batch).raise_for_status()


def _alerts(running: ServiceProcess, org: str, link_id: str, key: str) -> dict[str, str]:
    """A rule with a long name that has told of a destination, over and not; its id."""
    body = {"name": LONG[:100].strip(), "kind": "broken_destination", "link_id": link_id}
    with httpx.Client(base_url=running.base_url, headers={"API-KEY": key}, timeout=60) as client:
        rule_id: str = client.post(f"{API}/alert-rules", json=body).json()["id"]
    now = utc_now()
    figures = {"url": DESTINATION, "problem": "answers with status 404", "since": now}
    fired: dict[str, object] = {
        "org_id": org,
        "rule_id": rule_id,
        "kind": body["kind"],
        "link_id": link_id,
        "period": "p",
    }
    fired |= {"began_at": now, "fired_at": now, "figures": figures, "seen_at": None, "is_sent": False}
    states: tuple[dict[str, object], ...] = ({"ended_at": None, "is_open": True}, {"ended_at": now})
    with database_of(running) as database:
        for number, state in enumerate(states):
            alert = {"_id": f"{org}/{uuid.uuid4()}", "cause": f"c{number}", **fired, **state}
            database[alerts.NAME].insert_one(alert)
    return {"rule_id": rule_id}


def _tags(client: httpx.Client, key: str) -> None:
    """Tags and templates, one of each long."""
    for name in ("a", LONG[:64].strip()):
        for path, fields in (("tags", {}), ("utm-templates", {"utm_source": LONG[:200]})):
            answer = client.post(
                f"/serviceCore/pa/v1/{path}", json={"name": name} | fields, headers={"API-KEY": key}
            )
            assert answer.status_code == 201, answer.text


def _reports(running: ServiceProcess, key: str) -> dict[str, str]:
    """Reports with long names and values: the id of the first, and the tokens of the others, one of a kind.

    The first has a password, and an end that has come."""
    query = {"filters": {"campaign": [LONG[:200], None]}, "measures": ["clicks", "conversions"]}
    by_link = {"measures": ["clicks", "revenue"], "group_by": ["link", "country"], "compare": "previous"}
    steps = [{"kind": "click"}, {"kind": "event", "name": LONG[:200]}, {"kind": "conversion"}]
    bodies = (
        {"query": query | {"group_by": ["day"]}, "password": "kites-42"},
        {"query": by_link, "shows_revenue": True, "embed_origins": [f"https://{'x' * 60}.example"]},
        {"kind": "overview", "query": {"compare": "previous"}, "shows_revenue": True},
        {"kind": "funnel", "query": {"steps": steps, "group_by": ["link"]}},
        {"kind": "links", "query": {"order_by": "-clicks"}, "shows_revenue": True},
        {"kind": "live", "query": {}, "shows_revenue": True},
    )
    with httpx.Client(base_url=running.base_url, headers={"API-KEY": key}, timeout=60) as client:
        made = [client.post(f"{API}/reports", json={"name": LONG[:100].strip()} | body) for body in bodies]
    closed, open_one, overview, funnel, links, live = (answer.json() for answer in made)
    with database_of(running) as database:
        ended = {"expires_at": utc_now(), "opened_at": utc_now()}
        database[reports.NAME].update_one({"_id": closed["id"]}, {"$set": ended})
        reader = _readers(database, closed["id"], open_one["id"])
    return {
        "report_id": closed["id"],
        "token": open_one["url"].rpartition("/")[2],
        "overview_token": overview["url"].rpartition("/")[2],
        "links_token": links["url"].rpartition("/")[2],
        "live_token": live["url"].rpartition("/")[2],
        "funnel_token": funnel["url"].rpartition("/")[2],
        "recipient_id": reader,
    }


def _readers(database: Database[dict[str, Any]], *report_ids: str) -> str:
    """Readers of the reports in every state, with long addresses, and mails that were refused; an id."""
    report = database[reports.NAME].find_one({"_id": report_ids[0]})
    assert report
    org_id, now = OrgId(report["org_id"]), utc_now()
    error = f"The mail server refuses the address: 550 {LONG}"
    of_all: dict[str, object] = {
        "frequency": "weekly",
        "language": "de",
        "timezone": "America/Argentina/ComodRivadavia",
    }
    times = ("created_at", "expires_at", "confirmed_at", "next_at")
    of_all |= dict.fromkeys(times, now + timedelta(days=1))
    for number, state in enumerate(("unconfirmed", "confirmed", "unsubscribed", "refused", "confirmed")):
        reader = {"_id": f"{org_id}-{number}", "org_id": org_id, "report_id": report_ids[number == 4]}
        own = {"address": f"{number}{'x' * 60}@{'y' * 60}.example", "token": uuid.uuid4().hex, "state": state}
        said = {"error": error if state == "refused" else None}
        database[recipients.NAME].insert_one(reader | of_all | own | said)
        mail = waiting_document(Mail(org_id, f"figures/{reader['_id']}/x", own["address"], "", "", ""), now)
        database[mails.NAME].insert_one(mail | {"error": error})
    return f"{org_id}-0"


def _webhooks(running: ServiceProcess, org: str, link_id: str) -> dict[str, str]:
    """One webhook that sleeps and has been tried, as five days of failures would have left it, and others
    that fail and are paused; the id of the first."""
    url = f"http://127.0.0.1:1/{LONG.replace(' ', '-')}"
    options = ("--org", org, "--type", "click", "--tag", LONG[:64].strip(), "--link", link_id)
    made, failing = (
        running.command("webhook", "create", "--url", url, *more)["id"] for more in (options, options)
    )
    running.command("webhook", "create", "--url", url, *options, "--form", "slack", "--disabled")
    running.command("webhook", "test", made, "--org", org)
    trouble = {"failing_since": utc_now(), "last_error": LONG, "failures": 7}
    with database_of(running) as database:
        for endpoint_id, more in (
            (failing, {"next_try_at": utc_now() + KEPT}),
            (made, {"slept_at": utc_now()}),
        ):
            update = {"$set": trouble | more | {"holder": None}, "$inc": {"term": 1}}
            database[endpoints.NAME].update_one({"_id": endpoint_id}, update)
    return {"webhook_id": made}


def _funnel(client: httpx.Client, key: str) -> dict[str, str]:
    """A funnel of as many steps as there may be, with long names; its id."""
    event = {"kind": "event", "name": LONG, "filters": {"event": [LONG]}}
    steps = [{"kind": "click", "filters": {"country": ["DE"]}}, *[event] * 6, {"kind": "conversion"}]
    body = {"name": LONG[:100].strip(), "steps": steps, "group_by": ["link"]}
    answer = client.post("/serviceCore/pa/v1/funnels", json=body, headers={"API-KEY": key})
    assert answer.status_code == 201, answer.text
    return {"funnel_id": answer.json()["id"]}


def _named_items(running: ServiceProcess, org: str) -> dict[str, str]:
    """The ids of a tag and of a template."""
    with database_of(running) as database:
        tag, template = (database[name].find_one({"org_id": org}) for name in ("tags", "utm_templates"))
    assert tag
    assert template
    return {"tag_id": tag["_id"], "template_id": template["_id"]}


def _links(client: httpx.Client, key: str, domain: str) -> str:
    """Thirty links, the newest of which has every field; the id of that one."""
    for number in reversed(range(30)):
        fields = {"utm_source": "newsletter", "social_title": "Spring", "custom_data": {"a": [LONG]}}
        body = {
            "domain": domain,
            "selected_path": f"path-{number}",
            "destination_url": DESTINATION,
            "link_name": LONG if number == 0 else f"Link {number}",
            **(fields if number == 0 else {}),
        }
        body |= {"tags": ["a", LONG[:64].strip()]} if number == 0 else {}
        answer = client.post("/serviceCore/pa/v1/links", json=body, headers={"API-KEY": key})
        assert answer.status_code == 201, answer.text
    answer = client.post(
        "/serviceCore/pa/v1/links/info",
        json={"shortUrl": f"https://{domain}/path-0"},
        headers={"API-KEY": key},
    )
    return str(answer.json()["id"])


def _visits(client: httpx.Client, domain: str, web_key: str, site: str) -> None:
    """Clicks, calls of the SDK, one of them rejected, and a request that is refused."""
    for agent, referrer in (("Mozilla/5.0 (iPhone)", "https://news.example/"), ("curl/8", "")):
        headers = {"Host": domain, "User-Agent": agent, "Referer": referrer}
        assert client.get("/path-0", headers=headers).status_code == 302
    client.head("/path-0", headers={"Host": domain})
    for origin in (site, "https://elsewhere.example"):
        client.post("/serviceCore/sdk/v1/batch", json=_batch(web_key), headers={"Origin": origin})


def _batch(web_key: str) -> dict[str, Any]:
    base = {"occurred_at": "2026-01-01T00:00:00Z", "page": "https://shop.example/"}
    calls: list[dict[str, Any]] = [
        {"kind": "attribution", "signals": {"utm_campaign": LONG[:200], "utm_source": "letter"}},
        {"kind": "lead"},
        {"kind": "conversion", "revenue": 12345678.9, "currency": "EUR"},
        {"kind": "conversion", "revenue": 1234567.8, "currency": "USD"},
        {"kind": "conversion", "revenue": "none", "currency": "EUR"},
    ]
    return {
        "api_key": web_key,
        "device_id": str(uuid.uuid4()),
        "sdk": "js/test",
        "sent_at": "2026-01-01T00:00:00Z",
        "calls": [base | {"call_id": str(uuid.uuid4())} | call for call in calls],
    }
