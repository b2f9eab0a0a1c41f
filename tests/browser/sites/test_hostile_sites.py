"""Sites as they are: what stands there is left alone, and stops nothing.

What engines may do differently runs in Chromium, Firefox and WebKit, all else in Chromium.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.browser.recording_server import acknowledge, reject, reject_each
from tests.browser.shop_pages import WITHDRAWN
from tests.browser.visitor import INIT, SENTINEL, Visitor, in_chromium

FAULTS = (
    "window.faults = [], addEventListener('error', (event) => faults.push(event.message)), "
    "addEventListener('unhandledrejection', (event) => faults.push(String(event.reason))), 0"
)
OTHERS = [
    "cl_cart",
    "cl_theme",
    "cl_call_center",
    "cl_calls",
    "waylink_cart",
    "waylink",
    "waylink_call_me",
    "mycl_checked",
]
RECORD_COOKIES = """(() => {
  window.asked = [];
  const own = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
  Object.defineProperty(document, 'cookie', {
    get: () => own.get.call(document),
    set: (text) => { asked.push(text); own.set.call(document, text); },
  });
})()"""
FRAMES = """Promise.all([1, 2, 3, 4, 5].map(() => new Promise((started) => {
  const frame = document.createElement('iframe');
  frame.onload = () => started(frame.contentWindow.Waylink.init({apiKey: 'k', allowIframe: true}));
  frame.src = '/framed';
  document.body.append(frame);
})))"""
PRIVATE = "/reset/?token=s3cret&email=ada%40shop.example&utm_source=news&code=77&gclid=G#s3cret"


def prepare(visitor: Visitor, head: str) -> None:
    """Have this stand on the page before the script."""
    visitor.server.head = f"<script>delete window.Waylink</script>{head}<script src='/waylink.js'></script>"


def test_a_renewed_cookie_is_never_gone(visitor: Visitor) -> None:
    """Of a known visitor no cookie is deleted that can be read, and the cookie keeps its value."""
    visitor.visit()
    before = visitor.js("document.cookie")
    visitor.open("/later")
    visitor.js(RECORD_COOKIES)
    visitor.js(INIT)
    asked = visitor.js("asked")
    assert [text for text in asked if text.startswith("cl_device_id=") and "max-age=0" in text] == []
    assert any(text.startswith("cl_device_id=") for text in asked)
    assert visitor.js("document.cookie") == before


def test_pages_of_a_first_visit_agree_on_one_device(visitor: Visitor) -> None:
    """Five pages that start at once are one device, which is checked once."""
    visitor.open()
    visitor.js(FRAMES)
    visitor.js(f"{INIT}.then(() => {SENTINEL})")
    visitor.server.wait_for(2)
    assert len({request["batch"]["device_id"] for request in visitor.server.requests}) == 1
    assert visitor.server.kinds.count("attribution") == 1


@in_chromium
def test_what_a_site_stores_is_left_alone(visitor: Visitor) -> None:
    """In use and by a withdrawal nothing goes but our own full names."""
    visitor.open()
    for name in OTHERS:
        visitor.js(f"localStorage[{name!r}] = sessionStorage[{name!r}] = 'mine'")
    visitor.js(INIT)
    visitor.js(SENTINEL)
    visitor.js("Waylink.denyConsent()")
    left = visitor.js("[Object.keys(localStorage).sort(), Object.keys(sessionStorage).sort()]")
    assert left == [sorted([*OTHERS, WITHDRAWN[0]]), sorted(OTHERS)]


@pytest.mark.parametrize("change", ["", "cookieDomain: 'HOST'"])
def test_a_withdrawal_takes_the_cookie_from_every_domain(visitor: Visitor, change: str) -> None:
    """Also where `cookieDomain` has changed since, in both directions, and beside a cookie of rubbish."""
    host = f"app.{visitor.shop}"
    now, later = change.replace("HOST", host), "" if change else f"cookieDomain: '{host}'"
    visitor.open(subdomain="app.")
    visitor.js(f"Waylink.init({{apiKey: 'k', {now}}})")
    visitor.js("document.cookie = 'cl_device_id=rubbish; path=/'")
    visitor.open("/later", subdomain="app.")
    visitor.js(f"Waylink.init({{apiKey: 'k', consentMode: 'required', {later}}})")
    visitor.js("Waylink.denyConsent()")
    assert visitor.js("document.cookie") == "cl_withdrawn=1"


@in_chromium
def test_a_cookie_that_is_no_uuid_is_replaced(visitor: Visitor) -> None:
    """What the service would refuse is not sent, and a cookie whose name ends like ours is none."""
    visitor.open()
    value = "01234567-89ab-4def-8123-456789abcdeg"
    visitor.js(f"document.cookie = 'cl_device_id={value}', document.cookie = 'x-cl_device_id={'1' * 36}'")
    visitor.js(INIT)
    visitor.expect("attribution")
    device = visitor.server.requests[0]["batch"]["device_id"]
    assert device[14] == "4"
    assert f"cl_device_id={device}" in visitor.js("document.cookie").split("; ")


def test_elements_of_our_names_change_nothing(visitor: Visitor) -> None:
    """Calls go where the script came from, not where an image named currentScript points; the SDK takes
    its name's place, where a form has it; and what forms hide of the document, it reads and writes."""
    hidden = ("cookie", "prerendering", "visibilityState", "referrer", "addEventListener", "baseURI")
    prepare(
        visitor,
        "<img name=currentScript src=//evil.test/waylink.js><form id=Waylink></form>"
        + "".join(f"<form name={name}></form>" for name in hidden)
        + "<form name=cookie></form>",
    )
    visitor.visit()
    visitor.expect("attribution")
    (cookie,) = visitor.tab.cookies()
    assert cookie["value"] == visitor.server.requests[0]["batch"]["device_id"]
    visitor.visit("/later")
    visitor.js(SENTINEL)
    assert {request["batch"]["device_id"] for request in visitor.server.requests} == {cookie["value"]}


