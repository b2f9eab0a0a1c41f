"""The option `outboundLinks`: clicks on links that leave are events, and nothing about the page changes."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import Call, RecordingServer
from tests.browser.sites.test_snippet import POLICY
from tests.browser.visitor import SENTINEL, Visitor

PART = '<script src="/waylink-links.js"></script>'
PREVENT = "document.body.onclick = (event) => event.preventDefault()"
WITH_OPTION = "Waylink.init({apiKey: 'c_web_test', outboundLinks: true})"


@pytest.fixture
def site(server: RecordingServer) -> RecordingServer:
    """A site whose pages load the part beside the script."""
    server.head = PART
    return server


def add(visitor: Visitor, html: str) -> None:
    """Put this onto the page."""
    visitor.js(f"void document.body.insertAdjacentHTML('beforeend', {html!r})")


def events(server: RecordingServer) -> list[tuple[str, str | None]]:
    """The events in order: name, and the address that it tells. A page that is left may send one twice."""
    calls: dict[str, Call] = {call["call_id"]: call for call in server.calls if call["kind"] == "event"}
    return [(call["name"], address_in(call)) for call in calls.values()]


def address_in(event: Call) -> str | None:
    """The address that an event tells, whatever the server's port is."""
    url = (event.get("metadata") or {}).get("url")
    return url and re.sub(r"(?<=:)\d+", "PORT", url)


def add_to(page: Page, html: str) -> None:
    """Put elements onto the page, whose addresses are of the test's server."""
    page.evaluate(
        "html => document.body.insertAdjacentHTML('beforeend', html.replace('PORT', location.port))", html
    )


def test_a_link_that_the_visitor_follows(visitor: Visitor, site: RecordingServer) -> None:
    """In every engine: the event arrives although the page is left, without the address's query and hash."""
    other = site.url("/there/", "other.localhost")
    visitor.open()
    visitor.js(WITH_OPTION)
    add(visitor, f'<a id="out" href="{other}?token=1#part">out</a>')
    visitor.tab.click("#out")
    site.wait_for_visit("/there/?token=1")
    site.wait_for_kinds("event")
    assert set(events(site)) == {("outbound_click", "http://other.localhost:PORT/there/")}


# A link of each kind that engines build or follow in their own way; what it leads to opens in a frame.
LINKS = """
<iframe name="there"></iframe>
<map name="map"><area class="it" target="there" href="//area.localhost:PORT/" shape="default"></map>
<svg><a class="it" target="there" href="//svg.localhost:PORT/"><text>x</text></a>
<a class="it" target="there" xlink:href="//old-svg.localhost:PORT/"><text>x</text></a></svg>
<a class="it" target="there" download="made.csv" href="data:text/csv,a">x</a>
<a class="it" target="there" href="MAILTO:ada@example.com">x</a>
<a class="it" target="there" href="//shadow.localhost:PORT/">x</a>
"""
CLICK_EACH = """(() => {
  document.body.insertAdjacentHTML('beforeend', %s.replaceAll('PORT', location.port));
  const links = [...document.querySelectorAll('.it')];
  const host = document.body.appendChild(document.createElement('div'));
  host.attachShadow({mode: 'open'}).append(links.at(-1));
  for (const link of links) link.dispatchEvent(new MouseEvent('click', %s));
})()"""
AS_A_VISITOR = "{bubbles: true, cancelable: true, composed: true}"


def test_links_of_all_kinds(visitor: Visitor, site: RecordingServer) -> None:
    """In every engine: areas of images, links in drawings and in shadow trees, files that the page has made,
    and addresses of mail, one event each."""
    visitor.open()
    visitor.js(WITH_OPTION)
    visitor.js(CLICK_EACH % (json.dumps(LINKS), AS_A_VISITOR))
    visitor.js(SENTINEL)
    hosts = ("area", "svg", "old-svg")
    assert events(site) == [
        *(("outbound_click", f"http://{host}.localhost:PORT/") for host in hosts),
        ("file_download", None),
        ("email_click", None),
        ("outbound_click", "http://shadow.localhost:PORT/"),
        ("sentinel", None),
    ]


@pytest.fixture
def page_with_links(page: Page, site: RecordingServer) -> Page:
    """A page with the option."""
    page.goto(site.url())
    page.evaluate(WITH_OPTION)
    return page


