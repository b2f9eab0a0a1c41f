"""/webhooks: the addresses that an organization's events are sent to (docs/webhooks.md)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Instant, Uuid
from backend.domain.webhooks.endpoint import Endpoint
from backend.domain.webhooks.endpoint_fields import endpoint_rules
from backend.domain.webhooks.endpoint_json import (
    WebhookDeliveryJson,
    WebhookJson,
    delivery_json,
    endpoint_json,
)
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.chosen_tags import tag_names, with_tag_ids
from backend.storage.webhooks.deliveries import list_deliveries
from backend.web.current import resources
from backend.webhooks.sample import send_test

_PATH = "/webhooks"
_ONE = f"{_PATH}/<webhook_text>"
_ID = PathParameter(
    "webhookId", Uuid().schema(), "The webhook's id.", errors=(error_table.WEBHOOK_NOT_FOUND,)
)


class _WebhookFields(BodyFields):
    """The fields of a webhook. The document shows them as they are where receivers may be on this machine."""

    async def read(self) -> dict[str, Any]:
        """The fields, with the ids of tags in place of their names. Raises MissingField and InvalidField."""
        rules = endpoint_rules(allows_loopback=resources().settings.allows_loopback_receivers)
        fields = await BodyFields(rules, self.required).read()
        return await with_tag_ids(resources().database, caller().org_id, fields)


_CHANGES = _WebhookFields(endpoint_rules(allows_loopback=True))
_NEW = replace(_CHANGES, required=("url",))


@Operation(
    method="GET",
    path=_PATH,
    summary="List the webhooks",
    needs=(Permission.SETTINGS_READ,),
    answer="WebhookList",
)
async def get_webhooks() -> dict[str, Any]:
    """All webhooks, the oldest first."""
    webhooks = await endpoints.list_endpoints(resources().database, caller().org_id)
    names = await tag_names(resources().database, caller().org_id, webhooks)
    return {"webhooks": [endpoint_json(webhook, names) for webhook in webhooks]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Make a webhook, and see its secret for once",
    needs=(Permission.SETTINGS_WRITE, Permission.FEED_READ),
    body=_NEW,
    status=201,
    answer="WebhookWithSecret",
)
async def post_webhook(fields: dict[str, Any]) -> tuple[WebhookJson, int]:
    """Make a webhook. Only this answer, and that of a new secret, show the secret."""
    webhook = await endpoints.create_endpoint(
        resources().database, caller().org_id, fields, resources().clock(), caller().permissions
    )
    return await _webhook_json(webhook, shows_secret=True), 201


@Operation(
    method="GET",
    path=_ONE,
    summary="Get a webhook",
    needs=(Permission.SETTINGS_READ,),
    path_parameter=_ID,
    answer="Webhook",
)
async def get_webhook(webhook_text: str) -> WebhookJson:
    """One webhook."""
    return await _webhook_json(await _own_webhook(webhook_text))


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a webhook",
    needs=(Permission.SETTINGS_WRITE, Permission.FEED_READ),
    path_parameter=_ID,
    body=_CHANGES,
    answer="Webhook",
)
async def patch_webhook(webhook_text: str, fields: dict[str, Any]) -> WebhookJson:
    """Change the fields in the body. A webhook that sleeps goes on sleeping."""
    return await _webhook_json(
        await endpoints.change_endpoint(
            resources().database, caller().org_id, webhook_text, fields, caller().permissions
        )
    )


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete a webhook",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_webhook(webhook_text: str) -> None:
    """Delete a webhook. Events that wait for it are not sent."""
    await endpoints.delete_endpoint(resources().database, caller().org_id, webhook_text)


@Operation(
    method="POST",
    path=f"{_ONE}/test",
    summary="Send a test, and see what was answered",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=_ID,
    answer="WebhookDelivery",
)
async def test_webhook(webhook_text: str) -> WebhookDeliveryJson:
    """Send a test event, and show what the receiver answered."""
    database, now = resources().database, resources().clock()
    delivery = await send_test(database, resources().receivers, caller().org_id, webhook_text, now)
    return delivery_json(delivery)


@Operation(
    method="POST",
    path=f"{_ONE}/go-on",
    summary="Wake a webhook: it gets all that waited",
    needs=(Permission.SETTINGS_WRITE,),
    path_parameter=_ID,
    answer="Webhook",
)
async def go_on_with_webhook(webhook_text: str) -> WebhookJson:
    """Wake a webhook that sleeps, or try one that fails at once. It gets all events that waited, in order."""
    return await _webhook_json(await endpoints.go_on(resources().database, caller().org_id, webhook_text))


@Operation(
    method="POST",
    path=f"{_ONE}/replay",
    summary="Send again what was stored since a moment",
    needs=(Permission.SETTINGS_WRITE, Permission.FEED_READ),
    path_parameter=_ID,
    body=BodyFields({"from": Instant()}, required=("from",)),
    answer="Webhook",
)
async def replay_webhook(webhook_text: str, fields: dict[str, Any]) -> WebhookJson:
    """Send again the events that were stored since a moment."""
    since: datetime = fields["from"]
    if since > resources().clock():
        raise InvalidField("from", "must not lie in the future")
    return await _webhook_json(
        await endpoints.replay(resources().database, caller().org_id, webhook_text, since)
    )


@Operation(
    method="POST",
    path=f"{_ONE}/rotate-secret",
    summary="Make a new secret, and see it for once",
    needs=(Permission.SETTINGS_WRITE, Permission.FEED_READ),
    path_parameter=_ID,
    answer="WebhookWithSecret",
)
async def rotate_webhook_secret(webhook_text: str) -> WebhookJson:
    """Make a new secret, and show it this once. The secret before it goes on to sign for a day."""
    database, now = resources().database, resources().clock()
    changed = await endpoints.rotate_secret(database, caller().org_id, webhook_text, now)
    return await _webhook_json(changed, shows_secret=True)


@Operation(
    method="GET",
    path=f"{_ONE}/deliveries",
    summary="List the last deliveries",
    needs=(Permission.SETTINGS_READ,),
    path_parameter=_ID,
    answer="WebhookDeliveryList",
)
async def get_webhook_deliveries(webhook_text: str) -> dict[str, Any]:
    """The last deliveries, the newest first, with those that failed."""
    endpoint = await _own_webhook(webhook_text)
    deliveries = await list_deliveries(resources().database, caller().org_id, endpoint.id)
    return {"deliveries": [delivery_json(delivery) for delivery in deliveries]}


async def _own_webhook(webhook_text: str) -> Endpoint:
    return await endpoints.get_endpoint(resources().database, caller().org_id, webhook_text)


async def _webhook_json(endpoint: Endpoint, *, shows_secret: bool = False) -> WebhookJson:
    names = await tag_names(resources().database, caller().org_id, [endpoint])
    return endpoint_json(endpoint, names, shows_secret=shows_secret)
