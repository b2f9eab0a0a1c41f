"""No majority confirms writes: who writes is told soon, from arrival on, and who reads gets an answer. When
the primary dies with what only it has, nothing of that was acknowledged: who tries again loses nothing."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.ids import LinkId
from backend.domain.links.destinations import destination
from backend.domain.links.input import parse_new_link
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import CreateLink, LinkRequest
from backend.environment import load_settings
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import StorageError
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import Submission, write_links
from backend.web.current import REQUEST_SECONDS
from tests.api.link_calls import API, create, info, link_body
from tests.dashboard.people import FormsOf, Person, browser, make_user, open_session
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, conversion
from tests.faults.outcomes import Outcome, TellOutcome
from tests.faults.tries import CLICKED, OLD, Tries
from tests.polling import wait_for_async
from tests.processes.replica_set import ReplicaSet

# What a busy machine may add to the deadline of a request, and how long a read takes there at most.
NOISE, READ = 1.0, 2.0
# What MongoDB takes for a question to which a form that asks many has to wait.
SLOW = 0.8
# Between two requests that come after one another.
PAUSE = 1.0
# How long each try is given: it fails by then, since no majority confirms it.
PATIENCE = 1.0
Tell = Callable[[str], None]
Ask = Callable[[], Awaitable[httpx.Response]]


@pytest.fixture(scope="module")
async def service(own: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service on a replica set of three, which keeps no link in memory for long."""
    settings = own | {
        "WAYLINK_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "WAYLINK_LINK_CACHE_SECONDS": "0.01",
    }
    service = create_app(load_settings(settings, Path("none")))
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


async def test_links_that_are_stored_beside_one_whose_path_is_taken(
    members: ReplicaSet, service: Service, organization: TestOrganization
) -> None:
    """They count as stored only if a majority confirmed them, whatever else is said of the same command."""
    database = service.resources.database

    def new(path: str) -> Submission:
        operation = CreateLink(parse_new_link(link_body(organization, selected_path=path)))
        return Submission([LinkRequest(organization.id, CreatedBy.REST, datetime.now(UTC), operation)])

    policies = DestinationPolicies(database)
    await write_links(database, [new("taken")], policies)
    members.leave_unconfirmed("insert")
    with pytest.raises(StorageError):
        await write_links(database, [new("taken"), new("free")], policies)


async def test_what_no_majority_has_is_neither_acknowledged_nor_shown(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    service: Service,
    members: ReplicaSet,
    outcome: TellOutcome,
) -> None:
    """Each try fails, the second one too; when the primary has died, the third one stores it, once. Nothing
    of it was taken for stored or shown to a visitor before."""
    database = service.resources.database
    short_url = await create(client, organization, destination_url=OLD)
    link_id = (await info(client, organization, short_url))["id"]
    tries = Tries(client, service, organization, link_id, urlsplit(short_url).path[1:])
    actions = [tries.install, tries.new_link, tries.batch, tries.ship, tries.open]
    await ship(database, [click(organization.id, LinkId(CLICKED), datetime.now(UTC))])
    members.stop_replication()
    for tried in (actions, [tries.change_link], actions):
        with deadline(PATIENCE):
            answers = await asyncio.gather(*(action() for action in tried))
        assert answers == ["503"] * len(tried)
    assert await tries.destination() == OLD
    killed = members.kill_primary()
    members.resume_replication()
    members.wait_for_primary()
    answers = [await acknowledged(action) for action in actions]
    its_own = {"org_id": organization.id}
    stored = [
        await database[collection].count_documents(its_own | fields)
        for collection, fields in (("installs", {}), ("links", {"path": "new-one"}), ("conversions", {}))
    ]
    clicks = await recorded_clicks(database, organization.id, LinkId(CLICKED))
    stored.append(len(clicks) - 1)  # one was stored before
    clicks = await recorded_clicks(database, organization.id, LinkId(link_id))
    stored.append(sum(recorded.outcome is destination.Outcome.APP for recorded in clicks))
    what = "primary dies with unconfirmed writes (an install, a link, a sale, a click, an open)"
    outcome(Outcome(what, len(answers), sum(stored)))
    assert answers == ["200", "201", "200", "200", "200"]
    assert stored == [1, 1, 1, 1, 1]
    assert await tries.destination() == OLD
    window = ClickWindow(LinkId(CLICKED), datetime.now(UTC))
    assert (await service.resources.analytics.ask(organization.id, window)).total == 2
    noted = {"_id": {"$regex": f"^{organization.id}/"}}
    assert await database["idempotency"].count_documents(noted) == 1
    members.start_again(killed)


async def acknowledged(action: Callable[[], Awaitable[str]]) -> str:
    """What is answered to the first try that is acknowledged."""
    return await wait_for_async(action, action.__name__, lambda answer: answer != "503", seconds=60)
