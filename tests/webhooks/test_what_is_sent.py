"""What endpoints get: what they have chosen, and at public addresses only."""

from __future__ import annotations

import socket
import uuid
from dataclasses import replace

import pytest

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.webhooks.endpoint import Endpoint, EndpointState
from backend.domain.webhooks.requests import WebhookRequest
from backend.domain.webhooks.selection import batches
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag
from backend.storage.webhooks.deliveries import list_deliveries
from backend.storage.webhooks.endpoints import get_endpoint
from backend.system.clock import utc_now
from backend.web_client.page_reader import Unreadable
from backend.web_client.receivers import MOST_BYTES, Receivers
from backend.webhooks.attempt import attempt
from backend.webhooks.sample import send_test
from tests.domain.links.destinations.test_policy import LINK as A_LINK
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.polling import until, wait_for_async
from tests.webhooks.conftest import EndpointMaker, all_events, happen
from tests.webhooks.receiver import Receiver

REQUEST = WebhookRequest("e-0", b"{}", ("e-0",))


async def new_link(database: Database, organization: TestOrganization, path: str, *tag_ids: TagId) -> LinkId:
    """A link of the organization with these tags."""
    link_id = LinkId(str(uuid.uuid4()))
    link = replace(
        A_LINK, id=link_id, org_id=organization.id, domain=organization.domain, path=path, tag_ids=[*tag_ids]
    )
    await insert_links(database, [link])
    return link_id


async def test_chosen_links_and_tags(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """An endpoint gets events about the links that it names, and about those that have one of its tags now;
    of the types that it names. Its cursor moves past all else."""
    tag = await create_tag(database, organization.id, "Spring", None, utc_now())
    named, tagged, other = [
        await new_link(database, organization, path, *tags)
        for path, tags in (("a", ()), ("b", (tag.id,)), ("c", ()))
    ]
    chosen = await make_endpoint(link_ids=(named,), tag_ids=(tag.id,))
    await make_endpoint(url=hook.url("/leads"), types=(EventType.LEAD,))
    for link_id in (named, tagged, other):
        await happen(database, organization.id, 2, link_id)
    last = (await all_events(database, organization.id, 6))[-1]

    async def current_endpoint() -> Endpoint:
        return await get_endpoint(database, organization.id, chosen.id)

    await wait_for_async(
        current_endpoint, "a cursor at the end", lambda endpoint: endpoint.cursor >= last.cursor
    )
    # Tags count as they are when something is sent.
    change = {"$set": {"tag_ids": [tag.id]}}
    await database["links"].update_one({"_id": other}, change)
    await happen(database, organization.id, 1, other)
    await until(lambda: len(hook.event_ids) >= 5, "events of a link that got the tag")
    events = await all_events(database, organization.id, 7)
    assert hook.event_ids == [events[n].id for n in (0, 1, 2, 3, 6)]
    assert hook.ids_at("/leads") == []


def test_a_request_has_the_same_events_again() -> None:
    """A batch ends where events were sent before, however many have come since."""
    org_id = OrgId("o")
    events = [Event(f"e-{n}", EventType.CLICK, utc_now(), org_id, {}, Cursor(1, n + 1)) for n in range(10)]
    sizes = [
        [len(batch) for batch in batches(events, size, Cursor(1, sent))]
        for size, sent in ((4, 0), (4, 3), (4, 8), (1, 5), (100, 10), (100, 1))
    ]
    assert sizes == [[4, 4, 2], [3, 4, 3], [4, 4, 2], [1] * 10, [10], [1, 9]]
    assert [event for batch in batches(events, 3, Cursor(1, 5)) for event in batch] == events


async def test_a_private_address_behind_a_public_name(
    database: Database, make_endpoint: EndpointMaker, hook: Receiver
) -> None:
    """What a name leads to is checked when something is sent, each of its addresses; nothing gets there."""

    async def resolve(host: str, port: int) -> list[str]:
        return {"crm.example": ["93.184.215.14", "10.0.0.7"], "near.example": ["127.0.0.1"]}[host]

    strict = Receivers(allows_loopback=False, resolve=resolve)
    near = Receivers(allows_loopback=True, resolve=resolve)
    endpoint = await make_endpoint()
    for receivers, url, error in (
        (strict, "https://crm.example/", "The receiver is not in the public internet"),
        (near, "https://crm.example/", "The receiver is not in the public internet"),
        (strict, "https://near.example/", "The receiver is not in the public internet"),
        (strict, hook.url(), "Nothing was sent: url must be a public address, not one of this machine"),
        (near, "http://near.example/", "Nothing was sent: url must be an https URL"),
    ):
        made = await attempt(receivers, replace(endpoint, url=url), REQUEST, utc_now())
        assert made.failure
        assert (made.delivery.status, made.failure.error) == (None, error)
    assert hook.requests == []


async def test_no_more_is_read_than_a_bound(hook: Receiver) -> None:
    """Of an answer, whatever its length; its connection is not used again then, and otherwise it is."""
    receivers = Receivers(allows_loopback=True)
    hook.answer = lambda _: (200, {}, "x" * 5_000_000)
    answer = await receivers.post(hook.url(), {}, b"{}")
    assert len(answer.text) == MOST_BYTES
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(Unreadable, match="does not answer"):
            await receivers.post(f"http://127.0.0.1:{silent.getsockname()[1]}/", {}, b"{}")
    await receivers.close()


@pytest.mark.parametrize("batch_size", [1, 5])
async def test_a_test(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    batch_size: int,
) -> None:
    """Whoever asks for a test sees at once how the receiver answers; it comes as events do, and is signed."""
    receivers = Receivers(allows_loopback=True)
    endpoint = await make_endpoint(batch_size=batch_size, is_enabled=False)
    hook.answer = lambda _: (422, {}, "unknown type")
    made = await send_test(database, receivers, organization.id, endpoint.id, utc_now())
    assert (made.status, made.error) == (422, "The receiver answered with status 422: unknown type")
    body = hook.requests[0].verify(endpoint.secret)
    event = body["events"][0] if batch_size > 1 else body
    assert (event["type"], event["id"], event["org_id"]) == ("test", hook.requests[0].id, organization.id)
    assert await list_deliveries(database, organization.id, endpoint.id) == [made]
    endpoint = await get_endpoint(database, organization.id, endpoint.id)
    assert (endpoint.state, endpoint.failures) == (EndpointState.DISABLED, 0)
    await receivers.close()
