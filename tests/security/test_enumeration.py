"""Who asks for what is not theirs learns nothing: what is another's answers as what does not exist.

`tests/api/test_policy.py` walks every route with another organization's link; here the answers are compared.
"""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service
from tests.api.link_calls import API, create, info
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check

OPEN = "/serviceCore/app/v1/open"


def same(one: httpx.Response, other: httpx.Response, *texts: tuple[str, str]) -> bool:
    """Whether two answers are alike but for what was asked for, and for the counting of requests."""
    first, second = one.text, other.text
    for theirs, none in texts:
        first, second = first.replace(theirs, "X"), second.replace(none, "X")
    names = [sorted(name for name in answer.headers if name != "content-length") for answer in (one, other)]
    return (one.status_code, first, names[0]) == (other.status_code, second, names[1])


async def test_links_of_others_and_links_that_are_not(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """By id and by short URL, another organization's link gets the answer of one that nobody has."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other)
    theirs = {"linkId": (await info(client, other, short_url))["id"], "shortUrl": short_url}
    none = {"linkId": str(uuid.uuid4()), "shortUrl": f"https://{other.domain}/nothing"}
    asked: list[tuple[str, str, str, dict[str, Any]]] = [
        ("PATCH", "/update-link/{}", "linkId", {"link_name": "mine"}),
        ("PATCH", "/links/change-status/{}", "linkId", {"is_enabled": False}),
        *(
            ("POST", path, field, {})
            for path in ("/links/info", "/analytics")
            for field in ("shortUrl", "linkId")
        ),
    ]
    for method, path, field, body in asked:
        first, second = [
            await client.request(
                method,
                API + path.format(given[field]),
                json=body if "{}" in path else {field: given[field]},
                headers=one.headers,
            )
            for given in (theirs, none)
        ]
        assert first.status_code >= 400
        assert same(first, second, (theirs[field], none[field])), f"{method} {path} {field}"


async def test_domains_of_others_and_domains_of_nobody(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Making a link on a domain does not tell whether anybody has it."""
    one, other = await make_organization(), await make_organization()
    body = {"destination_url": "https://a.example", "link_name": "n", "selected_path": "taken"}
    await create(client, other, selected_path="taken")
    first, second = [
        await client.post(f"{API}/create-link", json=body | {"domain": domain}, headers=one.headers)
        for domain in (other.domain, "go.nobody.example")
    ]
    assert first.status_code == 400
    assert same(first, second, (other.domain, "go.nobody.example"))


async def test_keys_of_other_kinds_and_keys_of_nobody(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A key of another kind is not told from one that was made up."""
    made_up = f"c_api_{'x' * 32}"
    given = [made_up, organization.web_key, organization.mobile_key]
    answers = [await client.get(f"{API}/links/page", headers={"API-KEY": key}) for key in given]
    assert {answer.status_code for answer in answers} == {401}
    assert all(same(answers[0], answer) for answer in answers)


async def test_an_app_s_open_of_another_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """An app that names another organization's link learns as much as from a made-up one."""
    one, other = await make_organization(), await make_organization()
    short_url = await create(client, other, custom_data={"secret": 1})
    open_ = {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": False}
    first, second = [
        await client.post(OPEN, json=open_ | {"short_url": url}, headers={"API-KEY": one.mobile_key})
        for url in (short_url, f"https://{other.domain}/nothing")
    ]
    assert same(first, second, (short_url, f"https://{other.domain}/nothing"))


@pytest.mark.parametrize("host", ["go.nobody.example", None])
async def test_a_disabled_link_looks_like_none(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization, host: str | None
) -> None:
    """Visitors can't tell a disabled link from a path or a domain that nobody has."""
    short_url = await create(client, organization)
    link = await info(client, organization, short_url)
    disabled = await client.patch(
        f"{API}/links/change-status/{link['id']}", json={"is_enabled": False}, headers=organization.headers
    )
    assert disabled.status_code == 200
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{organization.domain}") as visitor:
        first = await visitor.get(urlsplit(short_url).path)
        second = await visitor.get("/nothing", headers={"host": host} if host else {})
    assert first.status_code == 404
    assert same(first, second)


async def test_an_attribution_by_another_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """A site that is opened with another organization's link id learns nothing of that link."""
    one, other = await make_organization(), await make_organization()
    link = await info(client, other, await create(client, other, link_name="their secret"))
    result = await Visitor(client, one).result(check(cl_link_id=link["id"]))
    made_up = await Visitor(client, one).result(check(cl_link_id=str(uuid.uuid4())))
    assert "their secret" not in str(result)
    assert set(result) == set(made_up)


async def test_generated_paths_do_not_follow_each_other(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """From one short URL the next one can't be guessed: paths are random, not counted up."""
    paths = [urlsplit(await create(client, organization)).path[1:] for _ in range(50)]
    assert len(set(paths)) == 50
    assert paths != sorted(paths)
    assert len({path[:2] for path in paths}) > 25
