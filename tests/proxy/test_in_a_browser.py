"""The SDK in a browser behind each first-party proxy, in front of the service (contract, SDK rule 10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Request

from tests.browser.real_service import RealService, new_shop
from tests.conftest import ServiceStarter
from tests.facts.sdk_batches import conversion, timestamp
from tests.processes.service_process import run_command
from tests.proxy import site_servers
from tests.proxy.site_servers import Site, SiteServer

# Of every test, or pytest would run those in the browser first, and start each server twice.
pytestmark = pytest.mark.usefixtures("browser_name")

DIST = Path(__file__).parents[2] / "sdk_dist"
ENDINGS = {"identity": "", "br": ".br", "gzip": ".gz"}
# Headers that a proxy has to leave as they are.
KEPT = [
    "ETag",
    "Cache-Control",
    "Vary",
    "Content-Type",
    "Content-Encoding",
    "Content-Length",
    "Cross-Origin-Resource-Policy",
    "Access-Control-Allow-Origin",
    "X-Content-Type-Options",
]
DEVICE = "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11"
CALLS = 50  # that an address may send
# The recipes of proxy_example/, and proxies that pass on a whole folder: the service knows the name.
RECIPES = (site_servers.nginx, site_servers.caddy, site_servers.python, site_servers.mounted)
FOLDERS = (site_servers.keeping, site_servers.cutting)


@pytest.fixture(scope="module")
def shop(start_service: ServiceStarter) -> Iterator[RealService]:
    """The service, with an organization that wants the device cookie renewed."""
    settings = {
        "WAYLINK_TRUSTED_PROXIES": "127.0.0.1",
        "WAYLINK_SDK_PREFIXES": "/a/hello,/hello",
        "WAYLINK_ADDRESS_CALL_LIMIT": str(CALLS),
    }
    with start_service(**settings) as service:
        shop = new_shop(service)
        service.command("organization", "set", "--org", shop.org_id, "--device-cookie", "on")
        yield shop


@pytest.fixture(scope="module", params=[*RECIPES, *FOLDERS], ids=lambda recipe: recipe.__name__)
def site(
    request: pytest.FixtureRequest, shop: RealService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A site behind each proxy, whose origin is allowed."""
    server: SiteServer = request.param
    folder = tmp_path_factory.mktemp(server.__name__)
    with server(folder, shop.base_url.replace("localhost", "127.0.0.1")) as site:
        shop.allow(site.origin)
        yield site


def test_what_the_sdk_sends_is_stored_once(page: Page, shop: RealService, site: Site) -> None:
    """The check is answered, and the conversion is stored once, with the touch that the check reported."""
    tag = f"tag-{Path(site.origin).name.replace(':', '-')}"
    page.goto(f"{site.origin}/?utm_source={tag}")
    page.evaluate(shop.init(f"baseUrl: '{site.base_url}'"))
    attribution = page.evaluate("Waylink.getAttribution()")
    assert attribution["utm_source"] == tag
    sale = {"revenue": 12.5, "currency": "EUR", "transaction_id": tag}
    page.evaluate("sale => Waylink.trackConversion(sale)", sale)
    page.evaluate("sale => Waylink.trackConversion(sale)", sale)
    (stored,) = [sale for sale in shop.stored("conversions") if sale.get("transaction_id") == tag]
    assert stored["touch"]["utm"]["utm_source"] == tag
    loaded = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert set(loaded) == {site.script, f"{site.base_url}/serviceCore/sdk/v1/batch"}


def test_neither_host_nor_name_is_the_services(page: Page, shop: RealService, site: Site) -> None:
    """A page that only loads the script under the site's name sends its first call there, and asks for no
    other address; the call is stored, and on the page's own origin the device cookie is renewed."""
    asked: list[tuple[str, str]] = []

    def note(sent: Request) -> None:
        asked.append((sent.method, sent.url))

    page.on("request", note)
    tag = f"named-{urlsplit(site.origin).port}"
    page.goto(f"{site.origin}/?utm_source={tag}")
    page.evaluate(f"Waylink.init({{apiKey: '{shop.web_key}', debug: true}})")
    assert page.evaluate("Waylink.getAttribution().utm_source") == tag
    page.evaluate("name => Waylink.trackEvent(name)", tag)
    assert [event["name"] for event in shop.stored("events") if event["name"] == tag] == [tag]
    page.remove_listener("request", note)
    assert asked[0] == ("GET", f"{site.origin}/?utm_source={tag}")
    assert set(asked[1:]) == {
        ("GET", site.script),
        ("POST", site.base_url),
    }
    cookies = {cookie["name"] for cookie in page.context.cookies()}
    assert ("cl_device_id_kept" in cookies) == site.base_url.startswith(site.origin)


def load_npm_package(page: Page) -> None:
    """Put the package's SDK on the page, as `fromNpm`. It has no address that tells where the service is."""
    module, _, exports = (DIST / "waylink.mjs").read_text().partition("export{")
    name = exports.partition(" as Waylink")[0]
    page.add_script_tag(content=f"{module}; window.fromNpm = {name}", type="module")


@pytest.mark.parametrize("site", RECIPES, indirect=True, ids=lambda recipe: recipe.__name__)
def test_the_npm_package_has_its_sentences(page: Page, shop: RealService, site: Site) -> None:
    """Given the sentences below its `baseUrl`, it says in words what was sent."""
    page.goto(site.origin)
    load_npm_package(page)
    with page.expect_console_message(lambda message: "Sent:" in message.text):
        page.evaluate(
            f"fetch('{site.base_url}.json').then(answer => answer.json()).then(debug => "
            f"fromNpm.init({{apiKey: '{shop.web_key}', baseUrl: '{site.base_url}', debug}}))"
        )


