"""A domain's root, its files and its unknown paths, as the domain's organization has set them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.domains.input import DOMAIN_FIELDS
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.storage.accounts.domain_settings import store_domain_settings
from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.conftest import LinkFactory

Change = Callable[..., Awaitable[None]]


@pytest.fixture
def change(database: Database, organization: TestOrganization, service: Service) -> Change:
    """Changes the settings of the organization's domain, and waits until visitors get them."""

    async def set_fields(**fields: Any) -> None:
        parsed = {name: value and DOMAIN_FIELDS[name].parse(name, value) for name, value in fields.items()}
        stored = await store_domain_settings(database, organization.id, organization.domain, parsed)
        domains = service.redirector.domains.by_name
        await wait_for_async(
            lambda: _settings(domains), "the redirector has no news", lambda known: known == stored
        )

    async def _settings(domains: Any) -> Any:
        domain = domains.get(organization.domain)
        return domain and domain.settings

    return set_fields


async def test_root_and_unknown_paths_lead_where_they_are_set_to(
    visitor: httpx.AsyncClient, change: Change, make_link: LinkFactory
) -> None:
    """Also paths that no link can have; links, also disabled ones, and other domains stay as they are."""
    off = await make_link(is_enabled=False)
    assert [(await visitor.get(path)).status_code for path in ("/", "/nothing", "/%C3%BC")] == [404] * 3
    await change(root_url="https://shop.example/start", not_found_url="https://bücher.example/?from=404")
    answer = await visitor.get("/")
    assert (answer.status_code, answer.headers["location"]) == (302, "https://shop.example/start")
    assert answer.headers["cache-control"] == "no-store"
    for path in ("/nothing", "/%C3%BC", "/nothing/else?a=1"):
        answer = await visitor.get(path)
        assert answer.headers["location"] == "https://xn--bcher-kva.example/?from=404"
    assert (await visitor.get(f"/{off.path}")).status_code == 404
    assert (await visitor.get("/", headers={"host": "go.unknown.example"})).status_code == 404
    await change(root_url=None, not_found_url=None)
    assert [(await visitor.get(path)).status_code for path in ("/", "/nothing")] == [404] * 2


async def test_no_visitor_is_led_in_a_circle_or_where_the_operator_blocks(
    visitor: httpx.AsyncClient,
    change: Change,
    service: Service,
    database: Database,
    organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the address became a link domain, or was blocked, after it was set."""
    later = f"later.{organization.domain}"
    await change(root_url=f"https://{later}/", not_found_url="https://evil.example/")
    await insert_domain(database, later, organization.id, utc_now())
    root = await wait_for_async(
        lambda: visitor.get("/"), "it still leads there", lambda answer: answer.status_code == 404
    )
    assert "location" not in root.headers
    blocked = AddressPatterns.of(["evil.example"])
    monkeypatch.setattr(service.resources.block_list, "current", blocked)
    assert (await visitor.get("/nothing")).status_code == 403


async def test_a_domain_has_files_of_its_own(visitor: httpx.AsyncClient, change: Change) -> None:
    """robots.txt and an icon, if they are set."""
    await change(robots_txt=None, brand={"favicon_url": None})
    assert [(await visitor.get(path)).status_code for path in ("/robots.txt", "/favicon.ico")] == [404] * 2
    await change(
        robots_txt="User-agent: *\nDisallow: /", brand={"favicon_url": "https://cdn.shop.example/i.png"}
    )
    robots = await visitor.get("/robots.txt")
    assert robots.text == "User-agent: *\nDisallow: /\n"
    assert robots.headers["content-type"].startswith("text/plain")
    assert (await visitor.get("/favicon.ico")).headers["location"] == "https://cdn.shop.example/i.png"


async def test_pages_show_the_brand_of_their_domain_only(
    visitor: httpx.AsyncClient, change: Change, make_organization: OrganizationFactory
) -> None:
    """Nothing of it is on the pages of another organization's domain, or of a host that is none."""
    other = await make_organization()
    text = {"title": "Hier ist kein Drachen", "text": "Schauen Sie in den Laden."}
    await change(
        brand={"name": "Kites of one", "logo_url": "https://cdn.shop.example/l.png"},
        texts={"de": {"not_found": text}},
    )
    own = await visitor.get("/nothing", headers={"accept-language": "de-AT"})
    assert "Hier ist kein Drachen" in own.text
    assert "https://cdn.shop.example/l.png" in own.headers["content-security-policy"]
    for host in (other.domain, "go.unknown.example"):
        foreign = await visitor.get("/nothing", headers={"host": host, "accept-language": "de"})
        assert "Dieser Link funktioniert nicht" in foreign.text
        for trace in ("Kites of one", "cdn.shop.example", "Drachen", "img class"):
            assert trace not in foreign.text + str(foreign.headers)
