"""Sends a test event on demand, to see if the receiver answers and accepts the signature."""

from __future__ import annotations

import uuid
from datetime import datetime

from backend.domain.ids import OrgId
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.requests import test_request_of
from backend.storage.driver.deadlines import deadline_paused
from backend.storage.driver.mongo import Database
from backend.storage.webhooks.deliveries import note_deliveries
from backend.storage.webhooks.endpoints import get_endpoint
from backend.web_client.receivers import Receivers
from backend.webhooks.attempt import attempt


async def send_test(
    database: Database, receivers: Receivers, org_id: OrgId, given_id: str, now: datetime
) -> Delivery:
    """Send a test to the organization's endpoint, whatever its state, and return the delivery.

    It takes at most 15 seconds, which the deadline of a request leaves out. It is stored among the endpoint's
    deliveries, and changes nothing else. Raises ItemUnknown.
    """
    endpoint = await get_endpoint(database, org_id, given_id)
    request = test_request_of(endpoint, f"test-{uuid.uuid4().hex}", now)
    with deadline_paused():
        result = await attempt(receivers, endpoint, request, now, is_test=True)
    await note_deliveries(database, org_id, endpoint.id, [result.delivery], now)
    return result.delivery