def test_the_npm_package_sends_to_the_sites_own_name(page: Page, shop: RealService, site: Site) -> None:
    """With the script's address as `baseUrl`, calls have that name: no list can know it."""
    own_shop = new_shop(shop.service)  # the address of this test's calls counts in each organization
    own_shop.allow(site.origin)
    page.goto(f"{site.origin}/?utm_source=npm")
    load_npm_package(page)
    page.evaluate("performance.clearResourceTimings()")
    with page.expect_console_message(lambda message: "accepted" in message.text):
        options = f"{{apiKey: '{own_shop.web_key}', baseUrl: '{site.script}', debug: true}}"
        page.evaluate(f"fromNpm.init({options})")
    assert page.evaluate("fromNpm.getAttribution().utm_source") == "npm"
    loaded = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert set(loaded) == {site.base_url}


def kept_of(answer: httpx.Response) -> dict[str, str | None]:
    """The headers of an answer that a proxy has to keep."""
    return {name: answer.headers.get(name) for name in KEPT}


@pytest.mark.parametrize("coding", ENDINGS)
@pytest.mark.parametrize("ending", [".js", ".json", "-links.js", "-domains.js", "-privacy.js"])
def test_the_files_pass_as_the_service_sends_them(
    shop: RealService, site: Site, ending: str, coding: str
) -> None:
    """Content, encoding, ETag and lifetime of script, parts and sentences stay, also for HEAD and 304."""
    asked = {"Accept-Encoding": coding}
    straight = httpx.get(f"{shop.base_url}/waylink{ending}", headers=asked, timeout=60)
    with httpx.stream("GET", site.base_url + ending, headers=asked, timeout=60) as answer:
        assert b"".join(answer.iter_raw()) == (DIST / f"waylink{ending}{ENDINGS[coding]}").read_bytes()
    head = httpx.head(site.base_url + ending, headers=asked, timeout=60)
    for proxied in (answer, head):
        assert kept_of(proxied) == kept_of(straight)
    conditional = asked | {"If-None-Match": answer.headers["ETag"]}
    again = httpx.get(site.base_url + ending, headers=conditional, timeout=60)
    assert (again.status_code, again.headers["ETag"]) == (304, answer.headers["ETag"])


def test_nobody_gets_an_encoding_that_they_did_not_ask_for(site: Site) -> None:
    """A client that says nothing of encodings gets the script as it is."""
    with httpx.Client() as client:
        client.headers.clear()
        with client.stream("GET", site.script) as answer:
            assert b"".join(answer.iter_raw()) == (DIST / "waylink.js").read_bytes()
    assert "Content-Encoding" not in answer.headers


def batch(shop: RealService, calls: int = 1) -> dict[str, object]:
    """A batch of conversions."""
    envelope = {"api_key": shop.web_key, "device_id": DEVICE, "sdk": "t", "sent_at": timestamp()}
    return {**envelope, "calls": [conversion() for _ in range(calls)]}


@pytest.mark.parametrize("path", ["", "/serviceCore/sdk/v1/batch"])
def test_cookies_pass_both_ways(shop: RealService, site: Site, path: str) -> None:
    """The device cookie reaches the service, and both cookies of the answer reach the browser."""
    headers = {"Origin": site.origin, "Cookie": f"theme=dark; cl_device_id={DEVICE}"}
    answer = httpx.post(site.base_url + path, json=batch(shop), headers=headers, timeout=60)
    assert answer.json()["results"][0]["status"] == "accepted"
    cookies = sorted(cookie.partition(";")[0] for cookie in answer.headers.get_list("Set-Cookie"))
    assert cookies == [f"cl_device_id={DEVICE}", f"cl_device_id_kept={DEVICE}"]


def test_each_visitor_counts_alone(shop: RealService, site: Site) -> None:
    """The service sees the visitor's address behind the proxy: who sends too much keeps nobody else out."""
    own_shop = new_shop(shop.service)  # addresses count in each organization
    own_shop.allow(site.origin)
    headers = {"Origin": site.origin, "X-Forwarded-For": "203.0.113.9"}  # which anybody can send
    for address in ("127.0.0.2", "127.0.0.3"):
        with httpx.Client(
            transport=httpx.HTTPTransport(local_address=address), headers=headers, timeout=60
        ) as visitor:
            answers = [visitor.post(site.base_url, json=batch(own_shop, CALLS // 2)) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert len(answers[1].json()["results"]) == CALLS // 2


def test_the_doctor_finds_nothing_lost(site: Site) -> None:
    """Script, sentences and calls pass unharmed; method, path, query, body and headers of the probe too."""
    for url in (site.script, site.base_url):
        examined = run_command("doctor", "proxy", url, environment={})
        assert examined == {"url": url, "ok": True, "lost": []}


@pytest.mark.parametrize("site", RECIPES, indirect=True, ids=lambda recipe: recipe.__name__)
def test_the_rest_of_the_service_stays_outside(site: Site) -> None:
    """The proxy passes on nothing but GET of the files and POST of calls, and nothing but the SDK's."""
    for method, path in (
        ("GET", "/serviceCore/sdk/v1/batch"),
        ("DELETE", "/serviceCore/sdk/v1/batch"),
        ("DELETE", ""),
        ("POST", ".js"),
        ("GET", ".js.map"),
        ("POST", "/serviceCore/pa/v1/create-link"),
        ("POST", "/serviceCore/sdk/v1/../../pa/v1/create-link"),
        ("GET", "/metrics"),
    ):
        answer = httpx.request(method, site.base_url + path, timeout=60)
        assert answer.status_code >= 400, (method, path)
        assert "X-Request-Id" not in answer.headers  # which every answer of the service has
