"""Rule 2: the backend is asked on a device's first visit, or where the address carries a signal."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from tests.browser.recording_server import BATCH_PATH, RecordingServer
from tests.browser.shop_pages import expect_sent, visit

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_a_first_visit_is_one_check(page: Page, server: RecordingServer) -> None:
    """Must arrive: one request with one check, without a preflight. Must not: anything else."""
    visit(page, server)
    (request,) = server.requests
    assert request["path"] == BATCH_PATH
    assert request["headers"]["Content-Type"].lower() == "text/plain;charset=utf-8"
    batch = request["batch"]
    assert (batch["api_key"], bool(UUID.fullmatch(batch["device_id"]))) == ("c_web_test", True)
    (call,) = batch["calls"]
    assert (call["kind"], call["signals"], call["page"]) == ("attribution", {}, server.url("/"))
    assert UUID.fullmatch(call["call_id"])


def test_later_pages_without_a_signal_send_nothing(page: Page, server: RecordingServer) -> None:
    """Must not arrive: a check of a plain page, by a device that was seen before."""
    visit(page, server)
    for path in ("/", "/about", "/?colour=red", "/blank#utm_source=fragment", "/?utm_source="):
        visit(page, server, path)
    expect_sent(page, server, "attribution")


def test_a_known_device_in_a_new_tab_sends_nothing(page: Page, server: RecordingServer) -> None:
    """Must not arrive: a check because of a new tab, whose session knows nothing yet."""
    visit(page, server)
    tab = page.context.new_page()
    visit(tab, server, "/about")
    expect_sent(tab, server, "attribution")


def test_a_signal_on_a_later_page_is_checked(page: Page, server: RecordingServer) -> None:
    """Must arrive: a check of each page with a signal, with the device id of the first visit."""
    visit(page, server)
    visit(page, server, "/?gclid=G")
    expect_sent(page, server, "attribution", "attribution")
    assert server.calls[1]["signals"] == {"gclid": "G"}
    assert len({request["batch"]["device_id"] for request in server.requests}) == 1


def test_a_page_with_a_signal_that_is_reloaded_is_checked_once(page: Page, server: RecordingServer) -> None:
    """Must not arrive: a second check of the same address in the same tab session."""
    visit(page, server, "/?gclid=G")
    visit(page, server, "/?gclid=G")
    expect_sent(page, server, "attribution")
