"""The option `otherDomains`: a link to another site of the owner hands the device over."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import device_cookie, stored
from tests.browser.visitor import Visitor
from tests.polling import wait_for

PART = '<script src="/waylink-domains.js"></script>'
BLOG = "blog.example.test"  # in this file the shop and the blog are one owner's
# Reads what a click added before the browser follows the link, and keeps it from following.
CATCH = """addEventListener('click', (event) => {
  window.caught = event.target.href;
  event.preventDefault();
}); 0"""

# Resolves once the scripts of the page have run.
LOADED = """new Promise((loaded) => {
  const poll = setInterval(() => document.readyState == 'complete' && loaded(clearInterval(poll)), 10);
})"""


@pytest.fixture
def sites(server: RecordingServer) -> RecordingServer:
    """Both sites, whose pages load the part beside the script."""
    server.head = PART
    return server


def start(sites: RecordingServer, options: str = "") -> str:
    """The call of init on either site."""
    return f"Waylink.init({{apiKey: 'c_web_test', otherDomains: ['{sites.host}', '{BLOG}'], {options}}})"


def open_shop(page: Page, sites: RecordingServer, options: str = "") -> None:
    """A page of the shop with a link to the blog; the SDK has started."""
    page.goto(sites.url("/", sites.host))
    page.evaluate(start(sites, options))
    link = sites.url("/post?a=b+c&d=%20#part", BLOG)
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<a id=over href=\"{link}\">x</a>')")


def follow(page: Page, sites: RecordingServer) -> None:
    """Click the link, and wait until the blog's page is there."""
    page.click("#over")
    page.wait_for_url(lambda url: url.startswith(sites.url("/", BLOG)))


def handed_address(page: Page, sites: RecordingServer) -> str:
    """The address that a click on the link leads to, which nobody follows."""
    open_shop(page, sites)
    page.evaluate(CATCH)
    page.click("#over")
    address: str = page.evaluate("caught")
    return address


def devices(sites: RecordingServer) -> set[str]:
    """All devices that calls came from."""
    return {request["batch"]["device_id"] for request in sites.requests}


def test_one_device_on_both_sites(visitor: Visitor, sites: RecordingServer) -> None:
    """In every engine: the other site's cookie and calls are of the same device, its address as it was."""
    blog = f"blog-{visitor.shop}"
    init = f"Waylink.init({{apiKey: 'c_web_test', otherDomains: ['{visitor.shop}', '{blog}']}})"
    visitor.open()
    visitor.js(init)
    link = sites.url("/post?a=b+c#part", blog)
    visitor.js(f"void document.body.insertAdjacentHTML('beforeend', '<a id=over href=\"{link}\">x</a>')")
    visitor.tab.click("#over")
    part = "/waylink-domains.js"
    wait_for(lambda: sites.visits, "the other site did not load", lambda visits: visits.count(part) == 2)
    visitor.js(LOADED)
    visitor.js(init)
    assert visitor.js("location.href") == link
    visitor.js("Waylink.trackEvent('there')")
    assert len(devices(sites)) == 1
    assert [cookie["value"] for cookie in visitor.tab.cookies()] == list(devices(sites))
    assert "cl_device=" not in str([request["batch"] for request in sites.requests])


def test_the_link_and_the_address_stay_as_they_are(page: Page, sites: RecordingServer) -> None:
    """The link has the parameter for as long as it is followed; a router's state and query stay."""
    address = handed_address(page, sites)
    link = sites.url("/post?a=b+c&d=%20#part", BLOG)
    page.wait_for_function("link => document.querySelector('#over').href === link", arg=link)
    assert urlsplit(address).query.startswith("a=b+c&d=%20&cl_device=")
    assert urlsplit(address).fragment == "part"
    page.add_init_script("history.replaceState({router: 1}, '')")
    page.goto(address)
    assert page.evaluate("[location.href, history.state, history.length > 0]") == [link, {"router": 1}, True]


