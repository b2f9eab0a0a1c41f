"""Receivers that fail: requests are made again, later and later, until the endpoint sleeps."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from backend.doctor.webhooks import examine_webhooks
from backend.domain.finding import Severity
from backend.domain.ids import OrgId
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import Endpoint, EndpointState
from backend.domain.webhooks.retries import RETRY_PERIOD
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.lanes import in_lane
from backend.storage.driver.mongo import Database
from backend.storage.feed.reading import FeedPage, read_feed
from backend.storage.webhooks.deliveries import list_deliveries
from backend.storage.webhooks.endpoints import change_endpoint, create_endpoint, get_endpoint, go_on, replay
from backend.system.clock import utc_now
from backend.webhooks import sender
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async
from tests.webhooks.conftest import EndpointMaker, all_events, happen
from tests.webhooks.receiver import OK, Answer, Receiver, Request


async def settled(database: Database, endpoint: Endpoint, state: EndpointState, **fields: Any) -> Endpoint:
    """The endpoint, once it is in this state and its fields have these values."""

    async def read() -> Endpoint:
        return await get_endpoint(database, endpoint.org_id, endpoint.id)

    def is_there(read: Endpoint) -> bool:
        return read.state is state and all(getattr(read, name) == value for name, value in fields.items())

    return await wait_for_async(read, f"an endpoint that is {state}", is_there)


async def test_a_request_is_made_again(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    clock: MovableClock,
) -> None:
    """The same request, and nothing that comes behind it first; repeats are counted, and the owner can read
    what was wrong until it works."""
    hook.answer = lambda _: (500, {}, "out of\n order")
    endpoint = await make_endpoint(batch_size=3)
    await happen(database, organization.id, 2)
    failing = await settled(database, endpoint, EndpointState.FAILING)
    assert failing.last_error == "The receiver answered with status 500: out of order"
    assert failing.failing_since
    assert failing.next_try_at
    assert timedelta(seconds=5) <= failing.next_try_at - failing.failing_since <= timedelta(seconds=6)
    assert failing.cursor <= (await all_events(database, organization.id, 2))[0].cursor
    await happen(database, organization.id, 5)
    events = await all_events(database, organization.id, 7)
    hook.answer = lambda _: OK
    clock.offset += timedelta(seconds=10)
    await settled(database, endpoint, EndpointState.ACTIVE, delivered=7, repeats=2, last_error=None)
    first, again, *others = hook.requests
    assert (again.id, again.body) == (first.id, first.body)
    assert [len(request.event_ids) for request in others] == [3, 2]
    assert hook.event_ids[2:] == [event.id for event in events]

    async def noted() -> list[Delivery]:
        return await list_deliveries(database, organization.id, endpoint.id)

    made = (await wait_for_async(noted, "deliveries", lambda made: len(made) == 4))[::-1]
    assert [(delivery.status, delivery.attempt, delivery.repeats) for delivery in made] == [
        (500, 1, 0), (204, 2, 2), (204, 1, 0), (204, 1, 0),
    ]  # fmt: skip


async def test_it_sleeps_after_five_days(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    clock: MovableClock,
) -> None:
    """The last attempt is five days after the first; then nothing is tried, whatever happens, until somebody
    says "go on": and all that waited arrives, in order."""
    hook.answer = lambda _: (503, {}, "")
    endpoint = await make_endpoint()
    await happen(database, organization.id, 1)
    failing = await settled(database, endpoint, EndpointState.FAILING, failures=1)
    assert failing.failing_since
    clock.offset += RETRY_PERIOD - timedelta(minutes=5)
    failing = await settled(database, endpoint, EndpointState.FAILING, failures=2)
    assert failing.next_try_at
    assert failing.next_try_at < failing.failing_since + RETRY_PERIOD  # type: ignore[operator]
    clock.offset += timedelta(minutes=6)
    asleep = await settled(database, endpoint, EndpointState.SLEEPING, failures=3)
    assert (asleep.cursor, asleep.next_try_at) == (failing.cursor, None)
    assert asleep.last_error == "The receiver answered with status 503"
    hook.answer = lambda _: OK
    await happen(database, organization.id, 4)
    clock.offset += timedelta(days=1)
    # Another endpoint gets what happens meanwhile, and this one nothing.
    await make_endpoint(url=hook.url("/other"))
    await happen(database, organization.id, 1)
    events = await all_events(database, organization.id, 6)
    await until(lambda: events[5].id in hook.ids_at("/other"), "events at the other endpoint")
    assert hook.event_ids == [events[0].id] * 3
    await go_on(database, organization.id, endpoint.id)
    await settled(database, endpoint, EndpointState.ACTIVE, delivered=6, repeats=3)
    assert hook.event_ids[3:] == [event.id for event in events]


async def test_a_receiver_that_is_down_for_an_hour(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    clock: MovableClock,
) -> None:
    """What happens meanwhile waits behind the first event, which is tried again; then all comes in order."""
    hook.answer = lambda _: (502, {}, "")
    endpoint = await make_endpoint()
    for failures in range(1, 6):
        await happen(database, organization.id, 3)
        await settled(database, endpoint, EndpointState.FAILING, failures=failures)
        clock.offset += timedelta(minutes=12) if failures < 5 else timedelta(hours=1)
    tried = len(hook.event_ids)
    hook.answer = lambda _: OK
    await settled(database, endpoint, EndpointState.ACTIVE, delivered=15, last_error=None)
    events = [event.id for event in await all_events(database, organization.id, 15)]
    assert set(hook.event_ids[:tried]) == {events[0]}
    assert list(dict.fromkeys(hook.event_ids)) == events


async def test_a_receiver_that_is_gone(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """Status 410 says that nothing is wanted any more: the endpoint sleeps at once, and says why."""
    hook.answer = lambda _: (410, {}, "")
    endpoint = await make_endpoint()
    await happen(database, organization.id, 1)
    asleep = await settled(database, endpoint, EndpointState.SLEEPING, failures=1)
    assert asleep.last_error == "The receiver answered with status 410: it wants no more events"


@pytest.mark.parametrize(
    ("answer", "pause"),
    [
        ((429, {"Retry-After": "7200"}, ""), 7_200),
        ((503, {"Retry-After": "3600"}, ""), 3_600),
        ((429, {}, '{"message": "You are being rate limited.", "retry_after": 64.5}'), 64.5),
        ((429, {"Retry-After": "nan"}, "{"), 5),
        ((429, {"Retry-After": "1e300"}, ""), 86_400),
        ((500, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, ""), 5),
        ((500, {"Retry-After": "Fri, 31 Dec 9999 23:59:59 -1200"}, ""), 86_400),
        ((500, {"Retry-After": "Mon, 99999999999999999999 Jan 2026 00:00:00 GMT"}, ""), 5),
    ],
)
async def test_a_receiver_that_asks_for_patience(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    answer: Answer,
    pause: float,
) -> None:
    """It is not asked again before, for a day at most."""
    hook.answer = lambda _: answer
    endpoint = await make_endpoint()
    await happen(database, organization.id, 1)
    failing = await settled(database, endpoint, EndpointState.FAILING)
    assert f"status {answer[0]}" in str(failing.last_error)
    assert failing.next_try_at
    assert failing.failing_since
    seconds = (failing.next_try_at - failing.failing_since).total_seconds()
    assert pause <= seconds <= pause * 1.2 + 0.01


async def test_redirects_are_not_followed(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """A redirect is a failure that says so, and where it leads nothing is sent."""
    hook.answer = lambda _: (307, {"Location": hook.url("/elsewhere")}, "")
    endpoint = await make_endpoint()
    await happen(database, organization.id, 1)
    failing = await settled(database, endpoint, EndpointState.FAILING)
    assert failing.last_error == (
        "The receiver answered with status 307: redirects are not followed, "
        f"this one leads to {hook.url('/elsewhere')}"
    )
    assert [request.path for request in hook.requests] == ["/hook"]


async def test_a_slow_endpoint_slows_no_other(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """While one does not answer at all and one refuses each connection, another gets all that happens."""
    over = threading.Event()

    def answer(request: Request) -> Answer:
        if request.path == "/slow":
            over.wait(60)
        return OK

    hook.answer = answer
    slow = await make_endpoint(url=hook.url("/slow"))
    dead = await make_endpoint(url="http://127.0.0.1:9/")
    await make_endpoint()
    await happen(database, organization.id, 1)
    await until(lambda: hook.ids_at("/slow"), "an event at the slow endpoint")
    await happen(database, organization.id, 30)
    await until(lambda: len(hook.event_ids) == 31, "events at the other endpoint")
    assert len(hook.ids_at("/slow")) == 1
    failing = await settled(database, dead, EndpointState.FAILING)
    assert failing.last_error == "The receiver does not answer"
    over.set()
    await settled(database, slow, EndpointState.ACTIVE, delivered=31, repeats=0)


async def test_slow_reads_for_one_organization_slow_no_other(
    database: Database,
    make_organization: OrganizationFactory,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While MongoDB is slow with the feed of an organization with more endpoints than there are threads,
    another one's endpoint gets what happens."""
    busy, begun, over = await make_organization(), [], threading.Event()

    async def read_slowly(database: Database, org_id: OrgId, *given: Any, **options: Any) -> FeedPage:
        if org_id == busy.id:
            begun.append(org_id)
            await in_lane(lambda: over.wait(60))
        return await read_feed(database, org_id, *given, **options)

    monkeypatch.setattr(sender, "read_feed", read_slowly)
    for number in range(40):
        url = hook.url(f"/busy-{number}")
        await create_endpoint(database, busy.id, {"url": url}, utc_now())
    await happen(database, busy.id, 1)
    try:
        await until(lambda: len(begun) == 40, "reads for the busy organization")
        await make_endpoint()
        await happen(database, organization.id, 3)
        await until(lambda: len(hook.ids_at("/hook")) == 3, "events at the other endpoint")
        assert len(hook.event_ids) == 3
    finally:
        over.set()


