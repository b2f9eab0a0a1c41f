"""The device cookie, renewed by header in a browser behind the proxy in Python."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, Response

from tests.browser.real_service import RealService, new_shop
from tests.browser.recording_server import Answer, acknowledge, recording_server
from tests.browser.rules.test_rule_11_cookie_lifetime import RECORD_COOKIES
from tests.browser.shop_pages import CONVERSION, device_cookie, visit
from tests.processes.service_process import ServiceProcess
from tests.proxy import site_servers
from tests.proxy.site_servers import Site

DAY = 24 * 60 * 60


@pytest.fixture(scope="module")
def shop(running: ServiceProcess) -> RealService:
    """The service, with an organization that wants the cookie renewed."""
    shop = new_shop(running)
    running.command("organization", "set", "--org", shop.org_id, "--device-cookie", "on")
    return shop


@pytest.fixture(scope="module")
def site(shop: RealService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site with the proxy on its own origin."""
    with site_servers.mounted(tmp_path_factory.mktemp("site"), shop.base_url) as site:
        shop.allow(site.origin)
        yield site


def cap(page: Page, seconds: float) -> None:
    """Let the cookie end soon, as Safari does with cookies of scripts."""
    cookie = device_cookie(page)
    capped = {name: cookie[name] for name in ("name", "value", "domain", "path")}
    page.context.add_cookies([{**capped, "expires": time.time() + seconds}])  # type: ignore[typeddict-item]


@pytest.fixture
def answers(page: Page) -> Iterator[list[Response]]:
    """The answers to batches that the page gets."""
    got: list[Response] = []

    def note(response: Response) -> None:
        if "/serviceCore/" in response.url:
            got.append(response)

    page.on("response", note)
    yield got
    page.remove_listener("response", note)


def test_a_call_renews_the_cookie(page: Page, shop: RealService, site: Site) -> None:
    """The answer to a call gives a cookie that was about to end its 400 days again; scripts can read it."""
    page.goto(site.origin)
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    device = device_cookie(page)["value"]
    cap(page, 60)
    assert device_cookie(page)["expires"] < time.time() + DAY
    page.evaluate(CONVERSION)
    cookie = device_cookie(page)
    assert cookie["expires"] > time.time() + 399 * DAY
    assert (cookie["value"], cookie["httpOnly"], cookie["sameSite"]) == (device, False, "Lax")
    assert f"cl_device_id={device}" in page.evaluate("document.cookie").split("; ")


def test_the_sdk_leaves_a_cookie_of_the_header_alone(fresh_page: Page, shop: RealService, site: Site) -> None:
    """On the next page no script touches it, which Safari would punish; without the header one does."""
    page = fresh_page
    page.goto(site.origin)
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    device = device_cookie(page)["value"]
    page.goto(site.origin)
    page.evaluate(RECORD_COOKIES)
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    assert page.evaluate("asked") == []
    page.context.clear_cookies(name="cl_device_id_kept")
    page.goto(site.origin)
    page.evaluate(RECORD_COOKIES)
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    assert page.evaluate("asked.at(-1)").startswith(f"cl_device_id={device}; max-age={400 * DAY}")


def set_of_device(page: Page) -> list[str]:
    """The names of the cookies, but of the mark that consent was withdrawn."""
    names = {str(cookie.get("name")) for cookie in page.context.cookies()}
    return sorted(names - {"cl_withdrawn"})


def test_an_answer_after_the_withdrawal_sets_nothing_for_good(page: Page) -> None:
    """Consent is withdrawn while a call is under way: the cookie that its answer sets again is deleted."""
    withdrawn = Event()

    def answer_late(batch: dict[str, Any]) -> Answer:
        assert withdrawn.wait(30)
        status, _, body = acknowledge(batch)
        return status, {"Set-Cookie": f"cl_device_id={batch['device_id']}; Path=/; Max-Age=1000"}, body

    with recording_server() as server:
        visit(page, server)
        server.answer = answer_late
        with page.expect_response("**/serviceCore/**") as answered:
            page.evaluate(f"void {CONVERSION}")
            server.wait_for(2)
            page.evaluate("Waylink.denyConsent()")
            assert set_of_device(page) == []
            withdrawn.set()
        assert "cl_device_id" in str(answered.value.all_headers())
        answered.value.finished()
        page.wait_for_function("!document.cookie.includes('cl_device_id')")
    assert set_of_device(page) == []


def test_nothing_is_set_before_consent_or_after_it_is_withdrawn(
    page: Page, answers: list[Response], shop: RealService, site: Site
) -> None:
    """Before consent no answer and no cookie; with it the answers set it; withdrawn, there is none."""
    page.goto(site.origin)
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}', consentMode: 'required'"))
    sale = page.evaluate_handle(f"({{promise: {CONVERSION}}})")
    assert (answers, page.context.cookies()) == ([], [])
    page.evaluate("Waylink.grantConsent()")
    page.evaluate("sale => sale.promise", sale)
    assert answers
    assert all("cl_device_id=" in (response.header_value("Set-Cookie") or "") for response in answers)
    page.evaluate("Waylink.denyConsent()")
    assert set_of_device(page) == []


def test_a_proxy_on_another_origin_sets_nothing(
    page: Page, answers: list[Response], shop: RealService, tmp_path: Path
) -> None:
    """Where the browser does not send the cookie along, the answers have none either; the script's stays."""
    with site_servers.python(tmp_path, shop.base_url) as site:
        shop.allow(site.origin)
        page.goto(site.origin)
        page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
        page.evaluate(CONVERSION)
        assert len(answers) == 2
        assert not any(response.header_value("Set-Cookie") for response in answers)
        assert device_cookie(page)["expires"] > time.time() + 399 * DAY
