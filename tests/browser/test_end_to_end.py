"""The main job on real parts: a link is made, clicked in a browser, attributed and counted."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from backend.environment import load_settings
from backend.storage.database import open_database
from tests.dashboard.people import FormsOf, heading
from tests.polling import wait_for
from tests.processes.demo_process import DemoProcess, demo_process

# Of every test, so that all use one demo: pytest sorts tests by the browser that they are given.
pytestmark = pytest.mark.usefixtures("browser_name")

COUNTRY_HEADER = "CF-IPCountry"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoProcess]:
    """What `make run` starts, which believes this machine what country a visitor is in."""
    believed = {"WAYLINK_TRUSTED_PROXIES": "127.0.0.1", "WAYLINK_COUNTRY_HEADER": COUNTRY_HEADER}
    with demo_process(tmp_path_factory.mktemp("demo"), **believed) as demo:
        yield demo


def rest(demo: DemoProcess, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A REST call with the printed key."""
    headers = {"API-KEY": demo.value("REST API key")}
    answer = httpx.post(f"{demo.value('REST API')}{path}", json=body, headers=headers, timeout=60)
    assert answer.is_success, answer.text
    result: dict[str, Any] = answer.json()
    return result


def create_link(demo: DemoProcess, path: str, operation: str = "/create-link", **fields: Any) -> str:
    """Create a link to the shop; its short URL."""
    domain = urlsplit(demo.value("A link to click")).hostname
    body = {
        "domain": domain,
        "selected_path": path,
        "destination_url": f"{demo.value('Demo shop')}/",
        "link_name": path,
    }
    return str(rest(demo, operation, body | fields)["short_url"])


def clicks_of(demo: DemoProcess, short_url: str, expected: int) -> dict[str, Any]:
    """The link's analytics, once so many clicks are counted."""
    return wait_for(
        lambda: rest(demo, "/analytics", {"shortUrl": short_url}),
        "the clicks are not counted",
        lambda counted: counted["total_clicks"] >= expected,
    )


def split_between(demo: DemoProcess, *names: str) -> list[dict[str, Any]]:
    """Rules that send some visitors to the shop as this variant, and others as that one."""
    shop = f"{demo.value('Demo shop')}/"
    return [
        {
            "if": {},
            "then": {"split": [{"weight": 1, "name": name, "destination_url": shop} for name in names]},
        }
    ]


def explained(demo: DemoProcess, transaction_id: str) -> dict[str, Any]:
    """Why a sale is whose, once its click is in the database."""
    url = f"{demo.value('REST API')}/conversions/{transaction_id}/explain"
    headers = {"API-KEY": demo.value("REST API key")}
    return wait_for(
        lambda: httpx.get(url, headers=headers, timeout=60).json(),
        "the click is not there",
        lambda told: told["shares"][0]["touch"]["click"] is not None,
    )


def stored_conversions(demo: DemoProcess) -> list[dict[str, Any]]:
    """Every conversion in the demo's database."""

    async def read() -> list[dict[str, Any]]:
        async with open_database(load_settings(demo.environment, Path("none"))) as database:
            return [document async for document in database["conversions"].find()]

    # In a thread of its own, since Playwright runs an event loop in this one.
    with ThreadPoolExecutor() as thread:
        return thread.submit(asyncio.run, read()).result()


