"""The client for apps against a running service: the protocol's cases, and an app from install to refund."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from sdk_build.app import DIST, SCRIPT
from sdk_build.build import ROOT
from sdk_build.node import run_node
from tests.app_sdk.shops import Shop, open_shop
from tests.processes.service_process import ServiceProcess

HERE = Path(__file__).parent
CASES = ROOT / "docs" / "samples" / "app-protocol.json"
PACKAGE = (DIST / SCRIPT).as_uri()
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)


@pytest.fixture(scope="module")
def wrong(running: ServiceProcess) -> dict[str, str | None]:
    """What was wrong in each case: all run at once, in one process of Node.js."""
    shop = open_shop(running, "go.cases.localhost")
    link = shop.link("spring")
    service = {
        "base_url": shop.service.base_url,
        "variables": {
            "api_key": shop.mobile_key,
            "host": shop.host,
            "link": link["short_url"],
            "place": link["short_url"].partition("://")[2],
            "link_id": link["id"],
            "destination": link["destination_url"],
        },
    }
    printed = run_node("node", "conformance.mjs", PACKAGE, str(CASES), json.dumps(service), cwd=HERE)
    return dict(json.loads(printed))


@pytest.mark.parametrize("case", [case["name"] for case in json.loads(CASES.read_text())["cases"]])
def test_the_client_passes(wrong: dict[str, str | None], case: str) -> None:
    """The npm package does, sends and gets what the case says."""
    assert wrong[case] is None


class ShopApp:
    """The app on one phone: each start is a process of its own, which ends without a word."""

    def __init__(self, shop: Shop, folder: Path) -> None:
        self._options = {
            "file": str(folder / "storage.json"),
            "host": shop.host,
            "base_url": shop.service.base_url,
            "api_key": shop.mobile_key,
        }

    def start(self, act: str, address: str | None = None) -> dict[str, Any]:
        """Start the app by this address, have it do something, and end it; what became of it."""
        options = json.dumps(self._options | {"act": act, "address": address})
        printed: dict[str, Any] = json.loads(
            run_node("node", "--unhandled-rejections=strict", "shop_app.mjs", PACKAGE, options, cwd=HERE)
        )
        return printed


@pytest.fixture(scope="module")
def figures(running: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the analytics say by campaign: of one person's install, open, purchase and refund."""
    shop = open_shop(running, "go.shop.localhost")
    app = ShopApp(shop, tmp_path_factory.mktemp("phone"))
    poster, mail = (shop.link(name, utm_campaign=name) for name in ("poster", "mail"))
    port = shop.service.base_url.rpartition(":")[2]
    tapped = httpx.get(
        f"{shop.service.base_url}/poster", headers={"Host": f"{shop.host}:{port}", "User-Agent": IPHONE}
    )
    assert "apps.apple.com" in tapped.headers["location"]
    shop.figures("clicks", until=lambda rows: rows and rows[0]["clicks"] == 1)

    installed = app.start("look")
    assert installed["heard"] == [["address", poster["destination_url"], "poster"]]
    offline = app.start("buy offline", mail["short_url"])
    assert offline["outcomes"] == [True, *[{"status": "waiting"}] * 3]
    invited = app.start("invite")
    assert [outcome["status"] for outcome in invited["outcomes"][1:]] == ["accepted", "rejected"]
    assert invited["heard"] == []
    assert [start["problems"] for start in (installed, offline, invited)] == [[], [], ["fields"]]
    assert [start["added"] for start in (installed, offline, invited)] == [[]] * 3

    refund = {"refund_id": "r-1", "transaction_id": "order-1042", "amount": 20, "currency": "EUR"}
    shop.asks("conversions/refund", **refund)
    rows = shop.figures(
        *("clicks", "opens", "installs", "leads", "conversions", "revenue", "refunds", "net_revenue"),
        until=lambda rows: any(row["net_revenue"] == "29.00" for row in rows),
    )
    return {row.pop("campaign"): row for row in rows}


def test_the_install_is_the_posters(figures: dict[str, Any]) -> None:
    """One click in the browser, and the install that it led to; no sale."""
    row = figures["poster"]
    assert (row["clicks"], row["opens"], row["installs"], row["conversions"]) == (1, 0, 1, 0)


def test_the_sale_is_the_mails(figures: dict[str, Any]) -> None:
    """Made without a network by a process that ended: a click, and a sale of its link, less the refund."""
    row = figures["mail"]
    assert (row["clicks"], row["opens"], row["installs"], row["leads"], row["conversions"]) == (1, 1, 0, 1, 1)
    assert (row["revenue"], row["refunds"], row["net_revenue"]) == ("49.00", "20.00", "29.00")
