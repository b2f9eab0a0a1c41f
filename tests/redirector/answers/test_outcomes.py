"""Apps, previews, QR codes and what does not count, on the running service."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import replace
from urllib.parse import parse_qs, quote, unquote, urlsplit

import httpx

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.links.links import Behavior
from backend.domain.web.client import ClientKind, Platform
from backend.redirector.answers import outcomes
from tests.redirector.conftest import LinkFactory, Recorded, SetApps
from tests.redirector.user_agents import CLIENTS

PIXEL = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Mobile Safari/537.36"
)
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Mobile/15E148 Safari/604.1"
)
FIREFOX = "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0"
FACEBOOK = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
APPS = Apps(
    IosApp("A1B2C3D4E5", "com.shop.app", "123456"), AndroidApp("com.shop.app", (":".join(["AB"] * 32),))
)
APP = {"ios_behavior": Behavior.APP, "android_behavior": Behavior.APP}


async def test_phones_open_the_app(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """Behaviour 2: intent:// with the Play Store behind, a page with a button, the App Store, or the web."""
    await set_domain_apps(APPS)
    link = await make_link(**APP)
    chrome, firefox, iphone, desktop = [
        await visitor.get(f"/{link.path}", headers={"user-agent": agent} if agent else {})
        for agent in (PIXEL, FIREFOX, IPHONE, None)
    ]
    intent = chrome.headers["location"]
    assert intent.startswith(f"intent://{link.domain}/{link.path}?cl_click_id=")
    assert "#Intent;scheme=https;package=com.shop.app;" in intent
    assert f"referrer%3Dcl_link_id%253D{link.id}" in intent
    assert firefox.status_code == 200
    assert html.escape(f"intent://{link.domain}/{link.path}?cl_click_id=") in firefox.text
    assert iphone.headers["location"] == "https://apps.apple.com/app/id123456"
    assert desktop.headers["location"].startswith(link.destination_url)


async def test_nobody_is_led_to_a_store_without_one(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps, recorded: Recorded
) -> None:
    """Fire tablets and HarmonyOS open the app or the web, and what apps ask with themselves gets the web."""
    await set_domain_apps(APPS)
    link = await make_link(**APP)
    android, desktop = (CLIENTS[ClientKind.BROWSER, where] for where in (Platform.ANDROID, Platform.DESKTOP))
    for name in ("Silk on a Fire tablet", "Huawei Browser on HarmonyOS 2"):
        page = await visitor.get(f"/{link.path}", headers={"user-agent": android[name]})
        intent = html.unescape(page.text).partition("S.browser_fallback_url=")[2].partition(";end")[0]
        assert unquote(intent) == f"{link.destination_url}?cl_link_id={link.id}"
        ahead = await visitor.get(f"/{link.path}+", headers={"user-agent": android[name]})
        assert "play.google.com" not in page.text + ahead.text
    on_web = [
        {"user-agent": desktop["HarmonyOS 5, which has no Android"]},
        {"user-agent": PIXEL, "x-requested-with": "org.telegram.messenger"},
        *(
            {"user-agent": agent}
            for platform in (Platform.IOS, Platform.ANDROID)
            for agent in CLIENTS[ClientKind.HTTP_CLIENT, platform].values()
        ),
    ]
    for headers in on_web:
        answer = await visitor.get(f"/{link.path}", headers=headers)
        assert answer.headers["location"].startswith(f"{link.destination_url}?"), headers
    records = await recorded(link, 2 + len(on_web))
    assert {record["reason"] for record in records} == {None}
    in_app = [record["browser"] for record in records if record["client_kind"] == "in_app_browser"]
    assert in_app == ["Telegram"]


