"""Text that somebody stored or sent is shown as text in every page: it makes no element and no attribute."""

from __future__ import annotations

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.apps import AndroidApp, Apps
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import create_report, list_reports
from backend.system.clock import utc_now
from tests.api.link_calls import create, info
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

BACKEND = Path(__file__).parents[2] / "backend"
TEMPLATES = sorted(BACKEND.rglob("*.html"))
# Breaks out of text, of attributes in either quotes or none, of titles, styles, scripts and comments.
PAYLOAD = """-->'"></title></style></script><probe-x onprobe=1 a='" """
TEXTS = ("link_name", "social_title", "social_description", "utm_source", "utm_campaign")
FACEBOOK = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
FIREFOX = "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0"


class Elements(HTMLParser):
    """What a browser would make of a page: its elements' names, and its attributes' names and addresses."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take up an element."""
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses |= {
            value or "" for name, value in attrs if name in {"href", "src", "action", "content"}
        }


def assert_text_stayed_text(html: str) -> None:
    """The page has nothing of the payload's making, and no address that runs anything."""
    page = Elements(html)
    assert "probe-x" not in page.names
    assert not {name for name in page.attributes if name.startswith("on")}
    assert not {
        address
        for address in page.addresses
        if re.match(r"\s*(javascript|data:text|vbscript)", address, re.I)
    }


@pytest.fixture
async def short_url(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> str:
    """A link that has the payload in every field, and opens in an app where there is one."""
    await set_apps(
        database,
        organization.domain,
        organization.id,
        Apps(None, AndroidApp("com.shop.app", (":".join(["AB"] * 32),))),
    )
    fields = dict.fromkeys(TEXTS, PAYLOAD) | {"social_image_url": "https://shop.example/a.png"}
    made = await create(client, organization, **fields, android_behavior=2, ios_behavior=2)
    # The API refuses such addresses; what was stored by other ways must be harmless all the same.
    hostile = f"https://shop.example/{PAYLOAD}"
    await database["links"].update_one(
        {"org_id": organization.id},
        {"$set": {"destination_url": hostile, "social.social_image_url": hostile}},
    )
    return made


@pytest.mark.parametrize(("agent", "shows"), [(FACEBOOK, True), (FIREFOX, True), ("", False)])
async def test_the_pages_of_visitors(
    service: Service, organization: TestOrganization, short_url: str, agent: str, shows: bool
) -> None:
    """The preview, the app page and, where no link is, the error page."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{organization.domain}") as visitor:
        path = urlsplit(short_url).path if shows else f"/nothing/{PAYLOAD}"
        page = await visitor.get(path, params={"q": PAYLOAD}, headers={"user-agent": agent})
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "script-src" not in page.headers["Content-Security-Policy"]
    assert_text_stayed_text(page.text)
    assert ("probe-x" in page.text) is shows


async def test_the_pages_of_the_dashboard(
    client: httpx.AsyncClient,
    service: Service,
    database: Database,
    organization: TestOrganization,
    short_url: str,
) -> None:
    """Every page of the dashboard, where names, clicks, campaigns and refused origins hold the payload.

    Files with tables are no pages to any browser.
    """
    link = await info(client, organization, short_url)
    await store_payloads(client, service, database, organization, short_url)
    paths = {
        rule.rule.replace("<link_id>", link["id"]).replace("<domain>", organization.domain)
        for rule in service.api.url_map.iter_rules()
        if rule.endpoint.startswith("dashboard.") and "GET" in (rule.methods or set())
    }
    showed = set()
    (report,) = await list_reports(database, organization.id)
    for path in (f"/shared/{report.token}", f"/shared/{report.token}/report.csv"):
        shared = await client.get(path)
        assert shared.status_code == 200
        assert_text_stayed_text(shared.text)
    async with browser(service) as client_of_person:
        person = Person(client_of_person, await make_user(database, organization.id))
        await open_session(database, person)
        files = {path for path in paths if path.endswith(".csv")}
        for path in files - {"/funnels/<funnel_id>/people.csv"}:  # there is no saved funnel
            file = await person.get(f"{path}?table=campaign&by=campaign")
            assert file.headers["content-type"].startswith("text/csv"), path
            assert file.headers["content-disposition"].startswith("attachment;"), path
        for path in {path for path in paths - files if "<" not in path} | {
            "/links?q=probe", "/attribution?by=campaign", "/attribution?by=source", "/sign-in",
        }:  # fmt: skip
            asked = f"{'&' if '?' in path else '?'}notice={PAYLOAD}&page={PAYLOAD}&sort={PAYLOAD}"
            page = await person.get(path + asked)
            if page.status_code != 200:
                assert_text_stayed_text(page.text)
                page = await person.get(path)
            assert page.status_code in {200, 303, 400}, path
            assert_text_stayed_text(page.text)
            showed |= {path} if "probe-x" in page.text else set()
    assert {"/links", "/reports", f"/links/{link['id']}", "/attribution?by=campaign"} <= showed


async def store_payloads(
    client: httpx.AsyncClient,
    service: Service,
    database: Database,
    organization: TestOrganization,
    short_url: str,
) -> None:
    """Leave the payload wherever a visitor, a browser or an operator can."""
    await database["organizations"].update_one({"_id": organization.id}, {"$set": {"name": PAYLOAD}})
    report = {"name": PAYLOAD, "query": {"filters": {"campaign": [PAYLOAD], "source": {"prefix": PAYLOAD}}}}
    await create_report(database, organization.id, report, utc_now())
    visitor = Visitor(client, organization)
    await visitor.results(
        check(utm_source=PAYLOAD, utm_campaign=PAYLOAD, utm_medium=PAYLOAD),
        call("lead", name=PAYLOAD, event_id=PAYLOAD),
        conversion(product_id=PAYLOAD, customer_id=PAYLOAD),
        call("event", name=PAYLOAD),
    )
    await visitor.post(check(), headers={"Origin": f"https://evil.example/{PAYLOAD}"})
    hostile = {"referer": f"https://{PAYLOAD}", "user-agent": PAYLOAD, "host": organization.domain}
    await client.get(urlsplit(short_url).path, headers=hostile)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_turns_the_escaping_off(template: Path) -> None:
    """Nothing is marked as safe, and no attribute that takes a value goes without quotes."""
    text = template.read_text()
    assert not re.search(r"\|\s*safe\b|autoescape\s+false|Markup", text)
    assert not re.search(r"=\{\{", re.sub(r"\{%.*?%\}", "", text, flags=re.DOTALL))


def test_no_code_turns_the_escaping_off() -> None:
    """No string is declared to be markup, and every environment for templates of pages escapes."""
    environments = 0
    for file in BACKEND.rglob("*.py"):
        text = file.read_text()
        assert not re.search(r"\b(Markup|render_template_string)\b", text), file
        for node in ast.walk(ast.parse(text if "Environment" in text else "")):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Environment"):
                assert "autoescape=True" in ast.unparse(node), file
                environments += 1
    assert environments > 0
