"""Operations on webhooks, as data."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.rest_api.routes.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation
from backend.rest_api.webhooks import webhooks

_PATH = "/webhooks"
_ONE = f"{_PATH}/{{webhookId}}"
_ID: Schema = {
    "name": "webhookId",
    "in": "path",
    "required": True,
    "description": "The webhook's id.",
    "schema": {"type": "string", "format": "uuid"},
}
_ERRORS = (error_table.QUERY_INVALID, *KEY_ERRORS, *EVERYWHERE)
_BODY = webhooks.body_schema()
_REPLAY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from"],
    "properties": {name: rule.schema() for name, rule in webhooks.REPLAY.items()},
}


def _of_one(  # noqa: PLR0917 - an operation's own order
    endpoint: str,
    method: str,
    path: str,
    summary: str,
    answer: str | None,
    errors: tuple[ErrorRow, ...] = (),
    body: Schema | None = None,
) -> Operation:
    """An operation on one webhook."""
    return Operation(
        endpoint,
        method,
        _ONE + path,
        summary,
        200 if answer else 204,
        answer,
        (error_table.WEBHOOK_NOT_FOUND, *errors, *_ERRORS),
        body=body,
        parameters=(_ID,),
    )


OPERATIONS = (
    Operation("get_webhooks", "get", _PATH, "List the webhooks", 200, "WebhookList", _ERRORS),
    Operation(
        "post_webhook",
        "post",
        _PATH,
        "Make a webhook, and see its secret for once",
        201,
        "WebhookWithSecret",
        (error_table.FIELD_MISSING, *BODY_ERRORS, *_ERRORS),
        body=_BODY | {"required": ["url"]},
    ),
    _of_one("get_webhook", "get", "", "Get a webhook", "Webhook"),
    _of_one("patch_webhook", "patch", "", "Change a webhook", "Webhook", BODY_ERRORS, _BODY),
    _of_one("remove_webhook", "delete", "", "Delete a webhook", None),
    _of_one("test_webhook", "post", "/test", "Send a test, and see what was answered", "WebhookDelivery"),
    _of_one(
        "go_on_with_webhook",
        "post",
        "/go-on",
        "Wake a webhook: it gets all that waited",
        "Webhook",
    ),
    _of_one(
        "replay_webhook",
        "post",
        "/replay",
        "Send again what was stored since a moment",
        "Webhook",
        (error_table.FIELD_MISSING, *BODY_ERRORS),
        _REPLAY,
    ),
    _of_one(
        "rotate_webhook_secret",
        "post",
        "/rotate-secret",
        "Make a new secret, and see it for once",
        "WebhookWithSecret",
    ),
    _of_one(
        "get_webhook_deliveries", "get", "/deliveries", "List the last deliveries", "WebhookDeliveryList"
    ),
)
