"""A good guest: the SDK never throws into a page, and changes nothing of it, whatever the page has done."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer, acknowledge, refuse
from tests.browser.shop_pages import CONVERSION, INIT, visit

SNAPSHOT = """() => Object.getOwnPropertyNames(window).flatMap(name => {
    let owner; try { owner = window[name] } catch { return [name] }
    const parts = [owner, owner && owner.prototype].filter(part => typeof part === 'function' ||
        part && typeof part === 'object' && name[0] === name[0].toUpperCase());
    const keys = (part, i) => Reflect.ownKeys(part).map(key => name + i + '.' + String(key));
    return [name, ...parts.flatMap(keys)];
}).filter(name => !name.startsWith('Waylink'))"""

# Counts the tasks that timers begin, and keeps in which of them each of these was used first; `init` is in 0.
FIRST_USES = """() => {
    let task = 0;
    window.firstUses = {};
    const noting = (what, use) => function (...given) {
        firstUses[what] ??= task;
        return use.apply(this, given);
    };
    const wrap = (owner, name, what) => {
        const {get, set} = Object.getOwnPropertyDescriptor(owner, name);
        Object.defineProperty(owner, name, {get: noting(what, get), set, configurable: true});
    };
    wrap(Document.prototype, 'cookie', 'cookie');
    wrap(window, 'sessionStorage', 'sessionStorage');
    wrap(window, 'localStorage', 'localStorage');
    window.fetch = noting('request', fetch);
    const later = setTimeout;
    window.setTimeout = (run, pause) => later(() => { task++; run() }, pause);
}"""


@pytest.fixture(autouse=True)
def no_errors(page: Page, faults: list[str]) -> Iterator[None]:
    """No uncaught error and no unhandled rejection."""
    yield
    page.evaluate("0")
    assert faults == []


HOSTILE = {
    "storage that throws": "for (const kind of ['localStorage', 'sessionStorage'])"
    " Object.defineProperty(window, kind, {get() { throw new Error('no') }});",
    "storage that is full": "Storage.prototype.setItem = () => { throw new Error('full') };",
    "lists with toJSON": "Array.prototype.toJSON = function () { return 'spoilt' };",
    "an enumerable addition": "Array.prototype.extra = Object.prototype.more = () => 1;",
    "cookies that throw": "Object.defineProperty(document, 'cookie',"
    " {get() { throw new Error('no') }, set() { throw new Error('no') }});",
    "cookies that are no text": "Object.defineProperty(document, 'cookie', {get: () => null, set() {}});",
    "a wrapped fetch": "const own = fetch; window.fetch = (...all) => own(...all);",
    "locks that refuse": "Object.defineProperty(navigator, 'locks', {get() { throw new Error('no') }});",
    "a console that throws": "console.log = () => { throw new Error('no') };",
    "frozen history": "Object.freeze(history);",
}
BROKEN = {
    "a fetch that throws": "window.fetch = () => { throw new Error('no') };",
    "a fetch that gives nothing": "window.fetch = () => undefined;",
    "JSON that throws": "JSON.stringify = () => { throw new Error('no') };",
    "no Promise": "window.Promise = undefined;",
    "no URL": "window.URL = undefined;",
}


def shops(server: RecordingServer, changes: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Each of these with the address of a shop that nobody has visited, and nothing recorded."""
    for number, (name, change) in enumerate(changes.items()):
        server.requests.clear()
        yield name, change, server.url(host=f"{number}-{server.host}")


def test_works_on_hostile_pages(page: Page, faults: list[str], server: RecordingServer) -> None:
    """The check and a conversion arrive, and no error reaches the page."""
    for name, change, address in shops(server, HOSTILE):
        page.goto(address)
        page.evaluate(f"() => {{ {change} }}")
        page.evaluate(
            f"{INIT}; {CONVERSION}"
        )  # awaited, or the page would hand it over again when it is left
        server.wait_for(2)
        assert server.kinds == ["attribution", "conversion"], name
        assert isinstance(server.requests[0]["batch"]["calls"], list), name
        page.evaluate("0")
        assert faults == [], name


def test_stays_quiet_on_broken_pages(page: Page, faults: list[str], server: RecordingServer) -> None:
    """Where nothing can be sent, no call throws."""
    for name, change, address in shops(server, BROKEN):
        page.goto(address)
        made = page.evaluate(
            f"() => {{ {change} const calls = Object.keys(Waylink).filter(name => name !== 'init');"
            " Waylink.init({apiKey: 'k'})?.catch(() => 0);"
            " for (const name of calls) Waylink[name]({customer_id: 'c', revenue: 1, currency: 'EUR'})"
            "?.catch?.(() => 0); return calls.length }"
        )
        assert made == 12, name
        page.evaluate("0")
        assert faults == [], name


def test_an_exception_in_a_flush_ends_it_only(page: Page, server: RecordingServer) -> None:
    """Where something of the page throws as a request ends, the promise resolves, and later calls arrive."""
    visit(page, server)
    server.answer = refuse(503)
    page.evaluate("window.own = Math.random; Math.random = () => { throw new Error('no') }; 0")
    page.evaluate(CONVERSION)
    server.answer = acknowledge
    page.evaluate("Math.random = own; 0")
    assert page.evaluate("Waylink.trackEvent('a')")["status"] == "accepted"
    server.wait_for_kinds("conversion", "event")


