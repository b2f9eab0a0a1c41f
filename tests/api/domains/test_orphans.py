"""What people asked a domain for in vain, over REST."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.web.base64url import base64url, from_base64url
from backend.rest_api.domains import orphans as rest_orphans
from backend.rest_api.routes.cursor_text import write_cursor
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.retention import set_retention
from backend.storage.links import orphans
from backend.system.clock import utc_now
from tests.api.link_calls import API, create
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.conftest import DESKTOP

BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


async def ask(service: Service, domain: str, path: str, method: str = "GET", **headers: str) -> None:
    """Ask the domain for this path, as a browser does."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=service)) as visitor:
        sent = {"user-agent": DESKTOP} | headers
        assert (await visitor.request(method, f"http://{domain}/{path}", headers=sent)).status_code == 404


async def listed(client: httpx.AsyncClient, of: TestOrganization, query: str = "") -> dict[str, Any]:
    """What REST lists for the organization's domain."""
    path = f"{API}/domains/{of.domain}/orphans{query}"
    answer = await client.get(path, headers=of.headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
async def shop(service: Service, make_organization: OrganizationFactory) -> TestOrganization:
    """An organization whose domain the redirector knows."""
    shop = await make_organization()
    await wait_for_async(lambda: _known(service, shop.domain), "the redirector does not know the domain")
    return shop


async def test_people_s_visits_are_counted_and_nothing_else(
    client: httpx.AsyncClient,
    service: Service,
    shop: TestOrganization,
    make_organization: OrganizationFactory,
) -> None:
    """By path and referrer, with the nearest link; not those of bots, programs, and of paths that exist."""
    other, domain = await make_organization(), shop.domain
    await create(client, shop, selected_path="spring")
    for referrer in ("https://news.example/a?b", "https://news.example/c", ""):
        await ask(service, domain, "sprng", **({"referer": referrer} if referrer else {}))
    await ask(service, domain, "flyer")
    for path in ("wp-login.php", "%C3%BC", "ada@shop.example", "favicon.ico", "apple-touch-icon.png", ""):
        await ask(service, domain, path)
    await ask(service, domain, "sprng", **{"user-agent": BOT})
    await ask(service, domain, "sprng", **{"user-agent": "curl/8.5"})
    await ask(service, domain, "sprng", **{"sec-purpose": "prefetch"})
    await ask(service, domain, "sprng", method="HEAD")
    await ask(service, other.domain, "theirs")
    await service.redirector.orphans.store()
    found = await listed(client, shop)
    assert [(orphan["path"], orphan["visits"], orphan["nearest"]) for orphan in found["orphans"]] == [
        ("sprng", 3, found["orphans"][0]["nearest"]),
        ("flyer", 1, None),
        ("ü", 1, None),
    ]
    assert found["orphans"][0]["nearest"].endswith("/spring")
    assert found["orphans"][0]["referrers"] == [
        {"host": "news.example", "visits": 2},
        {"host": None, "visits": 1},
    ]
    assert found["not_kept"] == {"probes": 1, "unreadable": 1, "too_many": 0}
    await create(client, shop, selected_path="flyer")
    assert [orphan["path"] for orphan in (await listed(client, shop))["orphans"]] == ["sprng", "ü"]
    assert (await listed(client, shop, "?to=2026-01-01"))["orphans"] == []
    refused = await client.get(f"{API}/domains/{domain}/orphans", headers=other.headers)
    assert refused.status_code == 404
    removed = await client.delete(f"{API}/domains/{domain}/orphans", headers=shop.headers)
    assert removed.status_code == 204
    assert (await listed(client, shop))["orphans"] == []
    assert [orphan["path"] for orphan in (await listed(client, other))["orphans"]] == ["theirs"]


async def test_storage_is_bounded_and_ages(
    client: httpx.AsyncClient,
    service: Service,
    database: Database,
    shop: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A day takes the paths that were asked for most, and says how many visits it did not take."""
    monkeypatch.setattr(orphans, "MOST_PATHS_A_DAY", 2)
    await set_retention(database, shop.id, 7)
    for path in ("once", "twice", "thrice", "twice", "thrice", "thrice"):
        await ask(service, shop.domain, path)
    await service.redirector.orphans.store()
    await ask(service, shop.domain, "late")
    await ask(service, shop.domain, "twice")
    await service.redirector.orphans.store()
    found = await listed(client, shop)
    paths = [(orphan["path"], orphan["visits"]) for orphan in found["orphans"]]
    assert (paths, found["not_kept"]["too_many"]) == ([("thrice", 3), ("twice", 3)], 2)
    stored = await database[orphans.NAME].find({"org_id": shop.id}).to_list(None)
    assert len(stored) == 3
    for document in stored:
        assert document["expires_at"] == document["day"] + timedelta(days=7)
        assert utc_now() < document["forget_at"] < utc_now() + timedelta(days=91)


async def test_pages_have_each_path_once_though_visits_grow(
    client: httpx.AsyncClient,
    service: Service,
    shop: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that comes before the cursor meanwhile. A cursor of another list, and none, are refused."""
    domain = shop.domain
    monkeypatch.setattr(rest_orphans, "_AT_ONCE", 2)
    await _visit(service, domain, "aaaabbbccd")
    first = await listed(client, shop)
    await _visit(service, domain, "bbccccdd")
    second = await listed(client, shop, f"?cursor={first['next_cursor']}")
    pages = [[(orphan["path"], orphan["visits"]) for orphan in page["orphans"]] for page in (first, second)]
    assert pages == [[("a", 4), ("b", 3)], [("c", 6), ("d", 3)]]
    assert second["next_cursor"] is None
    wrong = {
        "x": "is not one that was answered here",
        base64url(b"[]"): "is not one that was answered here",
        first["next_cursor"] + "&to=2026-01-01": "belongs to a list with other filters or another order",
        write_cursor(repr((domain, None, None)), -1, 2, "a", ""): "is not one that was answered here",
        write_cursor(repr((domain, None, None)), 1, 2, "a", "abc"): "is not one that was answered here",
        _made_up(first["next_cursor"], path="\ud800", visits=1): "is not one that was answered here",
    }
    for cursor, rule in wrong.items():
        path = f"{API}/domains/{domain}/orphans?cursor={cursor}"
        refused = await client.get(path, headers=shop.headers)
        assert (refused.status_code, f"cursor {rule}" in refused.text) == (400, True), cursor


def _made_up(cursor: str, *, path: str, visits: int) -> str:
    """A cursor of the same list, of another place."""
    fingerprint, begun_at, *_ = json.loads(from_base64url(cursor))
    return base64url(json.dumps([fingerprint, begun_at, visits, path, ""]).encode())


async def _visit(service: Service, domain: str, paths: str) -> None:
    """Ask for a path of one letter for each of these, and store it."""
    for path in paths:
        await ask(service, domain, path)
    await service.redirector.orphans.store()


async def _known(service: Service, domain: str) -> bool:
    return domain in service.redirector.domains.by_name
