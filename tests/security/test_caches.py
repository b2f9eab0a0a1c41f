"""What one caller got is kept by no cache on the way, and given to no other."""

from __future__ import annotations

import httpx
import pytest

from backend.app import Service
from tests.api.link_calls import API, create
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check

APP = "/serviceCore/app/v1/open"


def varies_by(answer: httpx.Response) -> set[str]:
    """The request's headers that the answer names in Vary; it must not be stored anywhere."""
    assert answer.headers["Cache-Control"] == "no-store"
    return {name.strip().lower() for name in answer.headers.get("Vary", "").split(",")}


async def test_answers_of_the_rest_api(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Answers and errors, with a key and without one."""
    await create(client, organization)
    for path in ("/links/page", "/links/page?size=0"):
        for headers in (organization.headers, {}):
            assert "api-key" in varies_by(await client.get(f"{API}{path}", headers=headers))
    unknown = await client.get(f"{API}/nothing", headers=organization.headers)
    assert (unknown.status_code, "accept" in varies_by(unknown)) == (404, True)


async def test_answers_of_the_app_api(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """What an app is told of its opens."""
    body = {"platform": "ios", "install_id": "1", "is_first_launch": False}
    for key, status in ((organization.mobile_key, 200), ("c_mob_x", 401)):
        answer = await client.post(APP, json=body, headers={"API-KEY": key})
        assert answer.status_code == status
        assert "api-key" in varies_by(answer)


async def test_answers_of_the_sdk_api(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """What a browser is told of its calls, which depends on its origin."""
    visitor = Visitor(client, organization)
    for headers in ({}, {"Origin": "https://elsewhere.example"}):
        assert "origin" in varies_by(await visitor.post(check(), headers=headers))


@pytest.mark.parametrize("path", ["/", "/links", "/links/nothing", "/sign-in", "/nothing"])
async def test_pages_of_the_dashboard(service: Service, organization: TestOrganization, path: str) -> None:
    """Pages, redirects and errors, signed in and not."""
    async with browser(service) as client:
        database = service.resources.database
        person = Person(client, await make_user(database, organization.id))
        answers = [await client.get(path, headers={"Accept": "text/html"})]
        await open_session(database, person)
        answers.append(await client.get(path, headers={"Accept": "text/html"}))
    assert all("cookie" in varies_by(answer) for answer in answers)


async def test_what_is_the_same_for_all_is_kept(client: httpx.AsyncClient) -> None:
    """The stylesheet and the SDK are public, and vary by nothing of a visitor's."""
    page = (await client.get("/sign-in")).text
    stylesheet = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    for path in (stylesheet, "/waylink.js"):
        answer = await client.get(path)
        assert "max-age" in answer.headers["Cache-Control"]
        assert "Cookie" not in answer.headers.get("Vary", "")
