"""What a site deletes is no decision: a page whose device is gone goes on as another one.

The page is told by the browser's own event that it comes back, since only Chromium's automation keeps pages.
"""

from __future__ import annotations

import uuid

from tests.browser.visitor import INIT, SENTINEL, Visitor

RETURN = "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))"
CONVERSION = "Waylink.trackConversion({revenue: 1, currency: 'EUR'})"
# Has the browser delete the cookie from the host and from every domain above it.
DELETE = """location.hostname.split('.').forEach((_, index, labels) => {
  for (const domain of ['', '; domain=' + labels.slice(index).join('.')])
    document.cookie = 'cl_device_id=; max-age=0; path=/' + domain;
})"""
# Requests end when `end` is called, as those of a page that was kept end when it comes back.
HOLD = (
    "void (window.fetch = () => new Promise((_, reject) => { window.end = () => reject(new TypeError()) }))"
)
HELD = """new Promise((held) => {
  const poll = setInterval(() => window.end && held(clearInterval(poll)), 5);
})"""


def devices(visitor: Visitor) -> list[str]:
    """The device of each request."""
    return [request["batch"]["device_id"] for request in visitor.server.requests]


def test_a_request_that_ends_as_the_page_returns_is_kept(visitor: Visitor) -> None:
    """Must arrive: a sale whose request the browser ended. Must not: a wish to erase the device."""
    visitor.open()
    visitor.js(INIT.replace("apiKey", "eraseOnWithdrawal: true, apiKey"))
    visitor.js("void (window.own = fetch)")
    visitor.js(HOLD)
    visitor.js(f"void {CONVERSION}")
    visitor.js(HELD)
    visitor.js(DELETE)
    visitor.js(f"void (window.fetch = own, {RETURN}, end())")
    visitor.server.wait_for_kinds("conversion")
    assert "erase" not in visitor.server.kinds


def test_another_visit_of_the_tab_keeps_what_it_knows(visitor: Visitor) -> None:
    """The page takes over another device of the browser, and what this tab's session knows of it."""
    visitor.visit()
    other = str(uuid.uuid4())
    visitor.js(f"void (sessionStorage['waylink:cl_device_id'] = '{other}')")
    visitor.js("void (sessionStorage['waylink:c_web_test:customer'] = 'c-18')")
    visitor.js(DELETE)
    visitor.js(f"void (document.cookie = 'cl_device_id={other}; path=/')")
    visitor.js(RETURN)
    visitor.js(SENTINEL)
    assert devices(visitor)[-1] == other
    assert visitor.server.calls[-1].get("customer_id") == "c-18"
