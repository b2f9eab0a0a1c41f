"""What visitors get of links that have limits."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from backend.domain.accounts.apps import Apps
from backend.domain.links.limits import LinkLimits
from backend.redirector.links.file import LinkFile
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.facts.clicks import recorded_clicks
from tests.polling import wait_for_async
from tests.redirector.conftest import LinkFactory, Recorded

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("agent", [None, "Twitterbot/1.0", "curl/8"])
async def test_from_its_start_until_its_end(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    recorded: Recorded,
    clock: MovableClock,
    agent: str | None,
) -> None:
    """Before its start and after its end a link shows the error page, whoever asks; only between them a visit
    counts, and the others are recorded with their reason."""
    limits = LinkLimits(starts_at=clock() + HOUR, expires_at=clock() + 2 * HOUR)
    link = await make_link(limits=limits, social={"social_title": "Kites"})
    headers = {"user-agent": agent} if agent else {}
    statuses = []
    for _ in range(3):
        statuses.append((await visitor.get(f"/{link.path}", headers=headers)).status_code)
        clock.offset += HOUR
    assert (statuses[0], statuses[2]) == (404, 404)
    reasons = [click["reason"] for click in await recorded(link, 3)]
    assert (reasons[0], reasons[2]) == ("not_started", "expired")
    if agent != "Twitterbot/1.0":
        assert (statuses[1], reasons[1]) == (302, None)


async def test_who_comes_too_late_is_led_elsewhere(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded, clock: MovableClock
) -> None:
    """After its end a link leads to its address for that, as that is; the visit is no click."""
    limits = LinkLimits(expires_at=clock(), expired_url="https://bücher.example/ä?x=1&y#ü")
    link = await make_link(limits=limits, utm={"utm_source": "mail"})
    answer = await visitor.get(f"/{link.path}?z=2")
    assert answer.status_code == 302
    assert answer.headers["location"] == "https://xn--bcher-kva.example/%C3%A4?x=1&y#%C3%BC"
    [record] = await recorded(link, 1)
    assert (record["counted"], record["reason"]) == (False, "expired")


async def test_only_clicks_use_a_link_up(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded, database: Database
) -> None:
    """Checks, crawlers and link previews take nothing from a link's clicks, and are answered until it is used
    up. A page that is loaded ahead is refused: the browser could show it without asking again."""
    link = await make_link(limits=LinkLimits(max_clicks=1), social={"social_title": "Kites"})
    path = f"/{link.path}"

    async def ask_without_a_click() -> list[int]:
        """The statuses of a crawler, a link preview, a check and a prefetch."""
        agents = ["Googlebot/2.1", "Twitterbot/1.0"]
        seen = [await visitor.get(path, headers={"user-agent": agent}) for agent in agents]
        seen.append(await visitor.head(path))
        seen.append(await visitor.get(path, headers={"sec-purpose": "prefetch;prerender"}))
        return [answer.status_code for answer in seen]

    assert await ask_without_a_click() == [302, 200, 302, 503]
    assert [(await visitor.get(path)).status_code for _ in range(3)] == [302, 404, 404]

    await wait_for_async(ask_without_a_click, "it is not used up", lambda seen: seen == [404] * 4)
    sentinel = await make_link()
    await visitor.get(f"/{sentinel.path}")
    await recorded(sentinel, 1)
    records = await recorded_clicks(database, link.org_id, link.id)
    assert sum(record.counted for record in records) == 1


async def test_a_button_takes_the_click(
    visitor: httpx.AsyncClient, make_link: LinkFactory, recorded: Recorded, database: Database
) -> None:
    """Whatever opens a link of a mail uses nothing up, however often, and no program learns where it leads,
    not even from a preview; who presses the button is led on and counts once, and a form that does not count
    gets the page again. The page is in the visitor's language and is sent to where it was shown, with the
    query."""
    limits = LinkLimits(max_clicks=1, click_to_continue=True)
    link = await make_link(
        destination_url="https://shop.example/once", limits=limits, social={"social_title": "Kites"}
    )
    path = f"/{link.path}"
    for agent in ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36", "Googlebot/2.1", "curl/8"):
        page = await visitor.get(path, headers={"user-agent": agent, "accept-language": "de"})
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
        assert '<form method="post"><button class="button onward">Weiter</button></form>' in page.text
        assert "shop.example" not in page.text
    assert (await visitor.head(path)).status_code == 200
    assert (await visitor.get(path, headers={"sec-purpose": "prefetch"})).status_code == 200
    preview = (await visitor.get(path, headers={"user-agent": "Twitterbot/1.0"})).text
    assert '<meta property="og:title" content="Kites">' in preview
    assert f'href="https://{link.domain}{path}"' in preview
    assert "shop.example" not in preview
    assert "shop.example" not in (await visitor.get(f"{path}+")).text
    for headers in ({"user-agent": "Googlebot/2.1"}, {"sec-purpose": "prefetch"}):
        again = await visitor.post(path, headers=headers)
        assert (again.status_code, "<form" in again.text, "location" in again.headers) == (200, True, False)
    led = await visitor.post(f"{path}/?ref=7")
    assert led.status_code == 303
    assert led.headers["location"].startswith("https://shop.example/once?ref=7&cl_link_id=")
    assert [(await visitor.post(path)).status_code for _ in range(2)] == [404, 404]
    await wait_for_async(lambda: visitor.get(path), "it is not used up", lambda page: page.status_code == 404)
    sentinel = await make_link()
    await visitor.get(f"/{sentinel.path}")
    await recorded(sentinel, 1)
    clicks = await recorded_clicks(database, link.org_id, link.id)
    counted = [click for click in clicks if click.counted]
    assert [click.outcome.value for click in counted] == ["web"]
    reasons = {click.reason for click in clicks}
    assert {"not_continued", "crawler", "head", "prefetch", "preview_fetcher", "expired"} <= reasons


async def test_a_password_needs_no_other_button(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """A link with both asks once, since no program gives a password."""
    password_hash = await hash_password("red kites", "a")
    link = await make_link(limits=LinkLimits(None, None, 5, None, password_hash, click_to_continue=True))
    assert 'name="password"' in (await visitor.get(f"/{link.path}")).text
    assert (await visitor.post(f"/{link.path}", data={"other": "x"})).status_code == 403
    assert (await visitor.post(f"/{link.path}", data={"password": "red kites"})).status_code == 303


async def test_limits_stay_in_the_file_of_links(
    make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """A service that starts without its database still knows the limits of the links that it serves."""
    now = clock().replace(microsecond=0)
    limits = LinkLimits(now, now + HOUR, 5, "https://a.example", is_used_up=True, click_to_continue=True)
    links = [await make_link(limits=limits), await make_link()]
    file = LinkFile(tmp_path / "links.cache", "db", HOUR)
    file.write([(link, Apps()) for link in links], clock())
    assert [link.limits for link, _ in file.read(clock()).links] == [limits, LinkLimits()]
