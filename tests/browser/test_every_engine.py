"""The SDK's rules in Firefox and WebKit: what must arrive, and what must not.

What storage, cookies, windows and the network decide runs in both, the rest in WebKit. In Chromium the files
of rules/ and calls/ show the same, one by one and in every case.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

from tests.browser.recording_server import Answer, acknowledge, refuse, reject
from tests.browser.shop_pages import WITHDRAWN
from tests.browser.visitor import INIT, Visitor, in_other_engines, in_webkit

WITH_CONSENT_MODE = "Waylink.init({apiKey: 'c_web_test', consentMode: 'required'})"
BACK = """new Promise((arrived) => {
  addEventListener('popstate', () => arrived(1), {once: true});
  history.back();
})"""
# A window that no click asked for is blocked.
WINDOW_BUTTON = """document.body.insertAdjacentHTML('beforeend', '<button id="button">Open</button>'),
window.started = new Promise((ready) => {
  document.querySelector('#button').onclick = () => {
    window.other = open('%s');
    const poll = setInterval(() => {
      if (!other.Waylink) return;
      clearInterval(poll);
      ready(other.INIT);
    }, 20);
  };
}), 0""".replace("INIT", INIT)
STORED = (
    "[document.cookie.split('=')[0], ...Object.keys(localStorage), ...Object.keys(sessionStorage)]"
    f".filter((name) => !{list(WITHDRAWN)}.includes(name)).join()"
)


def convert(order: str) -> str:
    """A conversion of this order."""
    return f"Waylink.trackConversion({{revenue: 1, currency: 'EUR', transaction_id: '{order}'}})"


@in_other_engines
def test_a_first_visit_sends_one_check_and_a_later_page_none(visitor: Visitor) -> None:
    """Rules 2 and 5: a new device is checked once, without a preflight, and who came on their own has no
    attribution, before init or after it; plain navigation sends nothing."""
    visitor.open()
    assert visitor.js("Waylink.getAttribution()") is None
    visitor.js(INIT)
    assert visitor.js("Waylink.getAttribution()") is None
    visitor.visit("/about")
    visitor.expect("attribution")
    assert visitor.server.requests[0]["headers"]["Content-Type"].lower() == "text/plain;charset=utf-8"


@in_other_engines
def test_one_device_cookie_for_every_subdomain(visitor: Visitor) -> None:
    """The cookie stands on the widest domain that the browser accepts, and no other cookie is left."""
    visitor.visit(subdomain="www.")
    (cookie,) = visitor.tab.cookies()
    assert (cookie["name"], cookie["domain"].lstrip(".")) == ("cl_device_id", visitor.shop)
    visitor.visit(subdomain="app.")
    assert [tab_cookie["value"] for tab_cookie in visitor.tab.cookies()] == [cookie["value"]]
    assert cookie["value"] == visitor.server.requests[0]["batch"]["device_id"]


@in_webkit
def test_calls_before_init_are_sent_after_it_in_order(visitor: Visitor) -> None:
    """Rule 1: what is called before init arrives after the check, in the order of the calls."""
    visitor.open()
    visitor.js("void Waylink.identify({customer_id: 'c1'})")
    visitor.js(f"void {convert('before')}")
    visitor.js(INIT)
    visitor.server.wait_for(3)
    assert visitor.server.kinds == ["attribution", "identify", "conversion"]


@in_other_engines
def test_attribution_and_identity_last_for_the_tab_session(visitor: Visitor) -> None:
    """Rules 3, 4 and 5: the signals of the address are sent, and their context holds on later pages. The
    customer is attached to later calls of the tab, and the e-mail address is sent hashed."""
    visitor.visit("/?cl_link_id=L1&utm_source=news&colour=red")
    assert visitor.server.calls[0]["signals"] == {"cl_link_id": "L1", "utm_source": "news"}
    visitor.js("Waylink.identify({customer_id: 'c1', email: ' John_Smith@Gmail.com '})")
    visitor.server.wait_for(2)
    visitor.visit("/checkout")
    assert visitor.js("Waylink.getAttribution()")["cl_link_id"] == "L1"
    visitor.js(convert("order-1"))
    # By kind: a call whose answer the visitor did not wait for may come twice, with one call_id.
    visitor.server.wait_for_kinds("identify", "conversion")
    calls = {call["kind"]: call for call in visitor.server.calls}
    identity, conversion = calls["identify"], calls["conversion"]
    assert identity["email_sha256"] == hashlib.sha256(b"john_smith@gmail.com").hexdigest()
    assert "email" not in identity
    assert conversion["customer_id"] == "c1"


@in_webkit
def test_nothing_happens_before_consent(visitor: Visitor) -> None:
    """Rule 6: nothing is stored or sent before grantConsent, which sends what waited, in order."""
    visitor.open("/?utm_source=news")
    visitor.js(WITH_CONSENT_MODE)
    visitor.js(f"void {convert('waiting')}")
    assert visitor.js("Waylink.hasConsent()") is False
    assert visitor.js(STORED) == ""
    assert visitor.server.requests == []
    visitor.js("Waylink.grantConsent()")
    visitor.server.wait_for(2)
    assert visitor.server.kinds == ["attribution", "conversion"]


@in_webkit
def test_denied_consent_discards(visitor: Visitor) -> None:
    """Rule 6: denyConsent drops what waited; its promises resolve, and it is not sent after a later grant."""
    visitor.open()
    visitor.js(WITH_CONSENT_MODE)
    visitor.js(f"void (window.dropped = {convert('dropped')})")
    visitor.js("Waylink.denyConsent()")
    assert visitor.js("window.dropped.then((value) => value === undefined)") is True
    visitor.js("Waylink.grantConsent()")
    visitor.expect("attribution")


@in_other_engines
def test_withdrawn_consent_forgets(visitor: Visitor) -> None:
    """denyConsent after a grant deletes cookie and storage, and has the service erase what it has."""
    visitor.open("/?utm_source=news")
    visitor.js(INIT.replace("apiKey", "eraseOnWithdrawal: true, apiKey"))
    visitor.js("Waylink.identify({customer_id: 'c1'})")
    visitor.server.wait_for(2)
    assert "cl_device_id" in visitor.js(STORED)
    visitor.js("Waylink.denyConsent()")
    assert visitor.js(STORED) == ""
    assert visitor.js("Waylink.getAttribution()") is None
    visitor.server.wait_for_kinds("erase")


@in_other_engines
def test_route_changes_are_checked_once(visitor: Visitor) -> None:
    """Rule 7: pushState, replaceState and popstate check an address with a signal, and the same one once."""
    visitor.visit()
    for change in ("pushState", "replaceState"):
        visitor.js(f"history.{change}(null, '', '/?utm_source={change}')")
    visitor.js("history.pushState(null, '', '/plain')")
    visitor.js(BACK)
    visitor.expect("attribution", "attribution", "attribution")
    assert [call.get("signals") for call in visitor.server.calls[1:3]] == [
        {"utm_source": "pushState"},
        {"utm_source": "replaceState"},
    ]


@in_other_engines
def test_iframes_need_allow_iframe(visitor: Visitor) -> None:
    """In an iframe the SDK does nothing, and its promises resolve, unless allowIframe is set."""
    visitor.open()
    for option, expected in (("false", []), ("true", ["attribution", "framed"])):
        visitor.js(
            f"""new Promise((loaded) => {{
              window.frame = document.createElement('iframe');
              frame.onload = () => loaded(1);
              frame.src = {visitor.url("/framed")!r};
              document.body.append(frame);
            }})"""
        )
        in_frame = "frame.contentWindow.Waylink"
        visitor.js(f"{in_frame}.init({{apiKey: 'c_web_test', allowIframe: {option}}})")
        visitor.js(f"{in_frame}.trackEvent('framed')")
        assert visitor.sent == expected


@in_webkit
def test_a_failed_call_is_sent_again_with_its_call_id(visitor: Visitor) -> None:
    """What a failing service did not acknowledge comes again from a later page, with the same call_id."""
    visitor.visit()
    visitor.server.answer = refuse(503)
    visitor.js(convert("order-1"))
    failed = visitor.server.wait_for(2)[1]
    visitor.server.answer = acknowledge
    visitor.visit("/later")
    assert visitor.server.wait_for(3)[-1]["call_id"] == failed["call_id"]


@in_other_engines
def test_a_call_right_before_the_tab_closes_arrives(visitor: Visitor) -> None:
    """A conversion is delivered although its tab is closed in the same moment and the service is slow."""
    visitor.visit()

    def slowly(batch: dict[str, Any]) -> Answer:
        time.sleep(0.15)
        return acknowledge(batch)

    visitor.server.answer = slowly
    visitor.js(WINDOW_BUTTON % visitor.url("/thanks"))
    visitor.tab.click("#button")
    visitor.js("started")
    visitor.js(f"void other.{convert('last')}, other.close()")
    assert visitor.server.wait_for(2)[1]["transaction_id"] == "last"


@in_webkit
def test_the_promise_tells_what_became_of_a_call(visitor: Visitor) -> None:
    """Accepted, rejected in the service's own words, and waiting where a firewall uses the same status."""
    visitor.visit()
    assert visitor.js(convert("order-1"))["status"] == "accepted"
    visitor.server.answer = reject(403)
    rejected = visitor.js(convert("order-2"))
    assert (rejected["status"], rejected["error"]["errorMessage"]) == ("rejected", "Invalid Api Key")
    visitor.server.answer = lambda _: (403, {}, "<h1>Checking your browser</h1>")
    assert visitor.js(convert("order-3")) == {"status": "waiting"}
    visitor.server.answer = acknowledge
    visitor.visit("/later")
    assert visitor.server.wait_for(5)[4]["transaction_id"] == "order-3"


