"""What the real service makes of calls, and the SDK of its answers: outcomes, erasure, two organizations."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.real_service import RealService, new_shop
from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, device_cookie, stored
from tests.polling import wait_for

ERASING = "eraseOnWithdrawal: true"
REQUIRED = "consentMode: 'required'"


def test_what_the_service_says_is_told(
    page: Page, server: RecordingServer, service_of_shop: RealService
) -> None:
    """By the real service: accepted, and accepted with a note where it rounds; a wrong key's calls are
    rejected, with the service's reason."""
    shop = new_shop(service_of_shop.service)
    shop.allow(server.url("", "told.localhost"))
    page.goto(server.url("/", "told.localhost"))
    page.evaluate(shop.init())
    accepted = page.evaluate(CONVERSION)
    assert (accepted["status"], accepted.get("notes"), accepted.get("error")) == ("accepted", None, None)
    rounded = page.evaluate("Waylink.trackConversion({revenue: 99.999, currency: 'JPY'})")
    assert rounded["status"] == "accepted"
    assert "revenue" in rounded["notes"][0]
    page.goto(server.url("/", "told.localhost"))
    page.evaluate(shop.init("apiKey: 'c_web_wrong'"))
    rejected = page.evaluate(CONVERSION)
    assert (rejected["status"], rejected["error"]["errorMessage"]) == ("rejected", "Invalid Api Key")


def test_two_organizations(page: Page, server: RecordingServer, service_of_shop: RealService) -> None:
    """With the real service: one gets the identity and the sale that were its own, and the other nothing."""
    first, second = new_shop(service_of_shop.service), new_shop(service_of_shop.service)
    for shop in (first, second):
        shop.allow(server.url("", "market.localhost"))
    page.goto(server.url("/", "market.localhost"))
    page.evaluate(first.init())
    page.context.set_offline(True)
    page.evaluate(f"Waylink.identify({{customer_id: 'c-17'}}); {CONVERSION}")
    page.context.set_offline(False)
    page.goto(server.url("/other", "market.localhost"))
    page.evaluate(second.init())
    page.evaluate("Waylink.trackEvent('sentinel')")
    page.goto(server.url("/", "market.localhost"))
    page.evaluate(first.init())
    wait_for(lambda: first.stored("conversions"), "not sent", lambda found: len(found) == 1)
    assert second.stored("conversions") == []
    assert second.stored("contacts") == []


def records_of(shop: RealService, device_id: str) -> list[str]:
    """The collections in which the service has something of a device."""
    return [name for name in ("devices", "conversions") if shop.service.stored(name, device_id=device_id)]


def test_what_the_service_has_of_the_device_goes(
    page: Page, server: RecordingServer, service_of_shop: RealService
) -> None:
    """Granted, used, withdrawn, on the real service: the records are gone there, and in the browser."""
    shop = new_shop(service_of_shop.service)
    shop.allow(server.url(""))
    shop.service.command("privacy", "withdrawal", "--org", shop.org_id, "--erase", "on")
    page.goto(server.url("/?utm_source=news"))
    page.evaluate(shop.init(f"{REQUIRED}, {ERASING}"))
    page.evaluate("Waylink.grantConsent()")
    page.evaluate(CONVERSION)
    device = device_cookie(page)["value"]
    assert records_of(shop, device) == ["devices", "conversions"]
    page.evaluate("Waylink.denyConsent()")
    assert stored(page) == []
    wait_for(lambda: records_of(shop, device), "not erased", lambda found: found == [])


def test_a_switch_that_is_off_is_told(
    page: Page, said: list[str], faults: list[str], server: RecordingServer, service_of_shop: RealService
) -> None:
    """Where the organization has not switched it on, one warning says so and names the command; an answer
    that does not come is no error of the page."""
    shop = new_shop(service_of_shop.service)
    shop.allow(server.url("", "off.localhost"))
    page.goto(server.url("/", "off.localhost"))
    page.evaluate(shop.init(ERASING))
    with page.expect_console_message(lambda message: message.type == "warning") as told:
        page.evaluate("Waylink.denyConsent()")
    notes = told.value.args[2].json_value()["notes"]
    assert "waylink privacy withdrawal" in str(notes)
    page.evaluate("Waylink.grantConsent()")
    page.context.set_offline(True)
    page.evaluate("Waylink.denyConsent()")
    page.evaluate("fetch('/').catch(() => 0)")  # fails after it
    assert len([text for text in said if text.startswith("Waylink")]) == 1
    assert faults == []
