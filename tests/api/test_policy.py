"""What holds over every route, whichever they are: read from the service's own list of routes."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.all_resources import RESOURCES
from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import (
    set_destination_rules,
    set_event_properties,
    set_subscription,
)
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, info
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization, make_scoped_key

REST = f"{API}/"
# Routes that need no key, each with the reason.
OPEN_TO_ALL = {
    f"{API}/openapi.json": "the description of the API",
    f"{API}/docs": "the description of the API, as a page",
}


def rest_calls(service: Service, link_id: LinkId) -> Iterator[tuple[str, str]]:
    """Every method and path of the REST API, with this id where a path has one."""
    for rule in service.api.url_map.iter_rules():
        if rule.rule.startswith(REST):
            for method in sorted((rule.methods or set()) - {"OPTIONS"}):
                yield method, re.sub("<.*>", link_id, rule.rule)


async def test_every_route_asks_for_a_key(client: httpx.AsyncClient, service: Service) -> None:
    """No route of the REST API answers without a key but those listed here."""
    calls = list(rest_calls(service, LinkId(str(uuid.uuid4()))))
    assert len(calls) >= 9
    for method, path in calls:
        status = (await client.request(method, path, json={})).status_code
        assert status == (200 if path in OPEN_TO_ALL else 401), f"{method} {path}"


async def test_every_route_counts_against_the_rate_limit(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization
) -> None:
    """Each answer to a key, whatever its status, takes one from the key's limit and says so."""
    left = []
    for method, path in rest_calls(service, LinkId(str(uuid.uuid4()))):
        if path not in OPEN_TO_ALL:
            answer = await client.request(method, path, json={}, headers=organization.headers)
            left.append(int(answer.headers["RateLimit-Remaining"]))
    assert left == list(range(left[0], left[0] - len(left), -1))


async def test_no_route_answers_for_another_organization_s_link(
    client: httpx.AsyncClient, service: Service, make_organization: OrganizationFactory, database: Database
) -> None:
    """With another's link id, short URL and domain no route succeeds, tells or changes anything."""
    one, other = await make_organization(), await make_organization()
    await set_subscription(database, one.id, utc_now().replace(year=2999))
    await set_destination_rules(database, other.id, DestinationRules(refused=("secret.example",)))
    await set_event_properties(database, other.id, ["secret"])
    short_url = await create(client, other, link_name="their secret", custom_data={"secret": 1})
    link = await info(client, other, short_url)
    body: dict[str, Any] = {
        "linkId": link["id"],
        "shortUrl": short_url,
        "domain": other.domain,
        "destination_url": "https://evil.example",
        "link_name": "mine",
        "is_enabled": False,
    }
    fields = {
        "/create-link": ("domain", "destination_url", "link_name"),
        "/update-link/": ("link_name",),
        f"/links/{link['id']}": ("link_name",),
    }
    headers = {"API-KEY": await make_scoped_key(database, one)}
    for method, path in rest_calls(service, link["id"]):
        if path in OPEN_TO_ALL:
            continue
        names = next((names for start, names in fields.items() if path.startswith(API + start)), tuple(body))
        answer = await client.request(
            method, path, json={name: body[name] for name in names}, headers=headers
        )
        if path in {f"{API}/links/page", f"{API}/links"} and method in {"GET", "HEAD"}:
            assert method == "HEAD" or answer.json()["links"] == []
            continue
        own = {f"{API}{resource.rest.path}" for resource in RESOURCES} | {
            f"{API}/{name}"
            for name in (
                "tags",
                "utm-templates",
                "destination-rules",
                "event-properties",
                "webhooks",
                "reports",
                "alerts",
                "alert-rules",
                "invitations",
                "costs",
                "report-recipients",
                "members",
                "member-invitations",
            )
        }
        if path in own and method in {"GET", "HEAD"}:
            assert method == "HEAD" or not any(answer.json().values())
            continue
        if path in {f"{API}/{name}" for name in ("domains", "keys", "audit")} and method in {"GET", "HEAD"}:
            assert not any(text in answer.text for text in (other.domain, other.web_key, other.rest_key[-4:]))
            continue
        if path == f"{API}/archives":  # of the caller's own organization
            asked = await database["archives"].delete_many({"org_id": one.id})
            assert asked.deleted_count == (method == "POST")
            assert await database["archives"].find_one({"org_id": other.id}) is None
            continue
        if path == f"{API}/events" and method in {"GET", "HEAD"}:
            assert method == "HEAD" or answer.json()["events"] == []
            continue
        if path == f"{API}/analytics/export" and method in {"GET", "HEAD"}:
            assert answer.text == ("" if method == "HEAD" else "clicks\r\n0\r\n")
            continue
        if "results" in answer.text:
            assert [result["status"] for result in answer.json()["results"]] == ["rejected"], (
                f"{method} {path}"
            )
        else:
            assert answer.status_code in {400, 404}, f"{method} {path}"
        assert "secret" not in answer.text
        assert link["id"] not in answer.text
    assert await info(client, other, short_url) == link


@pytest.mark.parametrize("path", ["/nothing", "/links/", "/create-link/", "//create-link", "/update-link"])
async def test_an_unknown_path(client: httpx.AsyncClient, path: str) -> None:
    """A path that is none is answered in shape A, with or without a key."""
    answer = await client.post(f"{API}{path}", json={})
    assert (answer.status_code, answer.json()["code"]) == (404, 404)
    assert answer.headers["Content-Type"] == "application/json"


async def test_a_wrong_method(client: httpx.AsyncClient, service: Service) -> None:
    """A method that a path does not have is answered in shape A, with the methods that it has."""
    for path in {path for _, path in rest_calls(service, LinkId(str(uuid.uuid4())))}:
        answer = await client.request("TRACE", path)
        assert (answer.status_code, answer.json()["code"]) == (405, 405)
        assert answer.headers["Allow"]
