"""/keys: made, replaced and revoked over REST, by keys that may."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import Permission
from backend.storage.accounts.api_keys import create_api_key, list_api_keys
from backend.storage.accounts.key_cache import KeyCache
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization, make_scoped_key

MANAGING = (Permission.LINKS_READ, Permission.KEYS_READ, Permission.KEYS_WRITE)


class Keys:
    """The keys of an organization, as a key with MANAGING sees them."""

    def __init__(self, client: httpx.AsyncClient, key: str) -> None:
        self._client = client
        self._headers = {"API-KEY": key}

    async def call(self, method: str, path: str = "", body: Any = None) -> httpx.Response:
        """A request below /keys."""
        return await self._client.request(method, f"{API}/keys{path}", json=body, headers=self._headers)

    async def make(self, **fields: Any) -> dict[str, Any]:
        """A new key."""
        answer = await self.call("POST", body=fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def works(self, key: str) -> bool:
        """Whether a key may list links."""
        answer = await self._client.get(f"{API}/links/page", headers={"API-KEY": key})
        return answer.status_code == 200


@pytest.fixture
async def keys(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> Keys:
    """The keys of this test's organization."""
    text, _ = await create_api_key(database, organization.id, KeyKind.REST, utc_now(), scopes=MANAGING)
    return Keys(client, text)


async def test_a_key_is_made_named_ended_and_revoked(keys: Keys, clock: MovableClock) -> None:
    """It is shown once, lists have its name and scopes, and it works until its end or its revocation."""
    end = (utc_now() + timedelta(hours=1)).replace(microsecond=0)
    made = await keys.make(kind="rest", name="Shop", scopes=["links:read"], expires_at=end.isoformat())
    assert await keys.works(made["key"])
    (listed,) = [key for key in (await keys.call("GET")).json()["keys"] if key["id"] == made["id"]]
    assert (listed["name"], listed["scopes"], listed["key"]) == ("Shop", ["links:read"], None)
    assert datetime.fromisoformat(listed["expires_at"]) == end
    changed = (await keys.call("PATCH", f"/{made['id']}", {"name": None})).json()
    assert (changed["name"], changed["expires_at"]) == (None, listed["expires_at"])
    clock.offset += timedelta(hours=2)
    assert not await keys.works(made["key"])
    other = await keys.make(kind="rest", scopes=["links:read"])
    assert (await keys.call("DELETE", f"/{other['id']}")).status_code == 204
    found = {key["id"]: key for key in (await keys.call("GET")).json()["keys"]}
    assert found[other["id"]]["revoked_at"]


async def test_an_app_makes_links_by_a_key(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """A mobile key takes which links that are; another kind, another's domain and a maker without the scope
    are refused."""
    grant = {"domain": organization.domain, "destinations": ["https://shop.example/invite/*"]}
    keys = Keys(client, await make_scoped_key(database, organization))
    made = await keys.make(kind="mobile", links=grant)
    assert made["links"] == grant
    (listed,) = [key for key in (await keys.call("GET")).json()["keys"] if key["id"] == made["id"]]
    assert listed["links"] == grant
    for fields, rule in (
        ({"kind": "web", "links": grant}, "links are for keys of the kind mobile"),
        ({"kind": "mobile", "links": {"domain": organization.domain}}, "links.destinations must be a list"),
        ({"kind": "mobile", "links": grant | {"domain": "a.example"}}, "links.domain must be one of the org"),
        ({"kind": "mobile", "links": {**grant, "all": True}}, "links.all is not a field"),
    ):
        refused = await keys.call("POST", body=fields)
        assert refused.json()["error"]["errorMessage"].startswith(rule)
    unable = Keys(client, await make_scoped_key(database, organization, MANAGING))
    answers = [
        await unable.call("POST", body={"kind": "mobile", "links": grant}),
        await unable.call("POST", f"/{made['id']}/rotate", {}),
    ]
    assert [answer.json()["error"]["fieldName"] for answer in answers] == ["SCOPES_NOT_GRANTED"] * 2


async def test_a_key_of_the_browser_sdk_is_shown_again(keys: Keys) -> None:
    """It is public. Those of servers and apps are not there any more."""
    made = {kind: await keys.make(kind=kind) for kind in ("web", "mobile")}
    listed = {key["id"]: key["key"] for key in (await keys.call("GET")).json()["keys"]}
    assert listed[made["web"]["id"]] == made["web"]["key"]
    assert listed[made["mobile"]["id"]] is None


async def test_both_keys_work_for_a_while(keys: Keys, clock: MovableClock) -> None:
    """A key and its successor are valid until the hours are over; a key is replaced once."""
    old = await keys.make(kind="rest", name="Shop", scopes=["links:read"])
    new = (await keys.call("POST", f"/{old['id']}/rotate", {"overlap_hours": 2})).json()
    assert (new["name"], new["scopes"]) == ("Shop", ["links:read"])
    assert await keys.works(old["key"])
    assert await keys.works(new["key"])
    again = await keys.call("POST", f"/{old['id']}/rotate", {})
    assert (again.status_code, again.json()["error"]["fieldName"]) == (409, "KEY_ENDED")
    clock.offset += timedelta(hours=3)
    assert not await keys.works(old["key"])
    assert await keys.works(new["key"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "", {"kind": "rest"}),
        ("POST", "", {"kind": "rest", "scopes": ["links:write"]}),
        ("POST", "/{contract}/rotate", {}),
        ("PATCH", "/{contract}", {"expires_at": None}),
    ],
)
async def test_no_key_makes_a_mightier_one(
    keys: Keys, method: str, path: str, body: dict[str, Any], organization: TestOrganization
) -> None:
    """Neither a new one, nor in the place of one that there is."""
    listed = (await keys.call("GET")).json()["keys"]
    (contract,) = [key["id"] for key in listed if organization.rest_key.endswith(key["hint"][-4:])]
    answer = await keys.call(method, path.format(contract=contract), body)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (403, "SCOPES_NOT_GRANTED")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "web", "scopes": ["links:read"]}, "scopes"),
        ({"kind": "rest", "scopes": []}, "scopes"),
        ({"kind": "rest", "scopes": ["links:read", "x"]}, "scopes[1]"),
        ({"kind": "web", "expires_at": "2020-01-01"}, "expires_at"),
        ({"kind": "web", "colour": "red"}, "colour"),
    ],
)
async def test_what_a_key_can_not_have(keys: Keys, body: dict[str, Any], field: str) -> None:
    """The error names the field."""
    answer = await keys.call("POST", body=body)
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, field)


async def test_use_is_written_once_a_day(
    database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """However often a key is used, its last use is exact to the day, and costs a write a day."""
    text, key = await create_api_key(database, organization.id, KeyKind.REST, clock())
    times = []
    for _ in range(3):
        assert await KeyCache(database, clock).find(text, KeyKind.REST)
        [stored] = [own for own in await list_api_keys(database, organization.id) if own.id == key.id]
        times.append(stored.last_used_at)
        clock.offset += timedelta(hours=10)
    assert times[0] is not None
    assert times == [times[0]] * 3
