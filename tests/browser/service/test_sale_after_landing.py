"""A sale right after landing keeps its landing: in every order of calls, on every way to the real service.

Each way runs every order `TRIES` times; `LANDING_TRIES=8 LANDING_LATE=10` is the long variant.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.real_service import RealService
from tests.browser.recording_server import Answer, RecordingServer
from tests.facts.sdk_batches import BATCH
from tests.polling import wait_for

TRIES = int(os.environ.get("LANDING_TRIES", "1"))
LATE = float(os.environ.get("LANDING_LATE", "2"))  # seconds that a check is held back

# What a page does: `start` is the call of init, `sell` the one of trackConversion, `grant` gives consent.
ORDERS = {
    "not awaited": "start(); sell()",
    "soon after": "start(); setTimeout(sell, 100)",
    "consent after the call": "start('required'); sell(); setTimeout(grant, 50)",
    "before init": "sell(); start()",
    "awaited": "start().then(sell)",
}
PAGE = """({key, sale, order}) => {
    const start = consentMode => Waylink.init({apiKey: key, consentMode: consentMode})
    const sell = () => {
        Waylink.trackConversion({revenue: 1, currency: 'EUR', transaction_id: sale})
        window.isDone = !order.includes('grant')
    }
    const grant = () => { Waylink.grantConsent(); window.isDone = true }
    eval(order)
}"""
NEXT_PAGE = "key => { Waylink.init({apiKey: key, consentMode: 'required'}); Waylink.grantConsent() }"


@dataclass(slots=True)
class Way:
    """The way to the service: what becomes of the request that carries a check, seen for the first time."""

    service: RealService
    origin: str
    late: float = 0
    is_lossy: bool = False
    checks: set[str] = field(default_factory=set)

    def answer(self, batch: dict[str, Any]) -> Answer:
        """The service's answer; a request that is lost is answered as by a proxy that reaches nobody."""
        new = {call["call_id"] for call in batch["calls"] if call["kind"] == "attribution"} - self.checks
        self.checks |= new
        if new and self.is_lossy:
            return 502, {}, "{}"
        if new:
            time.sleep(self.late)
        headers = {"Origin": self.origin, "Content-Type": "text/plain"}
        answer = httpx.post(
            self.service.base_url + BATCH, content=json.dumps(batch), headers=headers, timeout=60
        )
        return answer.status_code, {"Content-Type": "application/json"}, answer.text


@pytest.fixture
def way(server: RecordingServer, service_of_shop: RealService) -> Way:
    """A way without defects; the site's pages send to it."""
    origin = server.url("")
    service_of_shop.allow(origin)
    way = Way(service_of_shop, origin)
    server.answer = way.answer
    return way


@pytest.fixture(scope="module")
def pages(browser: Browser) -> Iterator[list[Page]]:
    """A page for each order and try."""
    with browser.new_context() as context:
        yield [context.new_page() for _ in range(len(ORDERS) * TRIES)]


def sell(pages: list[Page], server: RecordingServer, way: Way, *, leave: bool = False) -> list[str]:
    """Land and sell on every page; gives the sales, each named as the source that its visitor came from."""
    sales = [f"{order}-{number}-{time.time_ns()}" for number in range(TRIES) for order in ORDERS]
    for page, sale in zip(pages, sales, strict=True):
        key = way.service.web_key
        host = f"{uuid.uuid4().hex[:12]}.test"  # of which nothing is stored: a device of its own
        page.goto(server.url(f"/?utm_source={sale}", host))
        page.evaluate(PAGE, {"key": key, "sale": sale, "order": ORDERS[sale.split("-")[0]]})
        if leave:
            page.wait_for_function("window.isDone")
            page.goto(server.url("/thank-you", host))
            page.evaluate(NEXT_PAGE, key)
    return sales


def expect_credited(way: Way, sales: list[str]) -> None:
    """Every sale arrives, and is credited to the landing of its visitor, as first and as last touch."""

    def credited() -> dict[str, tuple[str | None, str | None]]:
        return {
            conversion["transaction_id"]: (_source(conversion["first_touch"]), _source(conversion["touch"]))
            for conversion in way.service.stored("conversions")
            if conversion.get("transaction_id") in sales
        }

    def is_whole(found: dict[str, tuple[str | None, str | None]]) -> bool:
        return len(found) == len(sales) and all(first and last for first, last in found.values())

    found = wait_for(credited, "sales and their sources", is_whole, seconds=20 + LATE)
    assert found == {sale: (sale, sale) for sale in sales}


def _source(touch: dict[str, Any] | None) -> str | None:
    return str(touch["utm"]["utm_source"]) if touch else None


def test_at_once(pages: list[Page], server: RecordingServer, way: Way) -> None:
    """Every order of the calls, on a way without defects."""
    expect_credited(way, sell(pages, server, way))


def test_with_a_check_that_is_late(pages: list[Page], server: RecordingServer, way: Way) -> None:
    """The check is held back, so that the sale may arrive first."""
    way.late = LATE
    expect_credited(way, sell(pages, server, way))


def test_with_a_check_that_is_lost(pages: list[Page], server: RecordingServer, way: Way) -> None:
    """The request with the check gets lost, and what it carried is sent again."""
    way.is_lossy = True
    expect_credited(way, sell(pages, server, way))


def test_on_a_page_that_is_left(pages: list[Page], server: RecordingServer, way: Way) -> None:
    """The visitor goes on to the next page as soon as the call was made."""
    way.late = 0.3
    expect_credited(way, sell(pages, server, way, leave=True))