FRAME_WITHOUT_ADDRESS = r"""new Promise((started) => {
  const options = `{apiKey: 'c_web_test', allowIframe: true}`;
  window.start = (framed) => framed.Waylink.init({apiKey: 'c_web_test', allowIframe: true}).then(started);
  const inner = `<script src=/waylink.js onload="top.start(window)"><\/script>`;
  document.body.appendChild(document.createElement('iframe')).srcdoc = %s;
})"""


@pytest.mark.parametrize("content", ["inner", "`<iframe srcdoc='${inner}'></iframe>`"])
def test_a_frame_without_an_address_is_part_of_its_page(visitor: Visitor, content: str) -> None:
    """The calls of a `srcdoc` frame carry the page's address and signals, and its cookie is the site's."""
    visitor.open("/kites?utm_source=news&size=9", subdomain="www.")
    visitor.js(FRAME_WITHOUT_ADDRESS % content)
    (call,) = visitor.server.wait_for(1)
    assert call["page"] == visitor.url("/kites?utm_source=news", "www.")
    assert call["signals"] == {"utm_source": "news"}
    (cookie,) = visitor.tab.cookies()
    assert (cookie["name"], cookie["domain"].lstrip(".")) == ("cl_device_id", visitor.shop)


@in_chromium
def test_a_prototype_patched_later_is_called(visitor: Visitor) -> None:
    """Code that wraps History.prototype after init is called, once, and the SDK still hears of the route."""
    visitor.visit()
    visitor.js(
        "(() => { const own = History.prototype.pushState; window.seen = 0;"
        " History.prototype.pushState = function (...all) { seen++; return own.apply(this, all); } })()"
    )
    visitor.js("history.pushState(null, '', '/?gclid=1')")
    visitor.expect("attribution", "attribution")
    assert visitor.js("seen") == 1


BREAKERS = {
    "a console that throws": "console.log = console.warn = () => { throw new Error('no'); }",
    "digest that fails": "crypto.subtle.digest = () => Promise.reject(new Error('no'))",
    "rubbish in every key": "for (const name of ['checked', 'attribution', 'customer', 'cl_device_id'])"
    " sessionStorage['waylink:c_web_test:' + name] = '{]'",
    "numbers in every key": "for (const name of ['checked', 'attribution', 'customer', 'cl_device_id'])"
    " sessionStorage['waylink:c_web_test:' + name] = '5'",
    "answers without headers": "(() => { const own = fetch; window.fetch = (...all) => own(...all).then("
    "(answer) => ({status: 200, ok: true, json: () => answer.json()})) })()",
}


@in_chromium
@pytest.mark.parametrize("breaker", BREAKERS.values(), ids=BREAKERS)
def test_nothing_ends_the_sdk(visitor: Visitor, breaker: str) -> None:
    """The check, a lead with contacts and an event arrive, and no error reaches the page."""
    visitor.open("/?gclid=1")
    visitor.js(FAULTS)
    visitor.js(f"(() => {{ {breaker} }})()")
    visitor.js(INIT.replace("apiKey", "debug: true, apiKey"))
    visitor.js("void Waylink.trackLead({email: 'ada@shop.example'})")
    visitor.js(f"void {SENTINEL}")
    visitor.server.wait_for_kinds("attribution", "lead", "event")
    assert visitor.js("faults") == []


