"""Limits of what browsers and apps send, and of requests without a valid key (decisions, "rate-limits")."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pymongo.errors import AutoReconnect

from backend.app import Service, create_app
from backend.domain.ids import InstallId
from backend.json_api import error_table
from backend.sdk_api import SdkService
from backend.settings import Settings
from backend.storage.accounts import rate_limited_requests
from backend.storage.apps import installs
from backend.storage.driver.mongo import Database
from backend.web.current import given_to
from tests.api.link_calls import API
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, call, check
from tests.polling import wait_for_async
from tests.rate_limits.counted import counted_now

PROBE = "/serviceCore/sdk/v1/probe"
OPEN = "/serviceCore/app/v1/open"
PROXY = "10.0.0.1"
_addresses = (f"198.18.{number // 250}.{number % 250 + 1}" for number in itertools.count())
# A client at an address; an address of its own by default.
ClientAt = Callable[..., httpx.AsyncClient]


@pytest.fixture(scope="module")
async def limiting(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service with low limits, on the database of all tests."""
    service = create_app(
        replace(
            settings,
            data_dir=tmp_path_factory.mktemp("limits"),
            key_call_limit=8,
            address_call_limit=5,
            address_install_limit=3,
            keyless_request_limit=4,
            trusted_proxies=("10.0.0.0/8",),
        )
    )
    await service.startup()
    yield service
    await service.shutdown()


@pytest.fixture
def client_at(limiting: Service) -> ClientAt:
    """Makes clients of that service."""

    def make(address: str | None = None) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=limiting, client=(address or next(_addresses), 4711))
        return httpx.AsyncClient(transport=transport, base_url="http://localhost:8080")

    return make


async def statuses(visitor: Visitor, number: int) -> list[int]:
    """The answers to so many batches of one call."""
    return [(await visitor.post(check())).status_code for _ in range(number)]


async def first_launch(
    client: httpx.AsyncClient, organization: TestOrganization, install_id: InstallId
) -> int:
    """The answer to an app's first launch."""
    body = {"platform": "ios", "install_id": install_id, "is_first_launch": True}
    answer = await client.post(OPEN, json=body, headers={"API-KEY": organization.mobile_key})
    return answer.status_code


async def test_an_address_that_sends_too_many_calls(
    client_at: ClientAt, organization: TestOrganization
) -> None:
    """It gets 429 and when to come again, readable by the page; others of the organization are not concerned,
    nor is it elsewhere."""
    visitor = Visitor(client_at(), organization)
    assert await statuses(visitor, 5) == [200] * 5
    refused = await visitor.post(check())
    assert (refused.status_code, refused.json()) == (429, error_table.ADDRESS_LIMIT_EXCEEDED.body())
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.headers["Access-Control-Allow-Origin"] == organization.origin
    assert refused.headers["Access-Control-Expose-Headers"] == "Retry-After"
    assert await statuses(Visitor(client_at(), organization), 1) == [200]


async def test_a_key_with_too_many_calls(client_at: ClientAt, organization: TestOrganization) -> None:
    """All addresses together send no more than the key may; what an address is refused is not the key's."""
    one, other = (Visitor(client_at(), organization) for _ in range(2))
    assert await statuses(one, 10) == [200] * 5 + [429] * 5
    assert await statuses(other, 4) == [200] * 3 + [429]
    refused = await other.post(check())
    assert refused.json() == error_table.RATE_LIMIT_EXCEEDED.body()


