"""Events arrive: signed, in order, each once where nothing fails."""

from __future__ import annotations

import json

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from backend.domain.feed.event_json import event_json
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import EndpointState
from backend.storage.driver.mongo import Database
from backend.storage.webhooks.deliveries import list_deliveries
from backend.storage.webhooks.endpoints import get_endpoint, rotate_secret
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async
from tests.webhooks.conftest import EndpointMaker, all_events, happen
from tests.webhooks.receiver import Receiver


async def test_events_arrive(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """What happens after an endpoint was made arrives in order, each event once and as the feed gives it,
    signed so that the verifier of others takes it; and what came is noted."""
    await happen(database, organization.id, 2)
    before = await all_events(database, organization.id, 2)
    endpoint = await make_endpoint()
    await happen(database, organization.id, 20)
    await happen(database, organization.id, 15)
    events = (await all_events(database, organization.id, 37))[2:]
    await until(lambda: len(hook.event_ids) >= 35, "events at the receiver")
    assert hook.event_ids == [event.id for event in events]
    assert before[0].id not in hook.event_ids
    assert [request.verify(endpoint.secret) for request in hook.requests] == [
        event_json(event) for event in events
    ]
    assert [request.id for request in hook.requests] == hook.event_ids
    assert list(hook.requests[0].json) == ["id", "type", "at", "org_id", "data"]
    assert hook.requests[0].body == json.dumps(event_json(events[0]), separators=(",", ":")).encode()

    async def noted() -> list[Delivery]:
        return await list_deliveries(database, organization.id, endpoint.id)

    made = await wait_for_async(noted, "deliveries", lambda made: len(made) == 35)
    assert [delivery.event_ids for delivery in made] == [(event.id,) for event in events[::-1]]
    assert {(delivery.status, delivery.error, delivery.attempt, delivery.repeats) for delivery in made} == {
        (204, None, 1, 0)
    }
    endpoint = await get_endpoint(database, organization.id, endpoint.id)
    assert (endpoint.state, endpoint.delivered, endpoint.repeats) == (EndpointState.ACTIVE, 35, 0)
    assert endpoint.cursor >= events[-1].cursor
    assert endpoint.cursor_at == max(event.at for event in events)


async def test_batches(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """Requests with at most so many events; each is called by an id of its own."""
    await make_endpoint(batch_size=8)
    await happen(database, organization.id, 20)
    await until(lambda: len(hook.event_ids) >= 20, "events at the receiver")
    assert [len(request.event_ids) for request in hook.requests] == [8, 8, 4]
    assert hook.event_ids == [event.id for event in await all_events(database, organization.id, 20)]
    assert len({request.id for request in hook.requests}) == 3


async def test_a_new_secret(
    database: Database, organization: TestOrganization, hook: Receiver, make_endpoint: EndpointMaker
) -> None:
    """Both the new secret and the one before verify what is sent; another one does not."""
    first = await make_endpoint()
    second = await rotate_secret(database, organization.id, first.id, utc_now())
    other = await make_endpoint(url=hook.url("/other"))
    await happen(database, organization.id, 1)
    await until(lambda: hook.event_ids, "an event at the receiver")
    request = next(request for request in hook.requests if request.path == "/hook")
    request.verify(first.secret)
    request.verify(second.secret)
    with pytest.raises(WebhookVerificationError):
        request.verify(other.secret)
