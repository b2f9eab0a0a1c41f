"""Deletes the rows of a person who was erased, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

from backend.domain.ids import OrgId

# The rows that name the person, and the refunds of their sales, which name nobody.
_OWN_ROWS = """
WITH gone AS (
    DELETE FROM waylink_events
    WHERE org_id = %(org_id)s AND (
        customer_id = ANY(%(customers)s)
        OR device_id = ANY(%(devices)s)
        OR install_id = ANY(%(installs)s)
        OR email_sha256 = ANY(%(emails_sha256)s)
        OR (type = 'identify' AND data -> 'emails_sha256' ?| %(emails_sha256)s)
    )
    RETURNING type, data ->> 'id' AS record_id
)
DELETE FROM waylink_events
WHERE org_id = %(org_id)s AND type = 'refund'
    AND data ->> 'conversion_id' IN (SELECT record_id FROM gone WHERE type = 'conversion')
"""
# The rows of a shared device in a period, without those that name a customer.
_SHARED_ROWS = """
WITH gone AS (
    DELETE FROM waylink_events
    WHERE org_id = %(org_id)s AND device_id = %(device_id)s AND customer_id IS NULL
        AND (%(from)s::timestamptz IS NULL OR at >= %(from)s)
        AND (%(to)s::timestamptz IS NULL OR at < %(to)s)
    RETURNING type, data ->> 'id' AS record_id
)
DELETE FROM waylink_events
WHERE org_id = %(org_id)s AND type = 'refund'
    AND data ->> 'conversion_id' IN (SELECT record_id FROM gone WHERE type = 'conversion')
"""


async def erase(
    connection: psycopg.AsyncConnection[tuple[Any, ...]], org_id: OrgId, erased: Mapping[str, Any]
) -> None:
    """Delete the rows of the person whom the data of an `erased` event names, in the open transaction."""
    lists = ("customers", "devices", "installs", "emails_sha256")
    person = {name: list(erased.get(name) or ()) for name in lists}
    await connection.execute(_OWN_ROWS, {"org_id": org_id, **person})
    for shared in erased.get("shared_devices") or ():
        for time in shared["times"]:
            device_period = {"org_id": org_id, "device_id": shared["device_id"], **time}
            await connection.execute(_SHARED_ROWS, device_period)
