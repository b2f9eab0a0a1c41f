"""Endpoints and deliveries as answers show them (the extensions' "Feed and webhooks")."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from backend.domain.fields.json_times import exact_time_json
from backend.domain.ids import TagId
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import Endpoint


def endpoint_json(
    endpoint: Endpoint, tags: Mapping[TagId, str], *, shows_secret: bool = False
) -> dict[str, Any]:
    """The endpoint; its secret only where it was just made.

    `tags` are the names of tags. One that has none was deleted: its id stays, so that who chose it does not
    seem to have chosen everything.
    """
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "types": [event_type.value for event_type in endpoint.types],
        "link_ids": list(endpoint.link_ids),
        "tags": [tags.get(tag_id, tag_id) for tag_id in endpoint.tag_ids],
        "form": endpoint.form.value,
        "batch_size": endpoint.batch_size,
        "is_enabled": endpoint.is_enabled,
        "state": endpoint.state.value,
        **({"secret": endpoint.secret} if shows_secret else {}),
        "cursor": str(endpoint.cursor),
        "cursor_at": _time(endpoint.cursor_at),
        "failing_since": _time(endpoint.failing_since),
        "next_try_at": _time(endpoint.next_try_at),
        "last_error": endpoint.last_error,
        "delivered": endpoint.delivered,
        "repeats": endpoint.repeats,
        "created_at": _time(endpoint.created_at),
    }


def delivery_json(delivery: Delivery) -> dict[str, Any]:
    """The attempt."""
    return {
        "webhook_id": delivery.webhook_id,
        "at": _time(delivery.at),
        "events": delivery.events,
        "event_ids": list(delivery.event_ids),
        "status": delivery.status,
        "milliseconds": delivery.milliseconds,
        "error": delivery.error,
        "attempt": delivery.attempt,
        "repeats": delivery.repeats,
        "is_test": delivery.is_test,
    }


def _time(moment: datetime | None) -> str | None:
    return exact_time_json(moment) if moment else None
