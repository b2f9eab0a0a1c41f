"""The id of the click that a redirect appends."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import httpx

from backend.app import Service
from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import set_click_ids
from backend.storage.clicks.places import find_click
from backend.storage.driver.mongo import Database
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.answers.test_outcomes import APP, APPS, IPHONE, PIXEL
from tests.redirector.conftest import LinkFactory, Recorded, SetApps


def click_ids(answer: httpx.Response) -> list[str]:
    """The click ids in the address of a redirect."""
    return parse_qs(urlsplit(answer.headers.get("location", "")).query).get("cl_click_id", [])


async def test_it_names_the_recorded_click(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    recorded: Recorded,
    service: Service,
    database: Database,
) -> None:
    """Behind the link's id and before the fragment; with it, the click is found with its facts."""
    link = await make_link(destination_url="https://shop.example/#top")
    hosts = ("a.example", "b.example")
    answers = [await visitor.get(f"/{link.path}", headers={"referer": f"https://{host}/"}) for host in hosts]
    await recorded(link, 2)
    for answer, host in zip(answers, hosts, strict=True):
        [made] = click_ids(answer)
        rest = f"cl_link_id={link.id}&cl_click_id={made}#top"
        assert answer.headers["location"] == f"https://shop.example/?{rest}"
        place = await service.resources.click_signing.place(link.org_id, link.id, made)
        assert place
        click = await find_click(database, link.org_id, link.id, place)
        assert click is not None
        assert (click.at, click.referrer_host, click.platform) == (place.at, host, "desktop")
        assert await find_click(database, link.org_id, LinkId("other"), place) is None


async def test_a_visitor_s_own_is_left_out(visitor: httpx.AsyncClient, make_link: LinkFactory) -> None:
    """What an address already had of that name is replaced."""
    link = await make_link(destination_url="https://shop.example/?cl_click_id=old")
    answer = await visitor.get(f"/{link.path}?cl_click_id=forged&a=1")
    [made] = click_ids(answer)
    assert made not in {"forged", "old"}


async def test_who_learns_which_click_it_was(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """A site, and an app by its short URL, but no store; and nobody, where it does not count as a click."""
    await set_domain_apps(APPS)
    link = await make_link(**APP)
    to_app = await visitor.get(f"/{link.path}?a=1&cl_click_id=old", headers={"user-agent": PIXEL})
    to_store = await visitor.get(f"/{link.path}", headers={"user-agent": IPHONE})
    [made] = click_ids(to_app)
    opened = f"intent://{link.domain}/{link.path}?a=1&cl_click_id={made}#Intent;"
    assert to_app.headers["location"].startswith(opened)
    assert "cl_click_id" not in to_store.headers["location"]
    assert click_ids(await visitor.head(f"/{link.path}")) == []
    assert click_ids(await visitor.get(f"/{link.path}", headers={"user-agent": "Googlebot/2.1"})) == []
    assert len(click_ids(await visitor.get(f"/{link.path}"))) == 1


async def test_an_organization_can_do_without(
    visitor: httpx.AsyncClient, make_link: LinkFactory, database: Database, organization: TestOrganization
) -> None:
    """Within seconds after it was set, on running services."""
    link = await make_link()

    async def has_none() -> bool:
        return not click_ids(await visitor.get(f"/{link.path}"))

    assert not await has_none()
    await set_click_ids(database, organization.id, False)
    await wait_for_async(has_none, "the setting holds")