async def test_a_batch_counts_by_its_calls(client_at: ClientAt, organization: TestOrganization) -> None:
    """One that goes over the limit is still taken whole; what is behind it waits."""
    visitor = Visitor(client_at(), organization)
    calls = [call("event", name="seen") for _ in range(4)]
    answers = [await visitor.post(*calls) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


async def test_nobody_picks_an_address_for_calls(client_at: ClientAt, organization: TestOrganization) -> None:
    """Behind a proxy that adds an X-Forwarded-For line, the visitor's own line changes nothing."""
    visitor = Visitor(client_at(PROXY), organization)
    answered = []
    for number in range(6):
        forged, seen = f"203.0.113.{number}", "198.19.0.1"
        visitor.client.headers = httpx.Headers([("x-forwarded-for", forged), ("x-forwarded-for", seen)])
        answered += await statuses(visitor, 1)
    assert answered == [200] * 5 + [429]


async def test_opens_of_apps_are_limited(
    client_at: ClientAt, organization: TestOrganization, database: Database
) -> None:
    """As calls are: by address, and by key; an open that is no first launch is not stored at all."""

    async def opens(client: httpx.AsyncClient, number: int) -> list[int]:
        body = {"platform": "ios", "install_id": "phone", "is_first_launch": False}
        headers = {"API-KEY": organization.mobile_key}
        return [(await client.post(OPEN, json=body, headers=headers)).status_code for _ in range(number)]

    assert await opens(client_at(), 6) == [200] * 5 + [429]
    assert await opens(client_at(), 4) == [200] * 3 + [429]
    assert await database[installs.NAME].count_documents({"org_id": organization.id}) == 0


async def test_made_up_installs_of_an_address(
    client_at: ClientAt, organization: TestOrganization, database: Database
) -> None:
    """Beyond the limit none is recorded; one that reports again is answered, and other addresses go on."""
    client, device_id = client_at(), str(uuid.uuid4())
    made_up = [device_id, *(str(uuid.uuid4()) for _ in range(3))]
    assert [await first_launch(client, organization, InstallId(text)) for text in made_up] == [200] * 3 + [
        429
    ]
    assert await first_launch(client, organization, InstallId(device_id)) == 200
    assert await first_launch(client_at(), organization, InstallId(made_up[3])) == 200
    assert await database[installs.NAME].count_documents({"org_id": organization.id}) == 4


def without_valid_key(client: httpx.AsyncClient, number: int) -> list[Any]:
    """So many requests without a valid key: to each of the APIs, without a key, and with a made-up one."""
    kinds: list[Callable[[], Any]] = [
        lambda: client.get(f"{API}/links/page"),
        lambda: client.post(OPEN, json={}, headers={"API-KEY": f"c_mob_{uuid.uuid4().hex}"}),
        lambda: client.post(BATCH, json={"api_key": f"c_web_{uuid.uuid4().hex}"}),
        lambda: client.options(BATCH, headers={"Origin": f"https://{uuid.uuid4().hex}.example"}),
    ]
    return [kinds[index % len(kinds)]() for index in range(number)]


async def test_requests_without_a_valid_key(client_at: ClientAt, organization: TestOrganization) -> None:
    """They share a limit for each address; a key that the service has met goes on from there, and other
    addresses are not concerned."""
    client = client_at()
    assert (await client.get(f"{API}/links/page", headers=organization.headers)).status_code == 200
    answers = [await response for response in without_valid_key(client, 8)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 403] + [429] * 4
    assert {answer.json()["error"]["fieldName"] for answer in answers[4:]} == {"RATE_LIMIT_EXCEEDED"}
    assert all(1 <= int(answer.headers["Retry-After"]) <= 60 for answer in answers[4:])
    assert (await client.get(f"{API}/links/page", headers=organization.headers)).status_code == 200
    assert (await client_at().get(f"{API}/links/page")).status_code == 401


async def test_origins_of_no_site_are_looked_up_so_often(
    client_at: ClientAt, limiting: Service, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a request is answered, an origin that nobody has costs no query once its address has sent too
    many; a site's own is looked up and costs nothing."""
    origins = given_to(limiting.api, SdkService).known_origins
    looked_up: list[str] = []
    load = origins._load

    async def counted(origin: str) -> bool:
        looked_up.append(origin)
        return bool(await load(origin))

    monkeypatch.setattr(origins, "_load", counted)
    client = client_at()
    for _ in range(3):
        origins._entries.clear()
        answer = await client.post(f"{PROBE}/x", headers={"Origin": organization.origin})
        assert answer.headers["Access-Control-Allow-Origin"] == organization.origin
    for number in range(10):
        answer = await client.post(f"{PROBE}/x", headers={"Origin": f"https://{number}.made-up.example"})
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert len(looked_up) == 3 + 4


async def test_valid_keys_are_not_counted_as_missing(
    client_at: ClientAt, organization: TestOrganization, limiting: Service
) -> None:
    """However often a service meets a key for the first time, nothing is taken from the address."""
    client = client_at()
    for _ in range(6):
        limiting.resources.keys._cache._entries.clear()
        assert (await client.get(f"{API}/links/page", headers=organization.headers)).status_code == 200


async def test_what_the_database_could_not_say_is_not_counted(
    client_at: ClientAt, organization: TestOrganization, limiting: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever tries again and again while MongoDB is away is let in as soon as it is back."""
    client, keys = client_at(), limiting.resources.keys._cache
    visitor = Visitor(client, organization)

    async def fail(_: str) -> None:
        raise AutoReconnect

    with monkeypatch.context() as away:
        away.setattr(keys, "_load", fail)
        away.setattr(given_to(limiting.api, SdkService).known_origins, "_load", fail)
        keys._entries.clear()
        given_to(limiting.api, SdkService).known_origins._entries.clear()
        preflight = {"Origin": organization.origin}
        assert [(await client.options(BATCH, headers=preflight)).status_code for _ in range(6)] == [503] * 6
        assert await statuses(visitor, 6) == [503] * 6
    assert await statuses(visitor, 1) == [200]


async def test_the_owner_is_told(
    client_at: ClientAt, organization: TestOrganization, database: Database
) -> None:
    """What limits refused is counted for the organization, one small document a day, without an address."""
    client = client_at("198.19.0.99")
    visitor = Visitor(client, organization)
    await statuses(visitor, 8)
    for _ in range(4):
        await first_launch(client, organization, InstallId(str(uuid.uuid4())))
    told = await wait_for_async(
        lambda: rate_limited_requests.list_rate_limited(database, organization.id),
        "not told",
        lambda rows: sum(row.requests for row in rows) == 7,
    )
    assert [(row.limit, row.requests) for row in told] == [("calls_of_address", 7)]
    documents = (
        await database[rate_limited_requests.NAME]
        .find({"_id": {"$regex": f"^{organization.id}/"}})
        .to_list(None)
    )
    assert len(documents) == 1
    kept = [*documents, *await counted_now(database).find().to_list(None)]
    assert "198.19.0" not in str(kept)