async def test_play_s_referrer_names_the_campaign(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """Beside the link's id it has the link's UTM fields, as the Play Console reads them."""
    await set_domain_apps(APPS)
    link = await make_link(**APP, utm={"utm_source": "news & co", "utm_campaign": "may"})
    intent = (await visitor.get(f"/{link.path}", headers={"user-agent": PIXEL})).headers["location"]
    store = parse_qs(urlsplit(unquote(intent.partition("S.browser_fallback_url=")[2])).query)
    assert parse_qs(store["referrer"][0].removesuffix(";end")) == {
        "cl_link_id": [link.id],
        "utm_source": ["news & co"],
        "utm_campaign": ["may"],
    }


async def test_fallbacks_instead_of_store_and_destination(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """A link's own addresses take the place of the stores and, on a desktop, of the destination; they carry
    what a destination carries."""
    await set_domain_apps(APPS)
    fallbacks = {
        "ios_fallback_url": "https://ios.example/",
        "android_fallback_url": "https://android.example/",
        "desktop_url": "https://desktop.example/",
    }
    link = await make_link(**APP, fallbacks=fallbacks, utm={"utm_source": "mail"})
    chrome, firefox, iphone, desktop, curl = [
        (await visitor.get(f"/{link.path}?a=1", headers={"user-agent": agent} if agent else {}))
        for agent in (PIXEL, FIREFOX, IPHONE, None, "curl/8.5.0")
    ]
    rest = f"?a=1&utm_source=mail&cl_link_id={link.id}"
    fallback = quote(f"https://android.example/{rest}", safe="")
    assert f"S.browser_fallback_url={fallback};end" in chrome.headers["location"]
    assert html.escape(f"S.browser_fallback_url={fallback};end") in firefox.text
    for answer, url in (
        (iphone, "https://ios.example/"),
        (desktop, "https://desktop.example/"),
        (curl, link.destination_url),
    ):
        assert answer.headers["location"].startswith(f"{url}{rest}&cl_click_id=")


async def test_signed_addresses_arrive_as_they_are(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """Nothing is added to a signed fallback or address of a rule; others get what they always do."""
    await set_domain_apps(APPS)
    signed = "https://b.example/f?X-Amz-Date=1&X-Amz-Signature=ab"
    rules = [{"if": {"query": {"to": "f"}}, "then": {"destination_url": signed}}]
    fallbacks = {"desktop_url": signed, "ios_fallback_url": signed, "android_fallback_url": signed}
    link = await make_link(**APP, fallbacks=fallbacks, utm={"utm_source": "mail"}, rules=rules)
    for query, agent in (("a=1", ""), ("a=1", IPHONE), ("to=f", "curl/8.5.0")):
        answer = await visitor.get(f"/{link.path}?{query}", headers={"user-agent": agent} if agent else {})
        assert answer.headers["location"] == signed
    intent = (await visitor.get(f"/{link.path}", headers={"user-agent": PIXEL})).headers["location"]
    assert f"S.browser_fallback_url={quote(signed, safe='')};end" in intent
    plain = (await visitor.get(f"/{link.path}", headers={"user-agent": "curl/8.5.0"})).headers["location"]
    assert f"utm_source=mail&cl_link_id={link.id}&cl_click_id=" in plain


async def test_a_way_out_of_in_app_browsers(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps, recorded: Recorded
) -> None:
    """Only where the domain asks for it, and for links that open the app. Who takes it makes one click."""
    agents = (
        CLIENTS[ClientKind.IN_APP_BROWSER, Platform.IOS]
        | CLIENTS[ClientKind.IN_APP_BROWSER, Platform.ANDROID]
    )
    link, in_browser = await make_link(**APP), await make_link()
    await set_domain_apps(APPS)
    line = {"user-agent": agents["Line on iOS"]}
    assert (
        (await visitor.get(f"/{link.path}", headers=line))
        .headers["location"]
        .startswith(link.destination_url)
    )

    assert APPS.ios
    ios = replace(APPS.ios, custom_scheme="shopapp")
    await set_domain_apps(replace(APPS, ios=ios, in_app_page=True))
    other = await make_link(**APP)
    page = await visitor.get(f"/{other.path}?a=1", headers=line)
    addresses = [html.unescape(address) for address in re.findall(r'<a [^>]*href="([^"]+)"', page.text)]
    scheme, out, web = addresses[:3]
    click_id = scheme.rpartition("=")[2]
    assert scheme == f"shopapp://{other.domain}/{other.path}?a=1&cl_click_id={click_id}"
    assert out == f"https://{other.domain}/{other.path}?a=1&cl_click_id={click_id}&openExternalBrowser=1"
    assert web.startswith(f"{other.destination_url}?a=1")
    safari = await visitor.get(out.partition(other.domain)[2], headers={"user-agent": IPHONE})
    assert safari.headers["location"] == "https://apps.apple.com/app/id123456"
    assert [click["outcome"] for click in await recorded(other, 1)] == ["app_page"]
    forged = f"/{other.path}?cl_click_id={click_id[:-1]}{'A' if click_id[-1] != 'A' else 'B'}"
    await visitor.get(forged, headers={"user-agent": IPHONE})
    assert len(await recorded(other, 2)) == 2

    android = {"user-agent": agents["WeChat on Android"]}
    none = await visitor.get(f"/{other.path}", headers=android | {"accept-language": "de"})
    assert (none.status_code, none.text.count('class="button"')) == (200, 0)
    assert "öffnen Sie das Menü dieser App" in none.text
    plain = await visitor.get(f"/{in_browser.path}", headers=android)
    assert plain.status_code == 302


async def test_the_page_for_who_comes_out_of_a_mail(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps, recorded: Recorded
) -> None:
    """Where the domain asks for it: buttons for the app, by its scheme, and the store, and one click by
    whatever way. Who comes otherwise gets the store, and a link that stays in the browser its page."""
    assert APPS.ios
    ios = replace(APPS.ios, custom_scheme="shopapp", mail_page=True)
    await set_domain_apps(replace(APPS, ios=ios))
    link, in_browser, newsletter = (
        await make_link(**APP),
        await make_link(),
        await make_link(**APP, utm={"utm_medium": "Email"}),
    )
    phone, store = {"user-agent": IPHONE}, "https://apps.apple.com/app/id123456"
    gmail = phone | {"referer": "https://mail.google.com/mail/u/0/"}

    async def shown(path: str, headers: dict[str, str]) -> list[str]:
        """The addresses of the page's links, or the one that is redirected to."""
        answer = await visitor.get(path, headers=headers)
        found = re.findall(r'<a [^>]*href="([^"]+)"', answer.text)
        return [html.unescape(address) for address in found] or [answer.headers["location"]]

    app, get_app, web = await shown(f"/{link.path}?a=1", gmail)
    click_id = app.rpartition("=")[2]
    assert app == f"shopapp://{link.domain}/{link.path}?a=1&cl_click_id={click_id}"
    assert get_app == f"https://{link.domain}/{link.path}?a=1&cl_click_id={click_id}"
    assert web.startswith(f"{link.destination_url}?a=1&cl_link_id=")
    assert await shown(get_app.partition(link.domain)[2], gmail) == [store]
    assert [(click["outcome"], click["counted"]) for click in await recorded(link, 1)] == [("app_page", True)]

    for path, headers in (
        (f"/{newsletter.path}", phone),
        (f"/{link.path}?mc_cid=7", phone),
        (f"/{link.path}", phone | {"referer": "https://u7.ct.sendgrid.net/ls/click?upn=x"}),
    ):
        assert (await shown(path, headers))[0].startswith("shopapp://")
    assert await shown(f"/{link.path}", phone) == [store]
    assert await shown(f"/{link.path}", phone | {"referer": "https://www.google.com/"}) == [store]
    assert (await shown(f"/{in_browser.path}", gmail))[0].startswith(in_browser.destination_url)
    android = gmail | {"user-agent": PIXEL}
    assert (await shown(f"/{link.path}", android))[0].startswith("intent://")
    ahead = await visitor.get(f"/{link.path}+", headers=gmail)
    assert "apps.apple.com" in ahead.text
    loaded_ahead = await shown(f"/{link.path}", gmail | {"sec-purpose": "prefetch"})
    assert loaded_ahead[:2] == [f"shopapp://{link.domain}/{link.path}", store]


async def test_a_preview_shows_the_social_fields_as_text(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """Preview fetchers get Open Graph tags; a title stays text; it is recorded and not counted."""
    link = await make_link(social={"social_title": '</title><script>alert("x")</script>'})
    answer = await visitor.get(f"/{link.path}", headers={"user-agent": FACEBOOK})
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert '<meta property="og:title" content="&lt;/title&gt;&lt;script&gt;' in answer.text
    [record] = await recorded(link, 1)
    assert (record["counted"], record["reason"]) == (False, "preview_fetcher")


PREFETCHES: list[dict[str, str]] = [
    {"sec-purpose": "prefetch;prerender"},
    {"Purpose": "Prefetch"},
    {"X-Moz": "prefetch"},
    {"X-Purpose": "preview"},
    {"X-Purpose": "PREVIEW", "X-FB-HTTP-Engine": "Liger"},
]


async def test_what_is_recorded_and_not_counted(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """HEAD, a prefetch and a crawler are no clicks; curl is one."""
    link = await make_link()
    await visitor.head(f"/{link.path}")
    for prefetch in PREFETCHES:
        await visitor.get(f"/{link.path}", headers=prefetch)
    await visitor.get(f"/{link.path}", headers={"user-agent": "Googlebot/2.1"})
    await visitor.get(f"/{link.path}", headers={"user-agent": "curl/8.5.0", "x-purpose": "browsing"})
    records = await recorded(link, 3 + len(PREFETCHES))
    reasons = Counter(record.get("reason") for record in records)
    assert reasons == {"head": 1, "prefetch": len(PREFETCHES), "crawler": 1, None: 1}


async def test_every_kind_of_client_on_the_way(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """Fetchers get the preview, all others are led on; whoever is a person or a plain program counts."""
    link = await make_link(social={"social_title": "Kites"})
    expected: list[str | None] = []
    for (kind, _), agents in CLIENTS.items():
        for agent in agents.values():
            answer = await visitor.get(f"/{link.path}", headers={"user-agent": agent})
            gets_preview = kind is ClientKind.PREVIEW_FETCHER
            assert (answer.status_code, 'content="Kites"' in answer.text) == (
                200 if gets_preview else 302,
                gets_preview,
            ), agent
            expected.append(kind.value if kind.is_automatic else None)
    records = await recorded(link, len(expected))
    assert Counter(record["reason"] for record in records) == Counter(expected)


async def test_qr_codes(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """A link's QR code is an image; there is none for a link that is not there."""
    link = await make_link()
    svg = await visitor.get(f"/{link.path}.qr.svg")
    png = await visitor.get(f"/{link.path}.qr.png")
    assert (svg.headers["content-type"], png.headers["content-type"]) == ("image/svg+xml", "image/png")
    assert png.content.startswith(b"\x89PNG")
    assert (await visitor.get("/nothing.qr.svg")).status_code == 404


async def test_large_links_are_kept_by_the_cache_of_links_alone(
    visitor: httpx.AsyncClient, make_link: LinkFactory
) -> None:
    """The address of a small link is kept beside it; what would hold on to a large one is not."""
    for text, kept in (("Kites", 1), ("x" * 20_000, 0)):
        link = await make_link(social={"social_title": text})
        before = outcomes._kept_address.cache_info().misses
        for _ in range(2):
            assert (await visitor.get(f"/{link.path}")).headers["location"].startswith(link.destination_url)
        assert outcomes._kept_address.cache_info().misses - before == kept
