"""/webhooks: the addresses that an organization's events are sent to (docs/webhooks.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from quart import Response

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Instant, Rule, Schema
from backend.domain.webhooks.endpoint import MOST_ENDPOINTS, Endpoint, EndpointUnknown, TooManyEndpoints
from backend.domain.webhooks.endpoint_fields import endpoint_rules
from backend.domain.webhooks.endpoint_json import delivery_json, endpoint_json
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.named_items import read_item
from backend.rest_api.routes.query_string import read_query
from backend.storage.driver.deadlines import deadline_paused
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.chosen_tags import tag_names, with_tag_ids
from backend.storage.webhooks.deliveries import list_deliveries
from backend.web.current import resources
from backend.webhooks.sample import send_test

REPLAY: dict[str, Rule[Any]] = {"from": Instant()}


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise ApiError for what the storage of endpoints raises."""
    try:
        yield
    except EndpointUnknown:
        raise ApiError(error_table.WEBHOOK_NOT_FOUND) from None
    except TooManyEndpoints:
        rule = f"would be one more than the {MOST_ENDPOINTS} that are possible"
        raise InvalidField("url", rule) from None


@rest.get("/webhooks")
async def get_webhooks() -> dict[str, Any]:
    """All endpoints, the oldest first."""
    read_query({})
    found = await endpoints.list_endpoints(resources().database, caller().org_id)
    names = await tag_names(resources().database, caller().org_id, found)
    return {"webhooks": [endpoint_json(each, names) for each in found]}


@rest.post("/webhooks")
async def post_webhook() -> tuple[dict[str, Any], int]:
    """Make an endpoint, and show its secret for once."""
    read_query({})
    given = await _read_fields(required=["url"])
    with _refusals():
        made = await endpoints.create_endpoint(
            resources().database, caller().org_id, given, resources().clock()
        )
    return await _shown(made, shows_secret=True), 201


@rest.get("/webhooks/<webhook_text>")
async def get_webhook(webhook_text: str) -> dict[str, Any]:
    """One endpoint."""
    read_query({})
    return await _shown(await _own(webhook_text))


@rest.patch("/webhooks/<webhook_text>")
async def patch_webhook(webhook_text: str) -> dict[str, Any]:
    """Change the fields in the body. What sleeps goes on sleeping."""
    read_query({})
    given = await _read_fields()
    with _refusals():
        return await _shown(
            await endpoints.change_endpoint(resources().database, caller().org_id, webhook_text, given)
        )


@rest.delete("/webhooks/<webhook_text>")
async def remove_webhook(webhook_text: str) -> Response:
    """Delete an endpoint; what waits for it is not sent."""
    read_query({})
    with _refusals():
        await endpoints.delete_endpoint(resources().database, caller().org_id, webhook_text)
    return Response(status=204)


@rest.post("/webhooks/<webhook_text>/test")
async def test_webhook(webhook_text: str) -> dict[str, Any]:
    """Send a test, and tell what was answered."""
    read_query({})
    database, now = resources().database, resources().clock()
    with _refusals(), deadline_paused():
        made = await send_test(database, resources().receivers, caller().org_id, webhook_text, now)
    return delivery_json(made)


@rest.post("/webhooks/<webhook_text>/go-on")
async def go_on_with_webhook(webhook_text: str) -> dict[str, Any]:
    """Wake an endpoint that sleeps, or try one that fails at once: it gets all that waited, in order."""
    read_query({})
    with _refusals():
        return await _shown(await endpoints.go_on(resources().database, caller().org_id, webhook_text))


@rest.post("/webhooks/<webhook_text>/replay")
async def replay_webhook(webhook_text: str) -> dict[str, Any]:
    """Send again what was stored since a moment."""
    read_query({})
    since: datetime = (await read_item(REPLAY, required=["from"]))["from"]
    if since > resources().clock():
        raise InvalidField("from", "must not lie in the future")
    with _refusals():
        return await _shown(
            await endpoints.replay(resources().database, caller().org_id, webhook_text, since)
        )


@rest.post("/webhooks/<webhook_text>/rotate-secret")
async def rotate_webhook_secret(webhook_text: str) -> dict[str, Any]:
    """Make a new secret, and show it for once; the one before goes on to sign for a day."""
    read_query({})
    database, now = resources().database, resources().clock()
    with _refusals():
        changed = await endpoints.rotate_secret(database, caller().org_id, webhook_text, now)
    return await _shown(changed, shows_secret=True)


@rest.get("/webhooks/<webhook_text>/deliveries")
async def get_webhook_deliveries(webhook_text: str) -> dict[str, Any]:
    """The last attempts to send something, the newest first."""
    read_query({})
    endpoint = await _own(webhook_text)
    found = await list_deliveries(resources().database, caller().org_id, endpoint.id)
    return {"deliveries": [delivery_json(each) for each in found]}


def body_schema() -> Schema:
    """The schema of a body that makes or changes an endpoint, wherever the service is."""
    rules = endpoint_rules(allows_loopback=True)
    properties = {name: rule.schema() for name, rule in rules.items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


async def _read_fields(required: list[str] | None = None) -> dict[str, Any]:
    rules = endpoint_rules(allows_loopback=resources().settings.allows_loopback_receivers)
    given = await read_item(rules, required=required or ())
    return await with_tag_ids(resources().database, caller().org_id, given)


async def _own(webhook_text: str) -> Endpoint:
    with _refusals():
        return await endpoints.get_endpoint(resources().database, caller().org_id, webhook_text)


async def _shown(endpoint: Endpoint, *, shows_secret: bool = False) -> dict[str, Any]:
    names = await tag_names(resources().database, caller().org_id, [endpoint])
    return endpoint_json(endpoint, names, shows_secret=shows_secret)
