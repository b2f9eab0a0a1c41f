"""Every page of the dashboard in Chromium: axe finds no violation, nothing breaks, nothing has to be scrolled
sideways; on a desktop and a phone, in light and dark, with little to show and with much."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page
from pymongo import MongoClient

from backend.app import utc_now
from backend.rate_limits.service_limits import CALLS_OF_ADDRESS, INSTALLS_OF_ADDRESS
from backend.storage.limited import KEPT, NAME
from sdk_build.node import install_packages
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.service_process import ServiceProcess

AXE = Path(__file__).parents[1] / "accessibility"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]
CARDS_WITHOUT_SPACE = """
    [...document.querySelectorAll(".card")]
        .filter((card, place, all) => {
            const before = all[place - 1]?.getBoundingClientRect(), own = card.getBoundingClientRect();
            return before && own.top > before.top && own.top < before.bottom + 8;
        })
        .map(card => card.textContent.trim().split("\\n")[0])
"""
LONG = "A name that goes on and on " * 3 + "andhaswordsthatnoscreeniswideenoughfor" * 3


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    install_packages(AXE)
    return (AXE / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def empty(running: ServiceProcess) -> Office:
    """An organization with nothing at all."""
    return Office(running.base_url, make_user(running, make_organization(running, "Empty")), {})


@pytest.fixture(scope="module")
def full(running: ServiceProcess) -> Office:
    """An organization that has everything, some of it long; its user has a second one."""
    org = make_organization(running, LONG)
    domain, site = f"go.{uuid.uuid4().hex[:8]}.localhost", "https://shop.example"
    running.command("domain", "add", domain, "--org", org)
    running.command("origin", "add", site, "--org", org)
    running.command("app", "set", domain, "--org", org, "--android-package", "com.shop.app")
    keys = {kind: make_key(running, org, kind) for kind in ("rest", "web", "mobile")}
    running.command("key", "revoke", running.command("key", "list", "--org", org)["keys"][2]["id"], "--yes")
    with httpx.Client(base_url=running.base_url) as client:
        _tags(client, keys["rest"])
        link_id = _links(client, keys["rest"], domain)
        _visits(client, domain, keys["web"], site)
    _refuse_by_limits(running, org)
    ids = {"link_id": link_id, "domain": domain} | _named_items(running, org)
    return Office(running.base_url, make_user(running, org, make_organization(running, "Second")), ids)


def _refuse_by_limits(running: ServiceProcess, org: str) -> None:
    """What a flood of calls and installs would have left."""
    refused = {"requests": 12345, "last": utc_now()}
    limits = dict.fromkeys((CALLS_OF_ADDRESS, INSTALLS_OF_ADDRESS), refused)
    kept = {"_id": f"{org}/2026-01-31", "limits": limits, "expires_at": utc_now() + KEPT}
    client: MongoClient[dict[str, Any]] = MongoClient(running.environment["WAYLINK_MONGODB_URI"])
    with client:
        client[running.environment["WAYLINK_MONGODB_DATABASE"]][NAME].insert_one(kept)


def _tags(client: httpx.Client, key: str) -> None:
    """Tags and templates, one of each long."""
    for name in ("a", LONG[:64].strip()):
        for path, fields in (("tags", {}), ("utm-templates", {"utm_source": LONG[:200]})):
            answer = client.post(
                f"/serviceCore/pa/v1/{path}", json={"name": name} | fields, headers={"API-KEY": key}
            )
            assert answer.status_code == 201, answer.text


def _named_items(running: ServiceProcess, org: str) -> dict[str, str]:
    """The ids of a tag and of a template."""
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as client:
        database = client[running.environment["WAYLINK_MONGODB_DATABASE"]]
        tag, template = (database[name].find_one({"org_id": org}) for name in ("tags", "utm_templates"))
    assert tag
    assert template
    return {"tag_id": tag["_id"], "template_id": template["_id"]}


def _links(client: httpx.Client, key: str, domain: str) -> str:
    """Thirty links, the oldest of which has every field; the id of that one."""
    for number in range(30):
        fields = {"utm_source": "newsletter", "social_title": "Spring", "custom_data": {"a": [LONG]}}
        body = {
            "domain": domain,
            "selected_path": f"path-{number}",
            "destination_url": f"https://shop.example/{'long/' * 60}",
            "link_name": LONG if number == 0 else f"Link {number}",
            **(fields if number == 0 else {}),
        }
        body |= {"tags": ["a", LONG[:64].strip()]} if number == 0 else {}
        answer = client.post("/serviceCore/pa/v1/links", json=body, headers={"API-KEY": key})
        assert answer.status_code == 201, answer.text
    found = client.post(
        "/serviceCore/pa/v1/links/info",
        json={"shortUrl": f"https://{domain}/path-0"},
        headers={"API-KEY": key},
    )
    return str(found.json()["id"])


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


@pytest.fixture
def watched(browser: Browser) -> Iterator[Page]:
    """A page; nothing that it shows may break."""
    with browser.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console", lambda said: problems.append(said.text) if "Content Security" in said.text else None
        )
        yield page
        assert problems == []


def examine(page: Page, axe: str) -> list[str]:
    """What is wrong with the page as it is now, on each kind of screen, in light and in dark."""
    page.evaluate(axe)
    wrong = []
    # Colours are the same on every screen, and take most of the time: each is looked at once.
    without_colours = {"rules": {rule: {"enabled": False} for rule in RULES_OF_COLOUR}}
    for size, options in (("desktop", {}), ("phone", without_colours)):
        show(page, size)
        found = found_by_axe(page, **options) + too_wide(page) + touching(page)
        wrong += [f"{size}: {each}" for each in found]
    page.emulate_media(color_scheme="dark")
    wrong += [f"dark: {each}" for each in found_by_axe(page, runOnly=RULES_OF_COLOUR)]
    return [f"{page.url} {each}" for each in wrong]


def show(page: Page, size: str) -> None:
    """Show the page on this kind of screen, in light colours."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme="light")


