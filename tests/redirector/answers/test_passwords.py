"""Links that ask for a password."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest

from backend.app import Service
from backend.domain.ids import LinkId
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Link
from backend.redirector.answers import passwords
from backend.storage.accounts.users.passwords import HASHING, hash_password, is_password
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.facts.stored_links import insert_links
from tests.polling import until, wait_for_async
from tests.redirector.conftest import LinkFactory, Recorded
from tests.stopped_thread import stopped, waits

PASSWORD = "kites & röpes"
ASKED = "This link needs a password"


@pytest.fixture(scope="module")
async def password_hash() -> str:
    """The hash of PASSWORD, which takes a tenth of a second."""
    return await hash_password(PASSWORD, "a")


@pytest.fixture
async def link(make_link: LinkFactory, password_hash: str) -> Link:
    """A link with a password."""
    return await make_link(limits=LinkLimits(password_hash=password_hash), social={"social_title": "Kites"})


async def give(visitor: httpx.AsyncClient, link: Link, password: str, query: str = "") -> httpx.Response:
    """Send the page's form."""
    return await visitor.post(f"/{link.path}{query}", data={"password": password})


async def test_who_knows_the_password_gets_through(
    visitor: httpx.AsyncClient, link: Link, recorded: Recorded
) -> None:
    """The page asks; the right password leads on at once with the visitor's query, and for the visit by a
    cookie of this path; asking is no click."""
    asked = await visitor.get(f"/{link.path}?a=1")
    assert (asked.status_code, "location" in asked.headers) == (200, False)
    assert ASKED in asked.text
    wrong = await give(visitor, link, "ropes")
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (403, False)
    assert "That password is not right." in wrong.text
    right = await give(visitor, link, PASSWORD, "?a=1")
    assert right.status_code == 303
    assert right.headers["location"].startswith("https://shop.example/kites?a=1")
    name_and_pass, *attributes = right.headers["set-cookie"].split("; ")
    assert attributes == [f"Path=/{link.path}", "HttpOnly", "SameSite=Lax", "Secure"]
    again = await visitor.get(f"/{link.path}", headers={"cookie": f"a=b; {name_and_pass}"})
    assert again.status_code == 302
    assert (await visitor.get(f"/{link.path}", headers={"cookie": name_and_pass[:-1]})).status_code == 200
    records = await recorded(link, 4)
    assert [record["reason"] for record in records] == ["password", None, None, "password"]


@pytest.mark.parametrize("agent", ["Googlebot/2.1", "Twitterbot/1.0", "curl/8"])
async def test_programs_are_asked_too(visitor: httpx.AsyncClient, link: Link, agent: str) -> None:
    """No crawler and no link preview learns what is behind the password."""
    answer = await visitor.get(f"/{link.path}", headers={"user-agent": agent})
    assert (answer.status_code, "location" in answer.headers) == (200, False)
    assert "shop.example" not in answer.text
    assert "Kites" not in answer.text


async def test_another_password_ends_all_visits(
    visitor: httpx.AsyncClient, link: Link, database: Database
) -> None:
    """Who gave the former password is asked again, as soon as the change is seen."""
    cookie = (await give(visitor, link, PASSWORD)).headers["set-cookie"].partition(";")[0]
    changed = {"limits.password_hash": await hash_password("another", "a")}
    await database["links"].update_one({"_id": link.id}, {"$set": changed})

    async def visit() -> int:
        return (await visitor.get(f"/{link.path}", headers={"cookie": cookie})).status_code

    await wait_for_async(visit, "the former password still opens", lambda status: status == 200)


async def test_tries_are_limited(service: Service, visitor: httpx.AsyncClient, link: Link) -> None:
    """After five wrong passwords somebody has to wait, also with the right one; visitors from other addresses
    don't."""
    host = str(visitor.base_url)

    async def tries(address: str, *passwords: str) -> list[int]:
        transport = httpx.ASGITransport(app=service, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=host) as client:
            return [(await give(client, link, password)).status_code for password in passwords]

    assert await tries("192.0.2.1", *["wrong"] * 5, PASSWORD) == [403] * 5 + [429]
    assert await tries("192.0.2.2", "wrong", PASSWORD, "wrong") == [403, 303, 403]


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"password=" + b"x" * 9000, {}),
        (b'{"password": "x"}', {"content-type": "application/json"}),
        (b"&".join([b"a=1"] * 50), {}),
        (b"\xff", {}),
    ],
)
async def test_what_is_no_form(
    visitor: httpx.AsyncClient, link: Link, content: bytes, headers: dict[str, str]
) -> None:
    """It is refused before any password is compared."""
    sent: dict[str, Any] = {"content-type": "application/x-www-form-urlencoded"} | headers
    answer = await visitor.post(f"/{link.path}", content=content, headers=sent)
    assert (answer.status_code, "location" in answer.headers) == (400, False)


@pytest.mark.parametrize("limits", [{}, {"is_enabled": False}])
async def test_other_links_take_no_form(
    visitor: httpx.AsyncClient, make_link: LinkFactory, limits: dict[str, Any]
) -> None:
    """A link without a password, one that is disabled, and no link at all answer forms as ever."""
    link = await make_link(limits=LinkLimits(password_hash="x") if limits else LinkLimits(), **limits)
    for path in (f"/{link.path}", "/nothing", "/"):
        answer = await visitor.post(path, data={"password": "x"})
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_who_came_in_a_crowd_may_try_again(
    service: Service, visitor: httpx.AsyncClient, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many with the right password at once, some are asked to come again: none of their tries counts as
    wrong, however often that happens."""
    host, crowd = str(visitor.base_url), [f"198.51.100.{number}" for number in range(40)]

    async def give_from(address: str) -> int:
        transport = httpx.ASGITransport(app=service, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=host) as client:
            return (await give(client, link, PASSWORD)).status_code

    checked = is_password

    async def check_slowly(password: str, password_hash: str | None, owner: Hashable) -> bool:
        await crowded.wait()
        return await checked(password, password_hash, owner)

    crowded = asyncio.Event()
    with monkeypatch.context() as patch:
        patch.setattr(passwords, "is_password", check_slowly)
        for _ in range(7):  # a seventh wrong try would have to wait
            crowded.clear()
            giving = [asyncio.create_task(give_from(address)) for address in crowd]
            await until(lambda: sum(one.done() for one in giving) >= 15, "nobody is sent away")  # noqa: B023
            crowded.set()
            assert {*await asyncio.gather(*giving)} == {303, 503}
    assert {await give_from(address) for address in crowd} == {303}


async def test_a_crowd_at_one_organization_keeps_nobody_out_elsewhere(
    service: Service, link: Link, make_organization: OrganizationFactory, database: Database
) -> None:
    """While as many visitors of its links wait as may, another organization's visitors are let in."""
    other = await make_organization()
    elsewhere = replace(link, id=LinkId(str(uuid4())), org_id=other.id, domain=other.domain)
    await insert_links(database, [elsewhere])

    async def give_from(address: str, link: Link) -> int:
        transport = httpx.ASGITransport(app=service, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=f"https://{link.domain}") as client:
            return (await give(client, link, PASSWORD)).status_code

    async with stopped(HASHING):
        crowd = [asyncio.create_task(give_from(f"198.51.100.{number}", link)) for number in range(20)]
        await waits(HASHING, ("visitors", link.org_id), 20)
        assert await give_from("198.51.100.20", link) == 503
        one = asyncio.create_task(give_from("198.51.100.21", elsewhere))
        await waits(HASHING, ("visitors", other.id), 1)
    assert {*await asyncio.gather(*crowd, one)} == {303}
