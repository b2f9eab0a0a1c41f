"""What a site deletes is no decision: a page whose device is gone goes on as another one, and calls that
wait are not lost.

The page is told by the browser's own event that it comes back, since only Chromium's automation keeps pages.
"""

from __future__ import annotations

import uuid

import pytest

from tests.browser.recording_server import acknowledge, refuse
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


@pytest.mark.parametrize(
    "mark", ["", "localStorage['waylink:'] = 'waylink:'", "document.cookie = 'cl_withdrawn=1'"]
)
def test_absence_is_no_decision(visitor: Visitor, mark: str) -> None:
    """In every engine: a page that comes back without its device goes on as another one, nobody's; with the
    mark of a withdrawal, in storage or in a cookie, it sends nothing more."""
    visitor.visit()
    visitor.js("void Waylink.identify({customer_id: 'ada'})")
    visitor.js(CONVERSION)
    visitor.js(f"{mark}, {DELETE}" if mark else DELETE)
    visitor.js(RETURN)
    assert visitor.js(f"{CONVERSION}.then((outcome) => outcome?.status)") == (None if mark else "accepted")
    assert (len(set(devices(visitor))), visitor.js("Waylink.hasConsent()")) == (
        (1, False) if mark else (2, True)
    )
    sales = [call for call in visitor.server.calls if call["kind"] == "conversion"]
    assert [call.get("customer_id") or None for call in sales] == (["ada"] if mark else ["ada", None])


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


def test_what_a_withdrawal_deleted_does_not_come_back(visitor: Visitor) -> None:
    """Must not arrive: a sale of a page that was kept, where another page withdrew and then agreed again. The
    console says that it is gone: the site itself may have emptied the store."""
    visitor.visit()
    visitor.server.answer = refuse(503, Retry_After="600")
    visitor.js(CONVERSION)
    visitor.server.answer = acknowledge
    visitor.js("void localStorage.clear()")  # the page that does it hears nothing, as one that is kept
    visitor.js(DELETE)
    visitor.js("void (document.cookie = `cl_device_id=${crypto.randomUUID()}; path=/`)")
    visitor.js("void (console.warn = (...said) => { window.warned = said.slice(0, 2) })")
    visitor.js(RETURN)
    visitor.js(SENTINEL)
    assert visitor.sent == ["attribution", "conversion", "attribution", "sentinel"]
    assert visitor.js("warned") == ["Waylink", "dropped"]


# A page of the same site beside this one, as in another tab; `frame` is its window.
OPEN_FRAME = """new Promise((opened) => {
  const element = document.body.appendChild(document.createElement('iframe'));
  element.onload = () => opened(void (window.frame = element.contentWindow));
  element.src = '/framed';
})"""
REMOVE_CALLS = """new Promise((heard) => {
  addEventListener('storage', () => heard());
  for (const name of Object.keys(localStorage))
    if (name.includes(':call_')) frame.localStorage.removeItem(name);
})"""
BACK_ONLINE = "void dispatchEvent(new Event('online'))"


def leave_a_sale_waiting(visitor: Visitor) -> None:
    """The service does not take a sale of this page, and takes what comes next."""
    visitor.visit()
    visitor.server.answer = refuse(503, Retry_After="1")
    visitor.js(CONVERSION)
    visitor.server.answer = acknowledge


def test_a_site_that_clears_its_storage_loses_no_sale(visitor: Visitor) -> None:
    """Must arrive again: a sale that waited when the site emptied `localStorage`."""
    leave_a_sale_waiting(visitor)
    visitor.js("void localStorage.clear()")
    _, *tries = visitor.server.wait_for(3)
    assert [call["kind"] for call in tries] == ["conversion", "conversion"]
    assert tries[0]["call_id"] == tries[1]["call_id"]


def test_what_was_cleared_is_there_for_the_next_page(visitor: Visitor) -> None:
    """Must arrive from a later page: a sale that waited when the site emptied `localStorage`."""
    visitor.visit()
    visitor.server.answer = refuse(503, Retry_After="600")
    visitor.js(CONVERSION)
    visitor.js("void localStorage.clear()")
    visitor.open("/later")
    visitor.server.answer = acknowledge
    visitor.js(INIT)
    visitor.server.wait_for_kinds("conversion")


def test_what_another_tab_has_sent_does_not_come_back(visitor: Visitor) -> None:
    """Must not arrive: a sale that another tab has taken out of the store, because it was sent there."""
    visitor.visit()
    visitor.js(OPEN_FRAME)
    visitor.server.answer = refuse(503, Retry_After="600")
    visitor.js(CONVERSION)
    visitor.js(REMOVE_CALLS)
    visitor.server.answer = acknowledge
    visitor.js("void (localStorage.removeItem('waylink:c_web_test:pause'))")
    visitor.js(BACK_ONLINE)
    visitor.expect("attribution", "conversion")


def test_a_withdrawal_takes_what_the_page_remembers(visitor: Visitor) -> None:
    """Must not arrive: a sale from before another tab's withdrawal, where the site had emptied the store."""
    visitor.visit()
    visitor.js(OPEN_FRAME)
    visitor.server.answer = refuse(503, Retry_After="600")
    visitor.js(CONVERSION)
    visitor.server.answer = acknowledge
    visitor.js("void localStorage.clear()")
    visitor.js("frame.Waylink.init({apiKey: 'c_web_test', allowIframe: true})")
    visitor.js("""new Promise((heard) => {
      addEventListener('storage', (event) => event.newValue && heard());
      frame.Waylink.denyConsent();
    })""")
    visitor.js("void Waylink.grantConsent()")
    visitor.js(BACK_ONLINE)
    visitor.js(SENTINEL)
    assert visitor.sent.count("conversion") == 1
    assert visitor.js("Object.keys(localStorage).filter((name) => name.includes(':call_'))") == []
