"""GET /links/page (contract, "List links")."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx

from backend.domain.ids import LinkId
from backend.domain.links.links import CreatedBy
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link_at
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links


async def page(
    client: httpx.AsyncClient, organization: TestOrganization, **query: str | int
) -> httpx.Response:
    """The answer to a call of links/page with this query."""
    return await client.get(f"{API}/links/page", params=query, headers=organization.headers)


async def test_no_links(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Without links the list is empty and there are no pages."""
    answer = await page(client, organization)
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "links": [],
            "pagination": {"current_page": 1, "page_size": 20, "total_items": 0, "total_pages": 0},
        },
    )


async def test_a_later_page_without_links(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Without links current_page is 1, whichever page is asked for and whichever links are left out."""
    await create(client, organization)
    queries: list[dict[str, str | int]] = [
        {"page": 3, "createdBy": "sdk"},
        {"page": 10**12, "createdBy": "api_user"},
    ]
    for query in queries:
        answer = await page(client, organization, **query)
        assert answer.json()["pagination"] == {
            "current_page": 1,
            "page_size": 20,
            "total_items": 0,
            "total_pages": 0,
        }


async def test_pages(client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock) -> None:
    """Pages together give every link once, newest first, each as links/info gives it."""
    urls = []
    for _ in range(5):
        clock.offset += timedelta(seconds=2)
        urls.append(await create(client, organization))
    pages = [(await page(client, organization, page=number, size=2)).json() for number in (1, 2, 3)]
    assert [link["short_url"] for one in pages for link in one["links"]] == urls[::-1]
    assert pages[2]["pagination"] == {"current_page": 3, "page_size": 2, "total_items": 5, "total_pages": 3}
    assert pages[0]["links"][0] == await info(client, organization, urls[-1])


async def test_past_the_end(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A page past the end is empty, with the true totals."""
    await create(client, organization)
    answer = await page(client, organization, page=10**12, size=100)
    assert answer.json() == {
        "links": [],
        "pagination": {"current_page": 10**12, "page_size": 100, "total_items": 1, "total_pages": 1},
    }


async def test_disabled_links_are_listed(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """The list has disabled links too."""
    link = await info(client, organization, await create(client, organization))
    await client.patch(
        f"{API}/links/change-status/{link['id']}", json={"is_enabled": False}, headers=organization.headers
    )
    assert [item["is_enabled"] for item in (await page(client, organization)).json()["links"]] == [False]


async def test_created_by(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """createdBy leaves the links made with one kind of key; without it all are listed."""
    await create(client, organization, selected_path="rest")
    link = await find_link_at(database, organization.domain, "rest", organization.id)
    assert link is not None
    other = replace(link, id=LinkId(f"{link.id[:-4]}0000"), path="dash", created_by=CreatedBy.PERSON)
    await insert_links(database, [other])
    listed = {
        kind: {
            link["short_url"].rpartition("/")[2]
            for link in (await page(client, organization, **query)).json()["links"]
        }
        for kind, query in {
            "api_rest": {"createdBy": "api_rest"},
            "api_user": {"createdBy": "api_user"},
            "sdk": {"createdBy": "sdk"},
            "all": {},
        }.items()
    }
    assert listed == {"api_rest": {"rest"}, "api_user": {"dash"}, "sdk": set(), "all": {"rest", "dash"}}


async def test_another_organization_s_links(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Nobody sees the links of another, nor how many there are."""
    one, other = await make_organization(), await make_organization()
    await create(client, other)
    assert (await page(client, one)).json()["pagination"]["total_items"] == 0


BAD_QUERIES: list[tuple[Any, ...]] = [
    ({"size": "0"}, "Page size must be between 1 and 100", "size"),
    ({"size": "101"}, "Page size must be between 1 and 100", "size"),
    ({"size": "ten"}, "Page size must be between 1 and 100", "size"),
    ({"size": ""}, "Page size must be between 1 and 100", "size"),
    ({"page": "0"}, "Page must be a whole number from 1", "page"),
    ({"page": "-1"}, "Page must be a whole number from 1", "page"),
    ({"page": "1.5"}, "Page must be a whole number from 1", "page"),
    ({"page": "٣"}, "Page must be a whole number from 1", "page"),
    ({"page": "9" * 5000}, "Page must be a whole number from 1", "page"),
    ({"createdBy": "me"}, "createdBy must be one of api_user, api_rest, sdk", "createdBy"),
]


async def test_a_bad_query(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """What is no page, size or kind of key is refused with the parameter's name."""
    for query, message, field in BAD_QUERIES:
        answer = await page(client, organization, **query)
        assert (answer.status_code, answer.json()) == (
            400,
            {
                "code": 400,
                "errorMessage": "Invalid pagination parameters",
                "error": {"errorMessage": message, "fieldName": field},
            },
        )