def test_what_a_hidden_page_sends_carries_no_cookies_elsewhere(visitor: Visitor) -> None:
    """What is handed over when a page is hidden goes to a host of the same site without cookies."""
    data = visitor.url("", "data.")
    visitor.open()
    visitor.js("document.cookie = 'session=s3cret; domain=' + location.hostname")
    visitor.js(f"Waylink.init({{apiKey: 'k', baseUrl: {data!r}}})")
    visitor.js(
        "void Waylink.trackEvent('a'), document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))"
    )
    visitor.server.wait_for(2)
    assert not any("Cookie" in request["headers"] for request in visitor.server.requests)


# Metadata that no stack can hold.
DEEP = "(() => { let all = {}; for (let i = 0; i < 8000; i++) all = {all}; return all })()"
WRONG: list[tuple[str, str]] = [
    ("trackLead([])", "fields"),
    ("trackLead(new Date())", "fields"),
    ("trackLead(() => 1)", "fields"),
    ("trackEvent('a', {metadata: []})", "metadata"),
    ("trackEvent('a', {metadata: new Date()})", "metadata"),
    ("trackEvent('a', {metadata: 'text'})", "metadata"),
    (f"trackEvent('a', {{metadata: {DEEP}}})", "metadata"),
    ("trackEvent('a', {get product_id() { throw new Error('no') }})", "product_id"),
    ("trackEvent('a', {metadata: {get size() { throw new Error('no') }}})", "metadata"),
    ("trackConversion({revenue: 1, currency: 'E1R'})", "currency"),
    ("trackConversion({revenue: 1, currency: '€€€'})", "currency"),
    ("trackConversion({revenue: Infinity, currency: 'EUR'})", "revenue"),
    ("trackLead({client_timestamp: 'yesterday'})", "client_timestamp"),
    ("trackLead({client_timestamp: '2026-13-45'})", "client_timestamp"),
    ("trackLead({client_timestamp: 5})", "client_timestamp"),
    ("trackConversion({revenue: 1, currency: 'EUR', transaction_id: () => 7})", "transaction_id"),
    ("trackConversion({revenue: 1, currency: 'EUR', transaction_id: Symbol('7')})", "transaction_id"),
    ("trackConversion({revenue: 1, currency: 'EUR', transaction_id: Promise.resolve(7)})", "transaction_id"),
    ("trackConversion({revenue: 1, currency: 'EUR', transaction_id: 7n})", "transaction_id"),
    ("trackConversion({revenue: 1, currency: 'EUR', transaction_id: NaN})", "transaction_id"),
    ("trackEvent('a', {product_id: {toJSON() {}}})", "product_id"),
    ("trackEvent('a', {metadata: class {}})", "metadata"),
]


def test_bad_arguments_are_named(visitor: Visitor) -> None:
    """What the contract calls bad rejects with a TypeError that names the field, and is not sent; later calls
    are. Metadata 8,000 levels deep is bad, too, and no error of the page."""
    visitor.visit()
    visitor.js(FAULTS)
    told = "(error) => [error.name, ...error.message.split(' ', 2)]"  # behind the name stands the value
    calls = ", ".join(f"Waylink.{call}.catch({told})" for call, _ in WRONG)
    assert visitor.js(f"Promise.all([{calls}])") == [["TypeError", "Waylink:", name] for _, name in WRONG]
    visitor.expect("attribution")
    assert visitor.js("faults") == []


@in_chromium
def test_inherited_options_and_fields_count(visitor: Visitor) -> None:
    """What an object has from its prototype is given, getters of a class included."""
    visitor.open("/?utm_source=news")
    visitor.js("Waylink.init(Object.create({apiKey: 'k', consentMode: 'required'}))")
    assert visitor.js("Waylink.hasConsent()") is False
    visitor.js("Waylink.grantConsent()")
    sale = "new (class { get revenue() { return 5 } get currency() { return 'EUR' } })()"
    visitor.js(f"Waylink.trackConversion({sale})")
    assert visitor.server.wait_for(2)[1]["revenue"] == 5