def test_a_link_is_made_clicked_attributed_and_counted(page: Page, demo: DemoProcess) -> None:
    """A click reaches the shop, which knows the link; a sale there is explained by that very click."""
    rules = split_between(demo, "A", "B")
    utm = {"utm_source": "newsletter", "utm_campaign": "autumn"}
    short_url = create_link(demo, "letter", "/links", rules=rules, **utm)

    # As a proxy in front of the service would tell it; the shop's own requests stay as they are.
    page.route(
        short_url, lambda route: route.continue_(headers=route.request.headers | {COUNTRY_HEADER: "IS"})
    )
    page.goto(short_url, referer="https://news.example/")
    landed = urlsplit(page.url)
    signals = {name: value for name, (value,) in parse_qs(landed.query).items()}
    link_id, variant = signals["cl_link_id"], signals["cl_variant"]
    assert "cl_click_id" in signals
    assert f"{landed.scheme}://{landed.netloc}" == demo.value("Demo shop")
    facts = page.locator("[data-arrival-facts]")
    expect(facts).to_contain_text(link_id)
    expect(facts).to_contain_text("autumn")

    page.get_by_role("heading", name="The six").scroll_into_view_if_needed()
    page.locator(".card h3 a").first.click()
    page.get_by_role("button", name="basket").click()
    page.get_by_role("link", name="Basket").first.click()
    page.get_by_label("Name").fill("Ada Lovelace")
    page.locator("#order-email").fill("ada@example.com")
    page.get_by_role("button", name="Place the order").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    number = page.locator("[data-order-number]")
    expect(number).not_to_be_empty()
    reported = page.locator(".call", has_text="conversion")
    expect(reported).to_contain_text("accepted")

    assert clicks_of(demo, short_url, 1) == {
        "clicks_last_30_days": 1,
        "clicks_last_7_days": 1,
        "total_clicks": 1,
    }
    (conversion,) = [
        stored for stored in stored_conversions(demo) if stored["transaction_id"] == number.inner_text()
    ]
    assert conversion["currency"] == "EUR"
    assert conversion["revenue"].to_decimal() > Decimal(0)
    assert conversion["touch"]["link_id"] == link_id
    (share,) = explained(demo, number.inner_text())["shares"]
    touch, click = share["touch"], share["touch"]["click"]
    assert (share["part"], touch["link_id"], touch["variant"]) == (1, link_id, variant)
    found = (click["country"], click["referrer_host"], click["variant"], click["browser"].split()[0])
    assert found == ("IS", "news.example", variant, "HeadlessChrome")


def test_the_printed_curl_line_makes_a_link(demo: DemoProcess) -> None:
    """The curl line that `make run` prints works as pasted."""
    done = subprocess.run(["sh", "-c", demo.curl_line], capture_output=True, text=True, check=True)
    assert '"status":"success"' in done.stdout.replace(" ", "")


def links_of(demo: DemoProcess) -> list[str]:
    """The paths of all links; the demo's own leads to the shop."""
    headers = {"API-KEY": demo.value("REST API key")}
    listed = httpx.get(f"{demo.value('REST API')}/links/page", headers=headers, timeout=60).json()["links"]
    assert {link["destination_url"] for link in listed if "spring" in link["short_url"]} == {
        f"{demo.value('Demo shop')}/"
    }
    return sorted(urlsplit(link["short_url"]).path for link in listed)


def test_the_printed_user_signs_in_to_the_dashboard(demo: DemoProcess) -> None:
    """The e-mail address and the password that `make run` prints open the dashboard that it names."""
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        asked = browser.get(demo.value("Dashboard"))
        fields = FormsOf(asked.text).fields_of("/sign-in")
        fields |= {"email": demo.value("E-mail address"), "password": demo.value("Password")}
        given = browser.post(asked.url.join("/sign-in"), data=fields, follow_redirects=False)
        assert str(asked.url.join(given.headers["location"])) == demo.value("Dashboard")
        assert "Settings" in heading(browser.get(asked.url.join("/settings")))


def test_a_later_run_goes_on_with_the_same_organization(demo: DemoProcess) -> None:
    """A second `make run`, also after kill -9, finds the organization, keys, link and dashboard user of the
    first one, with the links that were acknowledged; it ends in good order.

    It ends the demo that the tests before it use: a start takes long.
    """
    labels = ["REST API key", "Public web key", "Mobile SDK key", "E-mail address", "Password"]
    data_dir = Path(demo.environment["WAYLINK_DATA_DIR"])
    printed = [demo.value(label) for label in labels]
    survivor = create_link(demo, "survivor")
    links = links_of(demo)
    assert {"/survivor", "/spring"} <= set(links)
    demo.process.kill()
    demo.process.wait(timeout=30)
    with demo_process(data_dir, WAYLINK_PORT=demo.environment["WAYLINK_PORT"]) as second:
        assert [second.value(label) for label in labels] == printed
        assert links_of(second) == links
        assert rest(second, "/links/info", {"shortUrl": survivor})["link_name"] == "survivor"
        second.process.terminate()
        assert second.process.wait(timeout=60) == 0