def test_nothing_but_one_name_is_added(page: Page, server: RecordingServer) -> None:
    """Every own property of window, and of every built-in and its prototype, is the same before and after."""
    page.goto("about:blank")
    page.route("**/waylink.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(server.url("/without"))
    before = set(page.evaluate(SNAPSHOT))
    page.unroute("**/waylink.js")
    visit(page, server)
    page.evaluate(f"{CONVERSION}")
    assert set(page.evaluate(SNAPSHOT)) == before


def test_what_is_slow_at_first_has_tasks_of_its_own(page: Page, server: RecordingServer) -> None:
    """Cookies, each storage and the request are first used in four tasks, none of which is init's."""
    page.goto(server.url())
    page.evaluate(FIRST_USES)
    page.evaluate(INIT)
    server.wait_for(1)
    tasks = page.evaluate("firstUses")
    assert sorted(tasks) == ["cookie", "localStorage", "request", "sessionStorage"]
    assert len(set(tasks.values())) == len(tasks)
    assert 0 not in tasks.values()


def test_a_first_visit_raises_no_exception(page: Page, server: RecordingServer) -> None:
    """Nothing is thrown in it, not even what is caught at once: exceptions are slow, the first above all."""
    page.goto(server.url("/?utm_source=ads", "localhost"))
    debugger = page.context.new_cdp_session(page)
    thrown: list[str] = []

    def note(event: dict[str, Any]) -> None:
        thrown.append(event["data"]["description"])
        debugger.send("Debugger.resume")

    debugger.on("Debugger.paused", note)
    debugger.send("Debugger.enable")
    debugger.send("Debugger.setPauseOnExceptions", {"state": "all"})
    page.evaluate(INIT)
    assert server.kinds == ["attribution"]
    page.evaluate("{ try { null.shown } catch {} }")
    debugger.detach()
    assert len(thrown) == 1, thrown
    assert "shown" in thrown[0]


def test_a_blocked_service_is_quiet(page: Page, server: RecordingServer) -> None:
    """Where the service can't be reached, init and calls resolve."""
    page.goto(server.url())
    page.evaluate("Waylink.init({apiKey: 'k', baseUrl: 'http://127.0.0.1:1'})")
    page.evaluate(CONVERSION)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("app.acme.com", ".acme.com"),
        ("a.b.acme.com.au", ".acme.com.au"),
        ("foo.github.io", "foo.github.io"),
        ("www.city.kawasaki.jp", ".city.kawasaki.jp"),
        ("localhost", "localhost"),
    ],
)
def test_the_widest_cookie_domain(page: Page, server: RecordingServer, host: str, domain: str) -> None:
    """The cookie stands on the widest domain, also after it was renewed, and no other is left behind."""
    for _ in range(2):
        visit(page, server, host=host)
        (cookie,) = page.context.cookies(server.url(host=host))
        assert (str(cookie.get("domain")).lstrip("."), cookie.get("name")) == (
            domain.lstrip("."),
            "cl_device_id",
        )
    assert server.kinds == ["attribution"]


def test_a_page_that_keeps_cookies_from_us(fresh_page: Page, server: RecordingServer) -> None:
    """Where no cookie can be set, as some consent tools have it, a tab is one device on all its pages."""
    fresh_page.add_init_script("Object.defineProperty(document, 'cookie', {get: () => '', set() {}})")
    for source in ("first", "second", "third"):
        visit(fresh_page, server, f"/?utm_source={source}")
    (device,) = {request["batch"]["device_id"] for request in server.requests}
    assert str(uuid.UUID(device)) == device


ADD_FRAME = """([src, sandbox]) => new Promise((done) => {
  const frame = document.createElement('iframe');
  frame.onload = done;
  if (sandbox) frame.sandbox = sandbox;
  frame.src = src;
  document.body.append(frame);
})"""


@pytest.mark.parametrize("frame_host", ["", "other.test"], ids=["own", "other"])
def test_iframes(page: Page, server: RecordingServer, frame_host: str) -> None:
    """In an iframe nothing is sent without allowIframe, and every promise resolves; with it, all works."""
    page.goto(server.url("/blank"))
    for allowed, sent in (("false", []), ("true", ["attribution", "conversion"])):
        page.evaluate(ADD_FRAME, [server.url("/frame", frame_host), ""])
        frame = page.frames[-1]
        frame.evaluate(f"Waylink.init({{apiKey: 'k', allowIframe: {allowed}}}); Waylink.init(); {CONVERSION}")
        assert server.kinds == sent
    visit(page, server)
    assert server.kinds == [*sent, *(["attribution"] if frame_host else [])]


def test_a_sandboxed_frame(page: Page, server: RecordingServer) -> None:
    """In a frame of opaque origin, where all storage throws, no error is raised, and allowIframe decides."""
    page.goto(server.url("/blank"))
    for allowed in ("false", "true"):
        page.evaluate(ADD_FRAME, ["/frame", "allow-scripts"])
        page.frames[-1].evaluate(f"Waylink.init({{apiKey: 'k', allowIframe: {allowed}}}); {CONVERSION}")
        assert server.kinds == (["attribution", "conversion"] if allowed == "true" else [])
    page.evaluate(INIT)
    server.wait_for(3)
    assert server.kinds == ["attribution", "conversion", "attribution"]