@in_chromium
def test_what_is_lost_is_told_in_every_mode(visitor: Visitor) -> None:
    """An unknown option or field, a rejected call and a note on one that was taken are one warning each."""
    visitor.open()
    visitor.js("window.told = [], console.warn = (...all) => told.push(all.map(String).join(' ')), 0")
    visitor.js("Waylink.init({apiKey: 'k', consentmode: 'required'})")
    visitor.js("Waylink.trackConversion({revenue: 1, currency: 'EUR', transactionId: '7'})")

    visitor.server.answer = reject_each
    visitor.js("Waylink.trackEvent('a')")

    def note(batch: dict[str, Any]) -> Any:
        status, headers, body = acknowledge(batch)
        return status, headers, body.replace('"accepted"', '"accepted", "notes": ["name is cut"]')

    visitor.server.answer = note
    visitor.js("Waylink.trackEvent('a')")
    visitor.server.answer = reject(400)
    visitor.js("Waylink.trackEvent('b')")
    told = visitor.js("told")
    assert told[:2] == ["Waylink unknown consentmode", "Waylink unknown transactionId"]
    assert [text.split()[1] for text in told[2:]] == ["error", "notes", "error"]
    assert "transactionId" not in visitor.server.calls[1]


@in_chromium
def test_a_number_without_digits_is_no_phone(visitor: Visitor) -> None:
    """`n/a` is not hashed, and neither is an empty address; real ones are."""
    visitor.visit()
    visitor.js("Waylink.identify({customer_id: 'c', phone: 'n/a', email: ' '})")
    visitor.js("Waylink.identify({customer_id: 'c', phone: '+1 (650) 555-1212'})")
    first, second = visitor.server.wait_for(3)[1:]
    assert [name for name in first if "phone" in name or "email" in name] == []
    assert second["phone_sha256"] == hashlib.sha256(b"+16505551212").hexdigest()


@in_chromium
def test_the_page_of_a_call_has_nothing_private(visitor: Visitor) -> None:
    """Origin and path, and of the query the signals: no token, no address, no fragment."""
    visitor.visit(PRIVATE)
    visitor.js(SENTINEL)
    pages = [call["page"] for call in visitor.server.wait_for(2)]
    assert pages == [visitor.url("/reset/?utm_source=news&gclid=G")] * 2
    assert "s3cret" not in repr([request["batch"] for request in visitor.server.requests])


@in_chromium
def test_attribution_can_be_waited_for(visitor: Visitor) -> None:
    """`whenAttributed` gives what the answer says, also where consent comes later."""
    visitor.open("/?utm_source=news")
    assert visitor.js("Waylink.getAttribution()") is None
    visitor.js("void (window.context = Waylink.whenAttributed())")
    visitor.js("Waylink.init({apiKey: 'k', consentMode: 'required'})")
    visitor.js("void Waylink.grantConsent()")
    assert visitor.js("context")["utm_source"] == "news"
    assert visitor.js("Waylink.getAttribution() !== Waylink.getAttribution()") is True
    assert (
        visitor.js("(Waylink.getAttribution().utm_source = 'x', Waylink.getAttribution().utm_source)")
        == "news"
    )


@in_chromium
def test_who_waits_learns_that_there_is_nothing(visitor: Visitor) -> None:
    """On organic traffic, on a later page and after a refusal `whenAttributed` gives null."""
    visitor.visit()
    assert visitor.js("Waylink.whenAttributed()") is None
    visitor.visit("/later")
    assert visitor.js("Waylink.whenAttributed()") is None
    visitor.open("/denied")
    visitor.js("void (window.context = Waylink.whenAttributed())")
    visitor.js("Waylink.init({apiKey: 'k', consentMode: 'required'})")
    visitor.js("Waylink.denyConsent()")
    assert visitor.js("context.then((found) => found === null)") is True
    assert visitor.js("Waylink.whenAttributed()") is None
    visitor.js("history.pushState(null, '', '/?utm_source=later'), void Waylink.grantConsent()")
    assert visitor.js("Waylink.whenAttributed()")["utm_source"] == "later"


@in_chromium
def test_who_waits_learns_that_init_was_rejected(visitor: Visitor) -> None:
    """`whenAttributed` gives null, before and after; once `init` is called rightly, what the answer says."""
    visitor.open("/?utm_source=news")
    visitor.js(
        "window.soon = (it) => Promise.race([it, new Promise((say) => setTimeout(say, 3e3, 'open'))]), 0"
    )
    visitor.js("void (window.context = Waylink.whenAttributed())")
    assert visitor.js("Waylink.init({apiKey: 5}).catch(String)") == "TypeError: Waylink: apiKey 5"
    assert visitor.js("soon(context)") is None
    assert visitor.js("soon(Waylink.whenAttributed())") is None
    visitor.js("void (Waylink.init({apiKey: 'k'}), window.context = Waylink.whenAttributed())")
    assert visitor.js("context")["utm_source"] == "news"