@in_webkit
def test_another_key_sends_nothing_of_this_one(visitor: Visitor) -> None:
    """What waits, and who the customer is, belongs to the API key that it was told with."""
    visitor.visit()
    visitor.server.answer = refuse(503)
    visitor.js("void Waylink.identify({customer_id: 'c-17'})")
    visitor.js(convert("order-1"))
    visitor.server.answer = acknowledge
    visitor.server.requests.clear()
    visitor.open("/other")
    visitor.js(INIT.replace("c_web_test", "c_web_other"))
    visitor.js("dispatchEvent(new Event('online'))")
    visitor.js("Waylink.trackEvent('sentinel')")
    assert [call.get("name") for call in visitor.server.calls] == ["sentinel"]
    assert not visitor.server.calls[0].get("customer_id")


@in_other_engines
def test_a_withdrawal_is_heard_by_other_windows(visitor: Visitor) -> None:
    """Consent is the origin's: withdrawn in one window, nothing is sent or stored by the other."""
    visitor.visit()
    visitor.js(WINDOW_BUTTON % visitor.url("/other"))
    visitor.tab.click("#button")
    visitor.js("started")
    visitor.js("other.Waylink.denyConsent()")
    visitor.js(
        "new Promise((heard) => { const poll = setInterval(() => {"
        " if (!Waylink.hasConsent()) heard(clearInterval(poll)); }, 20) })"
    )
    assert visitor.js(f"{convert('late')}.then((outcome) => outcome === undefined)") is True
    assert visitor.js(STORED) == ""
    assert visitor.js("other.close(), 0") == 0
    visitor.js("Waylink.grantConsent()")
    visitor.expect("attribution", "attribution")


@in_webkit
def test_an_answer_that_makes_no_sense_breaks_nothing(visitor: Visitor) -> None:
    """After an answer that is not the service's, init resolves and no error reaches the page."""
    visitor.server.answer = lambda _: (200, {}, "garbage")
    visitor.open()
    visitor.js(
        "window.faults = [], addEventListener('error', (event) => faults.push(event.message)), "
        "addEventListener('unhandledrejection', (event) => faults.push(String(event.reason))), 0"
    )
    visitor.js(INIT)
    visitor.js(convert("order-1"))
    assert visitor.js("faults") == []