def click(page: Page, html: str, **options: str) -> None:
    """Put elements onto the page, and click the first of the class `it`."""
    add_to(page, html)
    page.locator(".it").last.click(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<a class="it" href="//elsewhere.test:PORT/a" target="_blank">a</a>',
            ("outbound_click", "http://elsewhere.test:PORT/a"),
        ),
        ('<a class="it" href="/price.PDF">a</a>', ("file_download", "/price.PDF")),
        ('<a class="it" href="/made" download="made.csv">a</a>', ("file_download", "/made")),
        ('<a class="it" href="blob:null/made" download="made.csv">a</a>', ("file_download", None)),
        ('<a class="it" href="mailto:ada@example.com">a</a>', ("email_click", None)),
        ('<a class="it" href="tel:+16505551212">a</a>', ("phone_click", None)),
        (
            '<a href="//elsewhere.test:PORT/b"><b class="it">a</b></a>',
            ("outbound_click", "http://elsewhere.test:PORT/b"),
        ),
        (
            '<svg width="50"><a href="//elsewhere.test:PORT/c"><circle class="it" r="50"/></a></svg>',
            ("outbound_click", "http://elsewhere.test:PORT/c"),
        ),
    ],
)
def test_what_is_told(
    page_with_links: Page, site: RecordingServer, html: str, expected: tuple[str, str | None]
) -> None:
    """Other hosts, files, mail addresses and phones, whatever in the link is clicked; nobody's address."""
    click(page_with_links, html)
    site.wait_for_kinds("event")
    name, url = expected
    assert events(site)[:1] == [(name, f"http://{site.host}:PORT{url}" if url and url[0] == "/" else url)]
    assert not re.search("ada@|6505551212", str(site.requests))


@pytest.mark.parametrize("how", ["middle", "keyboard", "shadow", "stopped"])
def test_ways_to_click(page_with_links: Page, site: RecordingServer, how: str) -> None:
    """The middle button, the keyboard, a link in a shadow tree, and a page that stops the event."""
    page = page_with_links
    link = '<a class="it" href="//elsewhere.test:PORT/x">x</a>'
    if how == "shadow":
        page.evaluate(
            "html => { const host = document.body.appendChild(document.createElement('div'));"
            "host.attachShadow({mode: 'open'}).innerHTML = html }",
            link.replace("PORT", str(site.port)),
        )
        page.locator(".it").click()
    elif how == "keyboard":
        add_to(page, link)
        page.locator(".it").press("Enter")
    else:
        if how == "stopped":
            page.evaluate("document.body.addEventListener('click', (event) => event.stopPropagation()); 0")
        click(page, link, **({"button": "middle"} if how == "middle" else {}))
    site.wait_for_kinds("event")
    assert events(site) == [("outbound_click", "http://elsewhere.test:PORT/x")]


def test_buttons_that_follow_no_link(page_with_links: Page, site: RecordingServer) -> None:
    """Must not arrive: what opens a menu, or goes back and forward, on a link that leaves."""
    for button in (2, 3, 4):
        click = AS_A_VISITOR.replace("{", f"{{button: {button}, ")
        page_with_links.evaluate(CLICK_EACH.replace("'click'", "'auxclick'") % (json.dumps(LINKS), click))
    page_with_links.evaluate(SENTINEL)
    assert events(site) == [("sentinel", None)]


IN_A_FRAME = """new Promise((clicked) => {
  window.clicked = clicked;
  document.body.appendChild(document.createElement('iframe')).srcdoc = `
    <script src=/waylink.js></script><script src=/waylink-links.js></script><iframe name=there></iframe>
    <a href="/here" target=there>x</a>
    <script type=module>
      await Waylink.init({apiKey: 'c_web_test', allowIframe: true, outboundLinks: true});
      document.querySelector('a').addEventListener('click', () => setTimeout(() => {
        Waylink.trackEvent('sentinel').then(top.clicked);
      }));
      document.querySelector('a').click();
    </script>`;
})"""


def test_a_frame_without_an_address(page: Page, site: RecordingServer) -> None:
    """Must not arrive: a click in a `srcdoc` frame on a link to the site that the frame is part of."""
    page.goto(site.url())
    page.evaluate(IN_A_FRAME)
    assert events(site) == [("sentinel", None)]


