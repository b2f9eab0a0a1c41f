"""What the shop sells, on the real service: whom a sale is credited to, and that it counts once.

The service runs as its owner runs it, a process of its own; the shop beside it uses the SDK as built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from backend.domain.ids import OrgId
from demo_site.app import DemoSite
from tests.browser.demo_shop import bound_port, demo_shop, order
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

DOMAIN = "go.journey.localhost"


@dataclass(frozen=True, slots=True)
class Journey:
    """A running service, a shop whose origin it allows, and the organization of both."""

    service: ServiceProcess
    shop: str
    org_id: OrgId
    rest_key: str

    def call(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the REST API answers; it must succeed."""
        address = f"{self.service.base_url}/serviceCore/pa/v1/{path}"
        response = httpx.request(method, address, json=body, headers={"API-KEY": self.rest_key}, timeout=60)
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def stored(self, collection: str) -> list[dict[str, Any]]:
        """The organization's documents of a collection, read beside the running service."""
        return self.service.stored(collection, org_id=self.org_id)


@pytest.fixture(scope="module")
def journey(running: ServiceProcess) -> Iterator[Journey]:
    """An organization with a domain, keys and the shop's origin, made with the command line."""
    bound, port = bound_port()
    shop = f"http://localhost:{port}"
    org_id = running.command("organization", "create", "Windrow")["id"]
    key = {
        kind: running.command("key", "create", "--org", org_id, "--kind", kind)["key"]
        for kind in ("rest", "web")
    }
    running.command("domain", "add", DOMAIN, "--org", org_id)
    running.command("origin", "add", shop, "--org", org_id)
    with demo_shop(DemoSite(running.base_url, key["web"], shop), bound):
        yield Journey(running, shop, org_id, key["rest"])


def new_link(journey: Journey, **fields: Any) -> tuple[str, str]:
    """A new link to the shop: its id, and its short URL with the port of the service."""
    short_url = journey.call(
        "POST",
        "create-link",
        {"domain": DOMAIN, "destination_url": f"{journey.shop}/", "link_name": "Fair wind"} | fields,
    )["short_url"]
    link_id = journey.call("POST", "links/info", {"shortUrl": short_url})["id"]
    port = urlsplit(journey.service.base_url).port
    return link_id, f"http://{DOMAIN}:{port}{urlsplit(short_url).path}"


def buy(page: Page, journey: Journey, slug: str) -> str:
    """Order a kite; gives the order's number."""
    page.goto(f"{journey.shop}/kites/{slug}")
    order(page)
    return page.locator("[data-order-number]").inner_text()


def test_a_sale_reported_twice_counts_once(fresh_page: Page, journey: Journey) -> None:
    """An order that the shop reports again is stored once, with its amount and the link it came from."""
    link_id, short_url = new_link(journey, utm_source="newsletter", utm_campaign="fair-wind")
    fresh_page.goto(short_url)
    number = buy(fresh_page, journey, "kestrel")
    fresh_page.get_by_role("button", name="Report it again").click()
    newest = fresh_page.locator(".call", has=fresh_page.locator(".call-kind", has_text="conversion")).first
    expect(newest.locator(".call-result")).to_have_text("duplicate")
    (conversion,) = [stored for stored in journey.stored("conversions") if stored["transaction_id"] == number]
    assert conversion["touch"]["link_id"] == link_id
    assert (str(conversion["revenue"]), conversion["currency"]) == ("48.00", "EUR")


def test_amounts_as_shops_compute_them(fresh_page: Page, journey: Journey) -> None:
    """What JavaScript makes of a discount or a third, and a field too many, are sales; money is rounded. Who
    finds the shop alone is organic, and so is what they buy."""
    amounts = {"19.99 * 0.85": "16.99", "100 / 3": "33.33", "19.999": "20.00", "0.1 + 0.2": "0.30"}
    fresh_page.goto(journey.shop)
    expect(fresh_page.locator("[data-arrival=organic]")).to_be_visible()
    for amount in amounts:
        fresh_page.evaluate(
            f"Waylink.trackConversion({{revenue: {amount}, currency: 'EUR', transaction_id: '{amount}',"
            " email: 'ada@example.org', colour: 'red'})"
        )
    fresh_page.evaluate("Waylink.trackConversion({revenue: 99.5, currency: 'JPY', transaction_id: 'yen'})")
    fresh_page.evaluate("Waylink.trackLead({event_id: 'phone', phone: '+49 30 123'})")

    def stored() -> dict[str, str]:
        sales = {sale["transaction_id"]: str(sale["revenue"]) for sale in journey.stored("conversions")}
        leads = {lead["event_id"]: "lead" for lead in journey.stored("leads") if "event_id" in lead}
        return {name: kept for name, kept in (sales | leads).items() if name in expected}

    expected = amounts | {"yen": "100", "phone": "lead"}
    assert wait_for(stored, "what was stored", lambda found: len(found) == len(expected)) == expected
    sales = {sale["transaction_id"]: sale["touch"] for sale in journey.stored("conversions")}
    assert {sales[amount] for amount in (*amounts, "yen")} == {None}
