"""Rule 8: two conversions with the same transaction_id are counted once, by the real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.real_service import RealService
from tests.browser.recording_server import recording_server


def convert(order: str, revenue: int = 5) -> str:
    """A conversion of this order."""
    return f"Waylink.trackConversion({{revenue: {revenue}, currency: 'EUR', transaction_id: '{order}'}})"


@pytest.fixture(scope="module")
def shop(service_of_shop: RealService) -> Iterator[str]:
    """The address of a site whose origin is allowed."""
    with recording_server() as pages:
        address = pages.url("", "once.localhost")
        service_of_shop.allow(address)
        yield address


def start(page: Page, shop: str, service: RealService) -> None:
    """Open a page of the site, and start the SDK."""
    page.goto(shop)
    page.evaluate(service.init())


def counted(service: RealService, prefix: str) -> list[tuple[str, str]]:
    """The stored conversions of orders with this prefix: order and revenue."""
    found = [
        (conversion["transaction_id"], str(conversion["revenue"]))
        for conversion in service.stored("conversions")
    ]
    return sorted(order for order in found if order[0].startswith(prefix))


def test_the_same_order_on_two_pages(page: Page, shop: str, service_of_shop: RealService) -> None:
    """Must be counted: the first report of an order. Must not: the second, on a page that is loaded again."""
    start(page, shop, service_of_shop)
    page.evaluate(convert("pages-1"))
    start(page, shop, service_of_shop)
    page.evaluate(convert("pages-1", revenue=99))
    page.evaluate(convert("pages-2"))
    assert counted(service_of_shop, "pages-") == [("pages-1", "5.00"), ("pages-2", "5.00")]


def test_the_same_order_in_one_batch(page: Page, shop: str, service_of_shop: RealService) -> None:
    """Must not be counted: a second report that travels in the same request."""
    start(page, shop, service_of_shop)
    page.evaluate(f"Promise.all([{convert('batch-0')}, {convert('batch-1')}, {convert('batch-1')}])")
    assert counted(service_of_shop, "batch-") == [("batch-0", "5.00"), ("batch-1", "5.00")]


def test_the_same_order_from_two_browsers(
    page: Page, browser: Browser, shop: str, service_of_shop: RealService
) -> None:
    """Must not be counted: a second report by another device."""
    start(page, shop, service_of_shop)
    page.evaluate(convert("devices-1"))
    with browser.new_context() as context:
        other = context.new_page()
        start(other, shop, service_of_shop)
        other.evaluate(convert("devices-1"))
    assert counted(service_of_shop, "devices-") == [("devices-1", "5.00")]


def test_orders_without_an_id_are_told_apart(page: Page, shop: str, service_of_shop: RealService) -> None:
    """Must be counted: each conversion that carries no transaction_id."""
    start(page, shop, service_of_shop)
    before = len(service_of_shop.stored("conversions"))
    page.evaluate("Promise.all([1, 2].map(() => Waylink.trackConversion({revenue: 1, currency: 'EUR'})))")
    assert len(service_of_shop.stored("conversions")) == before + 2
