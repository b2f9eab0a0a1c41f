"""GET /audit, and what requests record."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from backend.domain.accounts.permissions import EVERYTHING, Permission
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import ArchiveLink, ChangeLink, LinkOperation, LinkRequest
from backend.rest_api.routes.blueprint import API_ROOT
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.purge import purge_link
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import store_link
from tests.facts.organizations import TestOrganization, make_scoped_key

Call = Any


@pytest.fixture
async def key(database: Database, organization: TestOrganization) -> str:
    """A key that may do everything."""
    return await make_scoped_key(database, organization)


@pytest.fixture
def call(client: httpx.AsyncClient, key: str) -> Call:
    """Sends a request with the key, which must succeed, and returns what is answered."""

    async def call(method: str, path: str, **body: Any) -> Any:
        sent = body if method in {"POST", "PATCH"} else None
        answer = await client.request(method, API_ROOT + path, headers={"API-KEY": key}, json=sent)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    return call


async def test_a_link_from_its_making_to_its_end(
    call: Call, database: Database, organization: TestOrganization
) -> None:
    """Who made, changed and deleted it is there, with the fields that changed, before and after."""
    link = await call(
        "POST", "/links", domain=organization.domain, destination_url="https://example.com/a", link_name="A"
    )

    async def store(operation: LinkOperation) -> None:
        request = LinkRequest(organization.id, CreatedBy.REST, datetime.now(UTC), operation)
        await store_link(database, request, DestinationPolicies(database))

    other = {"destination_url": "https://example.com/b", "password_hash": "$argon2id$"}
    await store(ChangeLink(link["id"], other))
    await store(ChangeLink(link["id"], other))  # changes nothing
    await store(ArchiveLink(link["id"]))
    await store(ChangeLink(link["id"], {"is_archived": False}))
    await purge_link(database, None, link["id"], organization.id, datetime.now(UTC))
    log = await call("GET", f"/audit?target={link['id']}")
    actions = ["created", "changed", "archived", "restored", "archived", "purged"]
    assert [entry["action"] for entry in log["entries"]] == [f"link.{action}" for action in actions]
    created, changed, *_, purged = log["entries"]
    assert [entry["actor"]["kind"] for entry in (created, purged)] == ["key", "service"]
    assert created["target"] == {
        "kind": "link",
        "id": link["id"],
        "name": f"{organization.domain}/{link['path']}",
    }
    assert created["before"] is None
    assert created["after"]["destination_url"] == "https://example.com/a"
    assert changed["before"] == {"destination_url": "https://example.com/a", "has_password": False}
    assert changed["after"] == {
        "destination_url": "https://example.com/b",
        "has_password": True,
        "password_hash": "hidden",
    }
    assert purged["after"] is None


async def test_no_secret_is_in_the_log(call: Call, organization: TestOrganization) -> None:
    """Texts of keys, secrets and hashes are in no entry, also where they are new or replaced."""
    made = await call("POST", "/keys", kind="rest", name="warehouse", scopes=["links:read"])
    rotated = await call("POST", f"/keys/{made['id']}/rotate")
    web = await call("POST", "/keys", kind="web", name="site")
    webhook = await call("POST", "/webhooks", url="https://example.com/hook")
    new_secret = await call("POST", f"/webhooks/{webhook['id']}/rotate-secret")
    await call("DELETE", f"/keys/{rotated['id']}")
    log = await call("GET", "/audit")
    assert [entry["action"] for entry in log["entries"]] == [
        "key.created",
        "key.rotated",
        "key.created",
        "key.created",
        "webhook.created",
        "webhook.secret_rotated",
        "key.revoked",
    ]
    shown = str(log)
    secrets = [made["key"], rotated["key"], web["key"], webhook["secret"], new_secret["secret"]]
    assert not [secret for secret in secrets if secret in shown]
    assert not re.search(r"\b[0-9a-f]{64}\b", shown)
    assert log["entries"][-2]["after"]["secret"] == "hidden"


async def test_pages_and_filters(call: Call, key: str) -> None:
    """Pages follow each other without a gap, and a filter leaves out the rest."""
    for name in ("a", "b", "c"):
        await call("POST", "/tags", name=name)
    await call("PATCH", "/tags/a", name="z")
    await call("POST", "/utm-templates", name="t", utm_source="x")
    first = await call("GET", "/audit?limit=2")
    second = await call("GET", f"/audit?limit=2&after={first['next_cursor']}")
    third = await call("GET", f"/audit?limit=2&after={second['next_cursor']}")
    names = [entry["target"]["name"] for page in (first, second, third) for entry in page["entries"]]
    assert names == ["a", "b", "c", "z", "t"]
    tags = await call("GET", "/audit?action=tag")
    assert len(tags["entries"]) == 4
    changed = await call("GET", "/audit?action=tag.changed")
    assert [entry["before"] for entry in changed["entries"]] == [{"name": "a"}]
    own_id = first["entries"][0]["actor"]["id"]
    assert len((await call("GET", f"/audit?actor={own_id}"))["entries"]) == 5
    assert not (await call("GET", "/audit?actor=service"))["entries"]
    assert not (await call("GET", "/audit?to=2020-01-01T00:00:00Z"))["entries"]
    assert len((await call("GET", "/audit?from=2020-01-01T00:00:00Z"))["entries"]) == 5
    await call("DELETE", "/tags/z")
    news = await call("GET", f"/audit?after={third['next_cursor']}")
    assert [entry["action"] for entry in news["entries"]] == ["tag.deleted"]


async def test_the_feed_has_it_for_who_asks(
    call: Call, client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Events of the type `audit` are the entries, for a key that may read the log; others never get them."""
    await call("POST", "/tags", name="a")
    (entry,) = (await call("GET", "/audit"))["entries"]
    (event,) = (await call("GET", "/events?types=audit"))["events"]
    assert event == {
        "id": entry["id"],
        "type": "audit",
        "at": entry["at"],
        "org_id": organization.id,
        "data": {name: entry[name] for name in ("actor", "action", "target", "before", "after")},
    }
    assert not (await call("GET", "/events"))["events"]
    without = await make_scoped_key(database, organization, EVERYTHING - {Permission.AUDIT_READ})
    refused = await client.get(f"{API_ROOT}/events?types=click,audit", headers={"API-KEY": without})
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (403, "SCOPE_MISSING")


async def test_another_organization_sees_nothing_of_it(
    call: Call, client: httpx.AsyncClient, database: Database, make_organization: Any
) -> None:
    """Entries are of one organization, also by the id of a target."""
    await call("POST", "/tags", name="a")
    (entry,) = (await call("GET", "/audit"))["entries"]
    other = await make_scoped_key(database, await make_organization())
    for question in ("", f"?target={entry['target']['id']}"):
        answer = await client.get(f"{API_ROOT}/audit{question}", headers={"API-KEY": other})
        assert answer.json()["entries"] == []