@pytest.mark.parametrize(
    ("html", "script"),
    [
        (
            '<a class="it" href="//elsewhere.test:PORT/x">x</a>',
            PREVENT,
        ),
        ('<a class="it" href="#part">x</a>', "0"),
        ('<a class="it" href="javascript:void 0">x</a>', "0"),
        ('<a class="it">x</a>', "0"),
        ('<a class="it" href="//[">x</a>', PREVENT),
        ('<button class="it">x</button>', "0"),
    ],
)
def test_what_is_no_event(
    page_with_links: Page, site: RecordingServer, faults: list[str], html: str, script: str
) -> None:
    """Must not arrive: clicks that the page calls off, or on links that stay here or are none."""
    page = page_with_links
    page.goto(site.url())
    page.evaluate(WITH_OPTION)
    page.evaluate(f"{script}; 0")
    click(page, html)
    page.evaluate("Waylink.trackEvent('sentinel')")
    assert events(site) == [("sentinel", None)]
    assert faults == []


@pytest.mark.parametrize(
    ("head", "init"),
    [
        ('<script src="/waylink-links.js" data-outbound-links></script>', "Waylink.init({apiKey: 'k'})"),
        (
            '<script>delete window.Waylink</script><script src="/waylink-links.js"></script>'
            '<script src="/waylink.js"></script>',
            "Waylink.init({apiKey: 'k', outboundLinks: true})",
        ),
    ],
)
def test_where_it_is_switched_on(
    page: Page, said: list[str], server: RecordingServer, head: str, init: str
) -> None:
    """By an attribute of the part's tag, and by the option also where the part loads before the script."""
    server.head = head
    page.goto(server.url())
    page.evaluate(init)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a class=it href=mailto:a@b.test>x</a>')")
    page.locator(".it").click()
    server.wait_for_kinds("event")
    assert events(server) == [("email_click", None)]
    assert said == []


def test_a_part_that_is_there_twice(page: Page, server: RecordingServer) -> None:
    """Must be counted once: a click where a theme and a tag manager both load the part."""
    server.head = '<script src="/waylink-links.js" data-outbound-links></script>' * 2
    page.goto(server.url())
    page.evaluate("Waylink.init({apiKey: 'k', outboundLinks: true})")
    click(page, '<a class="it" href="mailto:a@b.test">x</a>')
    server.wait_for_kinds("event")
    page.evaluate("Waylink.trackEvent('sentinel')")
    assert events(server) == [("email_click", None), ("sentinel", None)]


@pytest.mark.parametrize(
    ("head", "option"),
    [
        (PART, ", outboundLinks: false"),
        ('<script src="/waylink-links.js" data-outbound-links="false"></script>', ""),
    ],
)
def test_without_the_option(
    page: Page, said: list[str], server: RecordingServer, head: str, option: str
) -> None:
    """Must not arrive: a click, where it is switched off. Without the part, the option is told as unknown."""
    server.head = head
    page.goto(server.url())
    page.evaluate(f"Waylink.init({{apiKey: 'k'{option}}})")
    click(page, '<a class="it" href="mailto:a@b.test">x</a>')
    page.evaluate("Waylink.trackEvent('sentinel')")
    assert events(server) == [("sentinel", None)]
    server.head = ""
    page.goto(server.url())
    page.evaluate("Waylink.init({apiKey: 'k', outboundLinks: true})")
    assert said == ["Waylink unknown outboundLinks"]


def test_a_strict_content_security_policy(page: Page, said: list[str], server: RecordingServer) -> None:
    """Nonce, strict-dynamic and Trusted Types: the part works, and violates nothing."""
    policy = f"{POLICY} require-trusted-types-for 'script'"
    server.head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<script nonce="n" src="/waylink.js"></script><script nonce="n" src="/waylink-links.js"></script>'
        "<script nonce=\"n\">Waylink.init({apiKey: 'k', outboundLinks: true})</script>"
        '<a class="it" href="mailto:a@b.test">x</a>'
    )
    page.goto(server.url("/strict"))
    page.locator(".it").click()
    server.wait_for_kinds("event")
    own = [text for text in said if "/waylink.js'" not in text]  # the page's first tag has no nonce
    assert (events(server), own) == ([("email_click", None)], [])
