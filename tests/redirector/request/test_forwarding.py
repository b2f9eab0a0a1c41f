"""What a service behind proxies believes, and where it has the visitor's country from."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from ipaddress import IPv4Network
from pathlib import Path

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.accounts.apps import AndroidApp, Apps
from backend.domain.links.links import Behavior
from backend.settings import Settings
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from backend.web.country import country_code, country_lookup
from tests.facts.organizations import TestOrganization
from tests.redirector.answers.test_outcomes import PIXEL
from tests.redirector.conftest import LinkFactory, Recorded
from tests.redirector.mmdb import write_mmdb

PROXY, STRANGER = "10.1.2.3", "8.8.4.4"
GERMAN, BRITISH = "5.9.0.1", "81.2.69.142"  # as the table from PyPI has them
MINE = IPv4Network("203.0.113.0/24")  # reserved for documentation: in no table but our own


@pytest.fixture(scope="module")
async def behind_proxies(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    """A second service on the same database, with a proxy and its country header configured."""
    folder = tmp_path_factory.mktemp("proxies")
    service = create_app(
        dataclasses.replace(
            settings,
            data_dir=folder,
            trusted_proxies=("10.0.0.0/8",),
            country_header="CF-IPCountry",
            mmdb=write_mmdb(folder / "test.mmdb", MINE, "NZ"),
        )
    )
    await service.startup()
    yield service
    await service.shutdown()


async def visit(service: Service, url: str, peer: str, **headers: str) -> httpx.Response:
    """One request over a connection from `peer`."""
    transport = httpx.ASGITransport(app=service, client=(peer, 4711))
    async with httpx.AsyncClient(transport=transport) as client:
        return await client.get(url, headers={"user-agent": PIXEL} | headers)


@pytest.mark.parametrize(
    ("peer", "headers", "country"),
    [
        (PROXY, {"cf-ipcountry": "fr", "x-forwarded-for": "203.0.113.7"}, "FR"),
        (PROXY, {"cf-ipcountry": "XX", "x-forwarded-for": "203.0.113.7"}, "NZ"),
        (PROXY, {"cf-ipcountry": "<script>", "x-forwarded-for": "203.0.113.7"}, "NZ"),
        (PROXY, {"x-forwarded-for": "203.0.113.7"}, "NZ"),
        (PROXY, {"x-forwarded-for": "203.0.113.7, 10.9.9.9"}, "NZ"),
        (PROXY, {"x-forwarded-for": "203.0.113.7, 192.0.2.1"}, None),
        (PROXY, {"x-forwarded-for": '"><x'}, None),
        (STRANGER, {"cf-ipcountry": "FR", "x-forwarded-for": "203.0.113.7"}, None),
        ("203.0.113.7", {"cf-ipcountry": "FR"}, "NZ"),
    ],
)
async def test_the_country_of_a_click(
    behind_proxies: Service,
    make_link: LinkFactory,
    recorded: Recorded,
    peer: str,
    headers: dict[str, str],
    country: str | None,
) -> None:
    """The proxy's header first, then the operator's mmdb file, by the address that the proxy tells; what a
    stranger writes is not believed."""
    link = await make_link()
    answer = await visit(behind_proxies, f"http://{link.domain}/{link.path}", peer, **headers)
    assert answer.status_code == 302
    [record] = await recorded(link, 1)
    assert record.get("country") == country


async def test_a_proxy_that_adds_a_line_of_its_own(
    behind_proxies: Service, make_link: LinkFactory, recorded: Recorded
) -> None:
    """Two X-Forwarded-For headers are one list, in their order."""
    link = await make_link()
    headers = [("user-agent", PIXEL), ("x-forwarded-for", "203.0.113.7"), ("x-forwarded-for", "10.9.9.9")]
    transport = httpx.ASGITransport(app=behind_proxies, client=(PROXY, 4711))
    async with httpx.AsyncClient(transport=transport) as client:
        await client.get(f"http://{link.domain}/{link.path}", headers=headers)
    [record] = await recorded(link, 1)
    assert record.get("country") == "NZ"


@pytest.mark.parametrize(
    ("address", "country"),
    [
        (GERMAN, "DE"),
        (BRITISH, "GB"),
        ("2a02:908::1", "DE"),
        ("2001:db8::1", None),
        ("127.0.0.1", None),
        ("203.0.113.7", None),
        ("nonsense", None),
    ],
)
def test_the_table_that_ships_with_the_service(address: str, country: str | None) -> None:
    """Without an mmdb file, the table from PyPI knows the countries of public addresses."""
    assert country_lookup(None)(address) == country


def test_an_mmdb_file_is_used_instead_of_the_table(tmp_path: Path) -> None:
    """What the operator's file does not have has no country, though the table has it."""
    lookup = country_lookup(write_mmdb(tmp_path / "own.mmdb", MINE, "NZ"))
    assert [lookup(address) for address in ("203.0.113.7", GERMAN, "nonsense", "2001:db8::1")] == [
        "NZ", None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", None, "D", "DEU", "X1", "T1", "XX", "ZZ", "ÄÖ", '"]'])
def test_what_is_no_country(text: str | None) -> None:
    """Only two letters are a code, and not those that stand for none."""
    assert country_code(text) is None


@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [(PROXY, "http", "http"), (PROXY, "https", "https"), (STRANGER, "http", "https")],
)
async def test_the_scheme_that_an_app_is_opened_with(
    behind_proxies: Service,
    make_link: LinkFactory,
    database: Database,
    organization: TestOrganization,
    peer: str,
    proto: str,
    scheme: str,
) -> None:
    """The one that the visitor's browser has, by a proxy of ours; by anyone else it stays https."""
    await set_apps(database, organization.domain, organization.id, Apps(android=AndroidApp("com.shop.app")))
    link = await make_link(android_behavior=Behavior.APP)
    answer = await visit(
        behind_proxies, f"http://{link.domain}/{link.path}", peer, **{"x-forwarded-proto": proto}
    )
    assert f"#Intent;scheme={scheme};package=com.shop.app;" in answer.headers["location"]
