"""JSON Schemas of webhooks and their deliveries in answers."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import answer_object
from backend.domain.fields.rules import Schema
from backend.domain.webhooks.deliveries import MOST_IDS
from backend.domain.webhooks.endpoint import EndpointState
from backend.rest_api.routes.operation import reference

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_UUID: Schema = {"type": "string", "format": "uuid"}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in milliseconds."}
_INSTANT_OR_NULL: Schema = {"anyOf": [_INSTANT, {"type": "null"}]}

_WEBHOOK: dict[str, Schema] = {
    "id": _UUID,
    "url": _TEXT,
    "types": _TEXTS | {"description": "The types of events that it is sent; empty: all."},
    "link_ids": {"type": "array", "items": _UUID},
    "tags": _TEXTS | {"description": "Names; of a tag that was deleted, its id."},
    "form": _TEXT,
    "batch_size": _COUNT,
    "is_enabled": _FLAG,
    "state": _TEXT | {"description": f"{', '.join(EndpointState)}; there may be more."},
    "cursor": _TEXT | {"description": "Up to where the feed was delivered."},
    "cursor_at": _INSTANT,
    "failing_since": _INSTANT_OR_NULL,
    "next_try_at": _INSTANT_OR_NULL,
    "last_error": _TEXT_OR_NULL,
    "delivered": _COUNT,
    "repeats": _COUNT,
    "created_at": _INSTANT,
}
_DELIVERY: dict[str, Schema] = {
    "webhook_id": _TEXT | {"description": "What the header webhook-id says."},
    "at": _INSTANT,
    "events": _COUNT,
    "event_ids": _TEXTS | {"description": f"Those of the first {MOST_IDS} events."},
    "status": {"type": ["integer", "null"], "description": "What was answered; null where nothing was."},
    "milliseconds": _COUNT,
    "error": _TEXT_OR_NULL | {"description": "Why it is to be sent again; null where it arrived."},
    "attempt": _COUNT,
    "repeats": _COUNT,
    "is_test": _FLAG,
}
WEBHOOK_SCHEMAS: dict[str, Schema] = {
    "Webhook": answer_object(**_WEBHOOK),
    "WebhookWithSecret": {
        "type": "object",
        "required": [*_WEBHOOK, "secret"],
        "properties": _WEBHOOK | {"secret": _TEXT | {"description": "It is not shown again."}},
    },
    "WebhookList": {
        "type": "object",
        "required": ["webhooks"],
        "properties": {"webhooks": {"type": "array", "items": reference("Webhook")}},
    },
    "WebhookDelivery": answer_object(**_DELIVERY),
    "WebhookDeliveryList": {
        "type": "object",
        "required": ["deliveries"],
        "properties": {"deliveries": {"type": "array", "items": reference("WebhookDelivery")}},
    },
}
