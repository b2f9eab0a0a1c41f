"""A `+` behind a short URL shows where it leads, and tells no more than the redirect does."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import httpx
import pytest

from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Hold, Link
from tests.conftest import MovableClock
from tests.redirector.answers.test_outcomes import APP, APPS, FACEBOOK, FIREFOX, IPHONE, PIXEL
from tests.redirector.conftest import LinkFactory, Recorded, SetApps

SECRET = "https://secret.example/"


def shown(page: httpx.Response) -> str:
    """The address that the page shows, with its host in bold."""
    [address] = re.findall(r'<p class="address"[^>]*>(.*)</p>', page.text)
    return html.unescape(str(address))


async def test_it_shows_the_address_of_the_redirect(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded
) -> None:
    """The whole address with its host in bold, also for bots; the button follows the link. Nothing
    is recorded or indexed, and the link's name is not shown."""
    link = await make_link(link_name="Quarrel", utm={"utm_source": "mail"}, social={"social_title": "Kites"})
    pages = [
        await visitor.get(f"/{link.path}+?a=%3Cb%3E", headers={"user-agent": agent} if agent else {})
        for agent in (None, IPHONE, FACEBOOK, "Googlebot/2.1", "curl/8.5.0")
    ]
    rest = f"/kites?a=%3Cb%3E&utm_source=mail&cl_link_id={link.id}"
    assert [shown(page) for page in pages] == [f"https://<b>shop.example</b>{rest}"] * len(pages)
    page = pages[0]
    assert (page.status_code, page.headers["x-robots-tag"]) == (200, "noindex")
    assert page.headers["cache-control"] == "no-store"
    assert f'href="/{link.path}?a=%3Cb%3E" rel="noreferrer"' in page.text
    assert "Quarrel" not in page.text
    assert (await visitor.head(f"/{link.path}+")).content == b""
    assert (await visitor.post(f"/{link.path}+")).status_code == 405
    answer = await visitor.get(f"/{link.path}?a=%3Cb%3E")
    assert answer.headers["location"].startswith(f"https://shop.example{rest}&cl_click_id=")
    [record] = await recorded(link, 1)
    assert record["counted"]


async def test_it_follows_rules_apps_and_fallbacks(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """A visitor sees where this visitor would get: by a rule, or without the app where the link opens one."""
    await set_domain_apps(APPS)
    rule = {"if": {"query": {"to": "b"}}, "then": {"destination_url": "https://b.example/"}}
    ruled = await make_link(rules=[rule])
    assert shown(await visitor.get(f"/{ruled.path}+?to=b")).startswith("https://<b>b.example</b>/?to=b&")
    assert "shop.example" in shown(await visitor.get(f"/{ruled.path}+"))
    app = await make_link(**APP)
    fallback = await make_link(**APP, fallbacks={"android_fallback_url": "https://android.example/"})
    for link, agent, host in (
        (app, IPHONE, "apps.apple.com"),
        (app, PIXEL, "play.google.com"),
        (app, FIREFOX, "play.google.com"),
        (fallback, PIXEL, "android.example"),
    ):
        page = await visitor.get(f"/{link.path}+", headers={"user-agent": agent})
        assert f"<b>{host}</b>" in page.text
        assert "the link opens the app" in page.text
    assert "the link opens the app" not in (await visitor.get(f"/{app.path}+")).text


@pytest.mark.parametrize("case", ["password", "clicks", "held", "disabled", "early", "late", "used up"])
async def test_it_tells_no_more_than_the_redirect(
    visitor: httpx.AsyncClient, make_link: LinkFactory, clock: MovableClock, case: str
) -> None:
    """Of a link that leads nowhere now it is the page that visitors get; with a password or a number of
    clicks, it does not say where. In all languages of the pages."""
    hour = timedelta(hours=1)
    limits, status = {
        "password": (LinkLimits(password_hash="x"), 200),
        "clicks": (LinkLimits(max_clicks=1), 200),
        "early": (LinkLimits(starts_at=clock() + hour), 404),
        "late": (LinkLimits(expires_at=clock() - hour), 404),
        "used up": (LinkLimits(max_clicks=1, is_used_up=True), 404),
    }.get(case, (LinkLimits(), 403 if case == "held" else 404))
    link: Link = await make_link(
        destination_url=SECRET,
        limits=limits,
        is_enabled=case != "disabled",
        hold=Hold(clock(), "Phishing") if case == "held" else None,
    )
    for language, words in (
        ("en", "not shown"),
        ("de", "nicht gezeigt"),
        ("fr", "affichée"),
        ("es", "no se"),
    ):
        page = await visitor.get(f"/{link.path}+", headers={"accept-language": language})
        assert page.status_code == status
        assert "secret" not in page.text
        assert (words in page.text) is (status == 200)


async def test_after_its_end_it_shows_where_late_visitors_go(
    visitor: httpx.AsyncClient, make_link: LinkFactory, clock: MovableClock
) -> None:
    """A link that has expired shows its address for late visitors, not its destination."""
    limits = LinkLimits(expires_at=clock(), expired_url="https://bücher.example/ä")
    link = await make_link(destination_url=SECRET, limits=limits)
    page = await visitor.get(f"/{link.path}+")
    assert shown(page) == "https://<b>xn--bcher-kva.example</b>/%C3%A4"
    assert "secret" not in page.text


async def test_only_links_have_it(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """Of nothing there is no page, nor of a page about a link; what stands behind a `+` follows no link."""
    link = await make_link()
    behind = (f"/{link.path}+{end}" for end in ("+", "/", ")", ".", "%20", "&a=b", "%3Fa=b"))
    for path in ("/+", "/nothing+", f"/{link.path}%2B", f"/{link.path}%2b)", *behind):
        assert (await visitor.get(path)).status_code == 404


async def test_of_what_means_a_link(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """Whatever leads where the link does tells of it too."""
    link = await make_link()
    for path in (f"/{link.path}/", f"/{link.path}//", f"/{link.path}%20", f"/{link.path.upper()}"):
        page = await visitor.get(f"{path}+")
        assert "<b>shop.example</b>" in page.text, path
