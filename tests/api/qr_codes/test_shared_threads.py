"""Many QR codes of one organization, and what others wait for meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.accounts.apps import Apps, IosApp
from backend.settings import Settings
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from tests.api.link_calls import link_body
from tests.api.test_error_table import serving
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.stopped_thread import stopped, waits

APPLE = "/.well-known/apple-app-site-association"
STYLE = "color=%231f5fbf&text=Scan+me"


async def make_links(links: Links, count: int) -> list[str]:
    """The ids of new links."""
    create = {"op": "create", "link": link_body(links.organization)}
    answer = await links.call("POST", "/bulk", {"operations": [create] * count})
    return [result["id"] for result in answer.json()["results"]]


@pytest.fixture
async def busy(links: Links) -> dict[str, Any]:
    """What asks for a large sheet of the organization."""
    return {"links": await make_links(links, 100)}


async def test_sheets_of_one_organization_hold_up_nobody(
    links: Links, busy: dict[str, Any], make_organization: OrganizationFactory, database: Database
) -> None:
    """While five sheets wait, visitors get codes and phones the files of apps; and another
    organization has its code after a label of the sheets, not after the sheets."""
    other = Links(links.client, await make_organization())
    link, host = await other.make(), {"Host": other.organization.domain}
    apps = Apps(ios=IosApp("A1B2C3D4E5", "com.shop.app"))
    await set_apps(database, other.organization.domain, other.organization.id, apps)
    async with stopped(LONG_WORK) as release:
        sheets = [asyncio.ensure_future(links.call("POST", "/qr-sheet", busy)) for _ in range(5)]
        await waits(LONG_WORK, links.organization.id, 5)
        async with asyncio.timeout(60):  # without an answer, it would be for ever
            code = await links.client.get(f"/{link['path']}.qr.svg", headers=host)
            rules = await links.client.get(APPLE, headers=host)
        assert (code.status_code, rules.status_code) == (200, 200)
        styled = asyncio.ensure_future(other.call("GET", f"/{link['id']}/qr?{STYLE}"))
        await waits(LONG_WORK, other.organization.id, 1)
        release.set()
        assert (await styled).status_code == 200
        assert not any(sheet.done() for sheet in sheets)
    assert {sheet.status_code for sheet in await asyncio.gather(*sheets)} == {200}


async def test_so_many_requests_of_an_organization_may_wait(
    links: Links, make_organization: OrganizationFactory
) -> None:
    """One more is told to come later; another organization's is taken."""
    link, other = await links.make(), Links(links.client, await make_organization())
    others_link = await other.make()
    async with stopped(LONG_WORK):
        codes = [asyncio.ensure_future(links.call("GET", f"/{link['id']}/qr?{STYLE}")) for _ in range(20)]
        await waits(LONG_WORK, links.organization.id, 20)
        refused = await links.call("GET", f"/{link['id']}/qr?{STYLE}")
        taken = asyncio.ensure_future(other.call("GET", f"/{others_link['id']}/qr?{STYLE}"))
        await waits(LONG_WORK, other.organization.id, 1)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert refused.json()["error"]["fieldName"] == "TOO_MUCH_WAITS"
    assert {code.status_code for code in await asyncio.gather(*codes, taken)} == {200}


async def test_what_a_sheet_costs(settings: Settings, organization: TestOrganization, tmp_path: Path) -> None:
    """Each label counts as a request; a sheet beyond the limit is drawn whole, and the next one refused."""
    async with serving(replace(settings, rate_limit=9, data_dir=tmp_path)) as (_, client):
        links = Links(client, organization)
        ids = await make_links(links, 10)
        for labels, left in ((1, "7"), (4, "3"), (10, "0")):
            answer = await links.call("POST", "/qr-sheet", {"links": ids[:labels]})
            assert (answer.status_code, answer.headers["RateLimit-Remaining"]) == (200, left)
        assert (await links.call("POST", "/qr-sheet", {"links": ids})).status_code == 429
