"""MongoDB was put back from a backup: endpoints get what comes, whatever place their cursors were at."""

from __future__ import annotations

import pytest

from backend.doctor.feed import examine_feed
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.outbox.marks import end_of_feed
from backend.storage.webhooks.endpoints import change_endpoint, get_endpoint
from tests.facts.organizations import TestOrganization
from tests.facts.put_back import back_up, put_back
from tests.polling import until, wait_for_async
from tests.webhooks.conftest import EndpointMaker, all_events, happen
from tests.webhooks.receiver import Receiver


@pytest.mark.parametrize(("came_since", "is_running"), [(1, True), (3, True), (5, True), (3, False)])
async def test_no_event_is_left_out(
    database: Database,
    organization: TestOrganization,
    hook: Receiver,
    make_endpoint: EndpointMaker,
    came_since: int,
    is_running: bool,
) -> None:
    """Fewer, as many or more entries come than were lost: all of them arrive, in order, and then it goes on.

    The sender runs while the feed is put back, or the endpoint is disabled meanwhile.
    """
    endpoint = await make_endpoint()
    await happen(database, organization.id, 2)
    await all_events(database, organization.id, 2)
    backup = await back_up(database, organization.id)
    for number in range(3):
        await happen(database, organization.id, 2)
        await all_events(database, organization.id, 4 + 2 * number)
    await until(lambda: len(hook.event_ids) >= 8, "events at the receiver")
    if not is_running:
        await change_endpoint(database, organization.id, endpoint.id, {"is_enabled": False})
    await put_back(database, organization.id, backup)
    for _ in range(came_since):
        await happen(database, organization.id, 1)
    if not is_running:
        await change_endpoint(database, organization.id, endpoint.id, {"is_enabled": True})
    new = [event.id for event in await all_events(database, organization.id, 2 + came_since)][2:]
    await until(lambda: set(new) <= set(hook.event_ids), "new events at the receiver")
    assert [event_id for event_id in hook.event_ids if event_id in new] == new
    end = await end_of_feed(database, organization.id)
    moved = await wait_for_async(
        lambda: get_endpoint(database, organization.id, endpoint.id),
        "the stored cursor",
        lambda stored: stored.cursor == end,
    )
    assert moved.failing_since is None
    findings = [
        finding async for finding in examine_feed(database, await get_organization(database, moved.org_id))
    ]
    assert [finding.subject for finding in findings] == [f"Acme: webhook {endpoint.url}"]
