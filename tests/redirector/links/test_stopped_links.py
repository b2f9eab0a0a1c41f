"""Links that the operator holds, or whose destination the operator blocks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Behavior, Hold, Link
from backend.redirector.links.file import LinkFile
from backend.storage.driver.mongo import Database
from backend.storage.links.writing.holds import hold_link, release_link
from backend.system.clock import utc_now
from tests.polling import until
from tests.redirector.conftest import LinkFactory, Recorded, SetApps

APPLE = "/.well-known/apple-app-site-association"


async def told(service: Service, link: Link, *, is_held: bool) -> None:
    """Wait until the service knows that the link is held, or is not any more."""

    def knows() -> bool:
        entry = service.redirector.cache.current(link.domain, link.path)
        return entry is not None and bool(entry.link.hold) is is_held

    await until(knows, "the change was not told")


async def test_a_held_link(
    service: Service,
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    database: Database,
    recorded: Recorded,
) -> None:
    """Visitors get a page of its own in their language, without a way on, which does not count; until it is
    released."""
    link = await make_link(social={"social_title": "Win"})
    assert (await visitor.get(f"/{link.path}")).status_code == 302
    await hold_link(database, link.id, "Phishing", utc_now())
    await told(service, link, is_held=True)
    page = await visitor.get(f"/{link.path}", headers={"accept-language": "de"})
    assert (page.status_code, page.headers["cache-control"]) == (403, "no-store")
    assert "Dieser Link wurde gestoppt" in page.text
    assert not [word for word in ("shop.example", "Phishing", "Win") if word in page.text]
    assert (await visitor.get(f"/{link.path}.qr.svg")).status_code == 404
    await release_link(database, link.id, utc_now())
    await told(service, link, is_held=False)
    assert (await visitor.get(f"/{link.path}")).status_code == 302
    clicks = await recorded(link, 3)
    assert [(click["outcome"], click["reason"]) for click in clicks] == [
        ("web", None),
        ("held", "held"),
        ("web", None),
    ]


async def test_a_held_link_that_is_archived(
    visitor: httpx.AsyncClient, make_link: LinkFactory, database: Database
) -> None:
    """It shows the error page of any archived link; a disabled one shows the page of a held link."""
    archived = await make_link(is_enabled=False, archived_at=utc_now())
    disabled = await make_link(is_enabled=False)
    held = [await hold_link(database, link.id, "Phishing", utc_now()) for link in (archived, disabled)]
    assert [link.state_at(utc_now()) for link in held] == ["archived", "held"]
    assert [(await visitor.get(f"/{link.path}")).status_code for link in held] == [404, 403]


async def test_a_held_link_opens_in_no_app(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps, database: Database
) -> None:
    """The association file keeps it from the app, so that visitors see the page."""
    await set_domain_apps(Apps(IosApp("A1B2C3D4E5", "com.shop.app")))
    link = await make_link(ios_behavior=Behavior.APP)
    await make_link(ios_behavior=Behavior.APP)
    await hold_link(database, link.id, "Phishing", utc_now())
    [details] = (await visitor.get(APPLE)).json()["applinks"]["details"]
    *paths, _, _, _, _ = details["components"]
    assert [rule["/"] for rule in paths] == [f"/{link.path}"]


def test_a_held_link_without_the_database(tmp_path: Path) -> None:
    """In the file of links for a start without MongoDB it is held too."""
    now = datetime(2026, 11, 21, tzinfo=UTC)
    link = Link(LinkId("i"), OrgId("o"), "go.x", "p", "https://shop.example/", "", now, now)
    file = LinkFile(tmp_path / "links.cache", "here", timedelta(days=1))
    stopped = replace(link, hold=Hold(now, "Phishing"))
    file.write([(link, Apps()), (stopped, Apps())], now)
    assert [kept.state_at(now) for kept, _ in file.read(now).links] == ["enabled", "held"]


async def test_a_blocked_destination(
    service: Service,
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    monkeypatch: pytest.MonkeyPatch,
    recorded: Recorded,
) -> None:
    """A changed block list holds at once for links in memory, also for what only some visitors get."""
    plain = await make_link()
    harmful = await make_link(fallbacks={"desktop_url": "https://a.evil.example/"})
    assert [(await visitor.get(f"/{link.path}")).status_code for link in (plain, harmful)] == [302, 302]
    blocked = AddressPatterns.of(["evil.example"])
    monkeypatch.setattr(service.resources.block_list, "current", blocked)
    answers = [await visitor.get(f"/{link.path}") for link in (plain, harmful, plain, harmful)]
    assert [answer.status_code for answer in answers] == [302, 403, 302, 403]
    monkeypatch.setattr(service.resources.block_list, "current", AddressPatterns())
    assert (await visitor.get(f"/{harmful.path}")).status_code == 302
    assert [record["reason"] for record in await recorded(harmful, 4)] == [None, "held", "held", None]


async def test_a_blocked_link_that_is_disabled(
    service: Service, visitor: httpx.AsyncClient, make_link: LinkFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shows the error page, as before."""
    link = await make_link(is_enabled=False)
    monkeypatch.setattr(service.resources.block_list, "current", AddressPatterns.of(["shop.example"]))
    assert (await visitor.get(f"/{link.path}")).status_code == 404