def test_a_known_visitor_of_the_other_site(page: Page, sites: RecordingServer) -> None:
    """The visit goes on as the device that comes, and not as the one that the other site knew."""
    page.goto(sites.url("/", BLOG))
    page.evaluate(start(sites))
    known = device_cookie(page)["value"]
    open_shop(page, sites)
    coming = device_cookie(page)["value"]
    follow(page, sites)
    page.evaluate(start(sites))
    page.evaluate("Waylink.trackEvent('there')")
    assert device_cookie(page)["value"] == coming != known
    assert sites.requests[-1]["batch"]["device_id"] == coming


def test_with_consent_only(page: Page, sites: RecordingServer) -> None:
    """Before the visitor agrees, nothing is added, and nothing stored there; the device is taken over after
    that, and a refusal there forgets it."""
    open_shop(page, sites, "consentMode: 'required'")
    page.evaluate(CATCH)
    page.click("#over")
    assert "cl_device" not in page.evaluate("caught")
    for decision, is_taken in (("grantConsent", True), ("denyConsent", False)):
        page.context.clear_cookies()
        open_shop(page, sites)
        coming = device_cookie(page)["value"]
        follow(page, sites)
        page.evaluate(start(sites, "consentMode: 'required'"))
        assert stored(page) == []
        page.evaluate(f"Waylink.{decision}()")
        page.evaluate("Waylink.grantConsent(); Waylink.trackEvent('there')")
        assert (device_cookie(page)["value"] == coming) is is_taken
        assert (sites.requests[-1]["batch"]["device_id"] == coming) is is_taken
        page.goto(sites.url("/", BLOG))
        page.evaluate("localStorage.clear(); sessionStorage.clear()")


@pytest.mark.parametrize(
    "wrong", ["referrer", "late", "other browser", "other host", "changed", "frame", "twice"]
)
def test_what_is_not_taken_over(page: Page, sites: RecordingServer, wrong: str) -> None:
    """Must not be taken over: an address that somebody sent, an old one, one of another browser or for
    another site, one with another id, one in a frame, and one that was used."""
    address = handed_address(page, sites)
    (parameter,) = parse_qs(urlsplit(address).query)["cl_device"]
    coming = parameter.partition(".")[0]
    page.goto(sites.url("/", "elsewhere.test" if wrong == "referrer" else sites.host))
    if wrong == "changed":
        address = address.replace(coming, coming[:-1] + ("0" if coming[-1] != "0" else "1"))
    if wrong == "other host":
        address = address.replace(BLOG, f"www.{BLOG}")
    page.add_init_script(
        {
            "late": "{ const now = Date.now; Date.now = () => now() + 130000 }",
            "other browser": "Object.defineProperty(navigator, 'userAgent', {get: () => 'another'})",
        }.get(wrong, "0")
    )
    if wrong == "frame":
        page.evaluate(
            "address => new Promise((loaded) => { const frame = document.createElement('iframe');"
            "frame.src = address; frame.onload = loaded; document.body.append(frame) }).then(() => 0)",
            address,
        )
        there = page.frames[-1]
    else:
        page.evaluate("address => { location.href = address }", address)
        page.wait_for_url("**/post*")
        there = page.main_frame
    if wrong == "twice":
        page.reload()
    there.evaluate(start(sites, "allowIframe: true").replace(f"'{BLOG}'", f"'{BLOG}', 'www.{BLOG}'"))
    there.evaluate("Waylink.trackEvent('there')")
    assert sites.requests[-1]["batch"]["device_id"] not in (coming, parameter[:36])


@pytest.mark.parametrize("value", ["5", "' '", "[1]", "{}", "['']", "['/shop']"])
def test_a_wrong_list_is_refused(page: Page, sites: RecordingServer, value: str) -> None:
    """init rejects what is no list of host names, by the option's name."""
    page.goto(sites.url())
    call = f"Waylink.init({{apiKey: 'k', otherDomains: {value}}}).catch((error) => error.message)"
    assert page.evaluate(call) == "Waylink: otherDomains"