async def test_what_an_organization_changes_holds_at_once(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """A disabled endpoint gets nothing and keeps its cursor; a new URL is tried without waiting for the end
    of a pause; a replay sends the same ids again, and they are counted as repeats."""
    hook.answer = lambda request: (404, {}, "") if request.path == "/wrong" else OK
    endpoint = await make_endpoint(url=hook.url("/wrong"))
    started = utc_now()
    await happen(database, organization.id, 3)
    await settled(database, endpoint, EndpointState.FAILING)
    await change_endpoint(database, organization.id, endpoint.id, {"is_enabled": False})
    await change_endpoint(database, organization.id, endpoint.id, {"url": hook.url()})
    sentinel = await make_endpoint(url=hook.url("/sentinel"))
    await happen(database, organization.id, 2)
    await settled(database, sentinel, EndpointState.ACTIVE, delivered=2)
    assert hook.event_ids == []
    await change_endpoint(database, organization.id, endpoint.id, {"is_enabled": True})
    await settled(database, endpoint, EndpointState.ACTIVE, delivered=5)
    ids = [event.id for event in await all_events(database, organization.id, 5)]
    assert hook.event_ids == ids
    moved = await replay(database, organization.id, endpoint.id, started - timedelta(seconds=1))
    assert moved.cursor.place == 1
    await settled(database, endpoint, EndpointState.ACTIVE, delivered=10, repeats=6)
    assert hook.event_ids == ids * 2
    # Never forward: what waits is not left out.
    same = await replay(database, organization.id, endpoint.id, utc_now() + timedelta(days=1))
    assert same.cursor.place > 1


async def test_doctor_says_what_fails(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """An endpoint that sleeps is an error, one that fails a warning, each with its reason; one that is
    disabled is not examined."""
    hook.answer = lambda request: ({"/gone": 410, "/bad": 500}.get(request.path, 204), {}, "")
    gone, bad, well = [await make_endpoint(url=hook.url(path)) for path in ("/gone", "/bad", "/hook")]
    await make_endpoint(is_enabled=False)
    await happen(database, organization.id, 1)
    await settled(database, gone, EndpointState.SLEEPING)
    await settled(database, bad, EndpointState.FAILING)
    owner = await get_organization(database, organization.id)
    findings = [finding async for finding in examine_webhooks(database, owner)]
    assert [finding.severity for finding in findings] == [Severity.ERROR, Severity.WARNING, Severity.OK]
    assert all(
        endpoint.id in finding.subject for endpoint, finding in zip((gone, bad, well), findings, strict=True)
    )
    assert "status 410" in findings[0].message
    assert "status 500" in findings[1].message
