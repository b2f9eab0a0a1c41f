"""No majority confirms writes: who writes is told soon, from arrival on, and who reads gets an answer."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from backend.app import Service, create_app
from backend.settings import Settings
from backend.web.current import REQUEST_SECONDS
from tests.api.link_calls import API, create, info, link_body
from tests.dashboard.people import FormsOf, Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, conversion
from tests.processes.replica_set import ReplicaSet, replica_set

# What a busy machine may add to the deadline of a request, and how long a read takes there at most.
NOISE, READ = 1.0, 2.0
# What MongoDB takes for a question to which a form that asks many has to wait.
SLOW = 1.2
# Between two requests that come after one another.
PAUSE = 1.0
Tell = Callable[[str], None]
Ask = Callable[[], Awaitable[httpx.Response]]


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    """Three MongoDB servers whose replication can be stopped."""
    with replica_set(tmp_path_factory.mktemp("members"), can_fail=True) as members:
        yield members


@pytest.fixture
async def service(members: ReplicaSet, tmp_path: Path) -> AsyncIterator[Service]:
    """A service on them."""
    service = create_app(Settings(mongodb_uri=members.uri, data_dir=tmp_path / "data"))
    await service.startup()
    yield service
    await service.shutdown()


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its API."""
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
async def organization(service: Service) -> TestOrganization:
    """An organization in it."""
    return await create_test_organization(service.resources.database)


@pytest.fixture
async def person(service: Service, organization: TestOrganization) -> AsyncIterator[Person]:
    """A user of it who is signed in."""
    database = service.resources.database
    async with browser(service) as client:
        person = Person(client, await make_user(database, organization.id))
        await open_session(database, person)
        yield person


async def timed(ask: Ask, after: float = 0.0) -> tuple[int, float]:
    """The status of an answer, and the seconds until it came, to a request that is sent after a pause."""
    await asyncio.sleep(after)
    began = time.monotonic()
    status = (await ask()).status_code
    return status, time.monotonic() - began


async def test_writes_are_refused_within_their_deadline(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    person: Person,
    members: ReplicaSet,
    tell: Tell,
) -> None:
    """Whatever writes is 503 within the same time from its arrival, also behind the group before."""
    link = await info(client, organization, await create(client, organization))
    visitor = Visitor(client, organization)
    headers = organization.headers
    form = FormsOf((await person.get("/tags")).text).fields_of("/tags")
    writes: dict[str, Ask] = {
        "create": lambda: client.post(f"{API}/links", json=link_body(organization), headers=headers),
        "change": lambda: client.patch(
            f"{API}/update-link/{link['id']}", json={"destination_url": "https://a.example"}, headers=headers
        ),
        "many": lambda: client.post(
            f"{API}/links/bulk",
            json={"operations": [{"op": "create", "link": link_body(organization)}]},
            headers=headers,
        ),
        "conversion": lambda: client.post(
            f"{API}/conversions",
            json={"revenue": 1, "currency": "EUR", "customer_id": "c", "transaction_id": str(uuid.uuid4())},
            headers=headers,
        ),
        "batch": lambda: visitor.post(conversion()),
        "form": lambda: person.client.post("/tags", data=form | {"name": str(uuid.uuid4())}),
    }
    assert [name for name, ask in writes.items() if (await ask()).status_code >= 400] == []
    members.stop_replication()
    try:
        answers = await asyncio.gather(
            *(timed(ask, after) for ask in writes.values() for after in (0.0, PAUSE))
        )
    finally:
        members.resume_replication()
    took = [[f"{seconds:.1f}" for _, seconds in answers[at : at + 2]] for at in range(0, len(answers), 2)]
    told = ", ".join(f"{name} {' and '.join(times)}" for name, times in zip(writes, took, strict=True))
    tell(f"without a majority, 503 after {told} s")
    assert {status for status, _ in answers} == {503}
    assert max(seconds for _, seconds in answers) < REQUEST_SECONDS + NOISE


async def test_reads_are_answered(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    service: Service,
    members: ReplicaSet,
    tell: Tell,
) -> None:
    """They show what a majority has, also to a key that is used for the first time."""
    short_url = await create(client, organization)
    other = await create_test_organization(service.resources.database)
    await client.get(f"{API}/links", headers=organization.headers)  # starts what has the figures
    reads: list[Ask] = [
        lambda: client.get(f"{API}/links", headers=organization.headers),
        lambda: client.get(f"{API}/links", headers=other.headers),
        lambda: client.post(f"{API}/links/info", json={"shortUrl": short_url}, headers=organization.headers),
    ]
    members.stop_replication()
    try:
        answers = [await timed(ask) for ask in reads]
    finally:
        members.resume_replication()
    tell(f"without a majority, reads after {', '.join(f'{seconds:.2f}' for _, seconds in answers)} s")
    assert [status for status, _ in answers] == [200] * len(reads)
    assert max(seconds for _, seconds in answers) < READ


async def test_forms_that_take_long_have_their_time(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    person: Person,
    members: ReplicaSet,
    tell: Tell,
) -> None:
    """The question before many links are changed, and a new date for all that is kept of visitors."""
    link = await info(client, organization, await create(client, organization))
    question = FormsOf((await person.get("/links")).text).fields_of("/links/bulk")
    question |= {"action": "disable", f"link-{link['id']}": "on"}
    retention = FormsOf((await person.get("/settings")).text).fields_of("/settings/retention")
    members.delay_commands("find", "update", seconds=SLOW)
    try:
        answers = await asyncio.gather(
            timed(lambda: person.client.post("/links/bulk", data=question)),
            timed(lambda: person.client.post("/settings/retention", data=retention)),
        )
    finally:
        members.fail_commands()
    tell(f"with questions of {SLOW} s, forms after {', '.join(f'{seconds:.1f}' for _, seconds in answers)} s")
    assert [status for status, _ in answers] == [200, 303]
    assert min(seconds for _, seconds in answers) > REQUEST_SECONDS