def test_forged_parameters_go_too(page: Page, sites: RecordingServer) -> None:
    """Must not stay: what somebody wrote into a link or an address, however often; the rest is as it was."""
    forged = "cl_device=a&cl_device=b&x=1&cl_device=c"
    page.goto(sites.url(f"/?{forged}", sites.host))
    assert page.url == sites.url("/?x=1", sites.host)
    page.evaluate(start(sites))
    link = sites.url(f"/post?{forged}", BLOG)
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<a id=over href=\"{link}\">x</a>')")
    page.evaluate(CATCH)
    page.click("#over")
    query = parse_qs(urlsplit(page.evaluate("caught")).query)
    assert (query["x"], len(query["cl_device"])) == (["1"], 1)
    assert query["cl_device"][0].startswith(device_cookie(page)["value"])


def test_the_address_is_clean_before_the_script_loads(page: Page, sites: RecordingServer) -> None:
    """Other scripts of the page, which run meanwhile, read an address without the parameter."""
    sites.head = f"<script>delete window.Waylink</script>{PART}<script>window.read = location.href</script>"
    page.goto(sites.url("/?x=1&cl_device=a", sites.host))
    assert page.evaluate("read") == sites.url("/?x=1", sites.host)


def test_a_link_that_is_clicked_during_its_click(page: Page, sites: RecordingServer) -> None:
    """A card whose script clicks the link in it once more: the link keeps no parameter."""
    open_shop(page, sites)
    page.evaluate("""document.body.onclick = (event) => {
      event.preventDefault();
      document.body.onclick = (event) => event.preventDefault();
      const until = Date.now() + 5;
      while (Date.now() < until);
      event.target.click();
    }; 0""")
    own = page.evaluate("document.querySelector('#over').href")
    page.click("#over")
    page.wait_for_function("link => document.querySelector('#over').href === link", arg=own)


def test_clicks_elsewhere_cost_no_cookie(page: Page, sites: RecordingServer) -> None:
    """A click on no such link asks the browser for no cookie, which is slow."""
    open_shop(page, sites)
    page.evaluate("""window.reads = 0;
    const own = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie').get;
    const get = () => (reads++, own.call(document));
    Object.defineProperty(document, 'cookie', {configurable: true, get}); 0""")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a id=here href=#here>x</a>')")
    page.click("h1")
    page.click("#here")
    assert page.evaluate("reads") == 0


@pytest.mark.parametrize("name", ["blög.test", "BLÖG.test", "https://blög.test/shop", "xn--blg-tna.test:8"])
def test_ways_to_write_a_host(page: Page, sites: RecordingServer, name: str) -> None:
    """A host's name in its own letters, in capitals, as an address, or with a port."""
    page.goto(sites.url("/", sites.host))
    page.evaluate(f"Waylink.init({{apiKey: 'c_web_test', otherDomains: ['{name}']}})")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a id=over href=\"//blög.test/\">x</a>')")
    page.evaluate(CATCH)
    page.click("#over")
    assert "cl_device=" in page.evaluate("caught")


def test_hosts_in_the_tag(page: Page, sites: RecordingServer) -> None:
    """The part's tag may name the hosts; then it may load at any time, also after the start."""
    sites.head = f'<script src="/waylink-domains.js" data-other-domains="{sites.host}, {BLOG}"></script>'
    page.goto(sites.url())
    page.evaluate("Waylink.init({apiKey: 'c_web_test'})")
    coming = device_cookie(page)["value"]
    link = sites.url("/post", BLOG)
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<a id=over href=\"{link}\">x</a>')")
    head, sites.head = sites.head, ""
    follow(page, sites)
    assert "cl_device=" in page.url
    page.evaluate("Waylink.init({apiKey: 'c_web_test'})")
    other = device_cookie(page)["value"]
    page.evaluate(
        "([source, hosts]) => new Promise((loaded) => { const tag = document.createElement('script');"
        "tag.src = source; tag.dataset.otherDomains = hosts; tag.onload = () => loaded(0);"
        "document.head.append(tag) })",
        ["/waylink-domains.js", f"{sites.host} {BLOG}"],
    )
    page.evaluate("Waylink.trackEvent('there')")
    assert page.url == link
    assert sites.requests[-1]["batch"]["device_id"] == coming != other
    assert head