def found_by_axe(page: Page, **options: Any) -> list[str]:
    """The violations of axe's rules; by default of all of them."""
    given = {"resultTypes": ["violations"], "preload": False} | options
    found = page.evaluate("options => axe.run(document, options)", given)["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


def too_wide(page: Page) -> list[str]:
    """By how much the page has to be scrolled sideways, if it has."""
    width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [f"{width} px too wide"] if width else []


def touching(page: Page) -> list[str]:
    """The headings of cards that have no space between themselves and the card before."""
    return [f"no space above the card {heading!r}" for heading in page.evaluate(CARDS_WITHOUT_SPACE)]


@pytest.mark.parametrize("office", ["empty", "full"])
def test_every_page(watched: Page, axe: str, office: str, request: pytest.FixtureRequest) -> None:
    """Every page of an organization that has nothing, and of one that has much."""
    at: Office = request.getfixturevalue(office)
    watched.goto(f"{at.base_url}/sign-in")
    wrong = examine(watched, axe)
    at.sign_in(watched)
    for path in at.pages:
        watched.goto(f"{at.base_url}{path}")
        for details in watched.locator("main details > summary").all():
            details.click()
        wrong += examine(watched, axe)
    assert wrong == []


def test_every_form_with_problems(watched: Page, axe: str, full: Office) -> None:
    """Forms that come again: what is wrong is told in a way that everyone perceives."""
    watched.goto(f"{full.base_url}/sign-in")
    watched.get_by_label("E-mail address").fill(f"x{uuid.uuid4().hex}@example.com")
    watched.get_by_label("Password").fill("wrong")
    watched.get_by_role("button", name="Sign in").click()
    watched.get_by_role("alert").wait_for()
    wrong = examine(watched, axe)
    full.sign_in(watched)
    for path, button in (
        ("/links/new", "Make the link"),
        ("/origins", "Allow"),
        ("/install", "Fill it in"),
    ):
        watched.goto(f"{full.base_url}{path}")
        watched.locator("main input:not([type=hidden])").first.fill("?")
        watched.get_by_role("button", name=button, exact=True).click()
        watched.locator(".problem").first.wait_for()
        wrong += examine(watched, axe)
    watched.goto(f"{full.base_url}/nothing")
    assert wrong + examine(watched, axe) == []


def test_the_menu_and_what_is_shown_once(watched: Page, axe: str, full: Office) -> None:
    """The open menu of a phone, a question about many links and its results, and a key that was just made."""
    full.sign_in(watched)
    show(watched, "phone")
    watched.locator("details.menu summary").click()
    wrong = examine(watched, axe)
    watched.goto(f"{full.base_url}/links")
    watched.get_by_label("All of this page").check()
    watched.get_by_role("button", name="Enable").click()
    watched.get_by_role("button", name="Enable 25 links").wait_for()
    wrong += examine(watched, axe)
    watched.get_by_role("button", name="Enable 25 links").click()
    watched.get_by_role("heading", name="What became of them").wait_for()
    wrong += examine(watched, axe)
    watched.goto(f"{full.base_url}/keys")
    watched.get_by_role("button", name="Make a Browser SDK key").click()
    watched.locator(".secret").wait_for()
    wrong += examine(watched, axe)
    assert wrong == []
