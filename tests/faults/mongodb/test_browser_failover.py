"""The SDK in a browser while MongoDB fails over: everything that it was given is stored once afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from pymongo import MongoClient

from tests.browser.conftest import browser_type_launch_args
from tests.browser.real_service import RealService, new_shop
from tests.browser.recording_server import RecordingServer, recording_server
from tests.faults.outcomes import Outcome, TellOutcome
from tests.polling import wait_for
from tests.processes.replica_set import ReplicaSet, replica_set
from tests.processes.service_process import service_process

__all__ = ["browser_type_launch_args"]

HOST = "shop.localhost"
# What the visitor buys and does on each of two pages; the outbox keeps 100 calls.
SALES = 20
PATIENCE = 150.0
# Calls one after the other, every 100 ms, so that some are made while there is no primary.
SELL = """([prefix, sales]) => {
  window.made = 0;
  addEventListener('pagehide', () => sessionStorage.setItem('made', made));
  const timer = setInterval(() => {
    if (made == sales) return clearInterval(timer);
    const transaction_id = prefix + made++;
    Waylink.trackConversion({revenue: 1, currency: 'EUR', transaction_id});
    Waylink.trackEvent('looked', {product_id: transaction_id});
  }, 100);
}"""


@pytest.fixture
def members(tmp_path: Path) -> Iterator[ReplicaSet]:
    """Three MongoDB servers."""
    (tmp_path / "members").mkdir()
    with replica_set(tmp_path / "members", waits_for_disk=False) as members:
        yield members


@pytest.fixture
def shop(tmp_path: Path, members: ReplicaSet) -> Iterator[RealService]:
    """The service on them, with an organization."""
    with service_process(tmp_path / "data", WAYLINK_MONGODB_URI=members.uri) as service:
        yield new_shop(service)


@pytest.fixture
def site(shop: RealService) -> Iterator[RecordingServer]:
    """Pages of a site of the organization, which loads the SDK and sends to the service."""
    with recording_server() as site:
        shop.allow(site.url("", HOST))
        yield site


def sell(page: Page, site: RecordingServer, shop: RealService, prefix: str) -> None:
    """Open a page, and begin to buy."""
    page.goto(site.url(f"/?utm_source={prefix}", HOST))
    page.evaluate(shop.init())
    page.evaluate(SELL, [prefix, SALES])


def wait_until(page: Page, condition: str) -> None:
    """Return once it holds in the page."""
    page.wait_for_function(condition, timeout=PATIENCE * 1000, polling=100)


def stored(members: ReplicaSet, collection: str) -> list[dict[str, Any]]:
    """What is stored, with the majority of the members."""
    with MongoClient[dict[str, Any]](members.uri, readConcernLevel="majority") as client:
        return list(client["waylink"][collection].find())


def test_everything_is_delivered_once_after_a_failover(
    page: Page,
    members: ReplicaSet,
    shop: RealService,
    site: RecordingServer,
    tell: Callable[[str], None],
    outcome: TellOutcome,
) -> None:
    """Calls made before, during and after, on a page that is left in between and on the next, arrive once."""
    sell(page, site, shop, "first")
    wait_until(page, "made > 5")
    killed_at = datetime.now(UTC)
    killed = members.kill_primary()
    wait_until(page, "made > 15")
    sell(page, site, shop, "second")
    assert members.wait_for_primary() != killed
    elected_at = datetime.now(UTC)
    wait_until(page, f"made == {SALES}")
    made = {f"first{number}" for number in range(int(page.evaluate("sessionStorage.getItem('made')")))}
    made |= {f"second{number}" for number in range(SALES)}
    wait_for(
        lambda: len(stored(members, "events")), "events", lambda count: count >= len(made), seconds=PATIENCE
    )
    wait_until(page, "!Object.keys(localStorage).some(name => name.includes(':call_'))")
    conversions, events = stored(members, "conversions"), stored(members, "events")
    sold = [conversion["transaction_id"] for conversion in conversions]
    calls = "primary killed, a browser on two pages (a sale and an event each)"
    outcome(Outcome(calls, 2 * len(made), len(conversions) + len(events)))
    assert sorted(sold) == sorted(event["product_id"] for event in events)
    assert len(sold) == len(set(sold))
    assert set(sold) == made
    assert len(made) > 15 + SALES
    during = [
        conversion
        for conversion in conversions
        if killed_at < conversion["occurred_at"].replace(tzinfo=UTC) < elected_at
    ]
    tell(f"browser and failover: {len(sold)} sales stored once, {len(during)} made without a primary")
    assert during
    (device,) = stored(members, "devices")
    assert [touch["utm"]["utm_source"] for touch in device["touches"]] == ["first", "second"]
