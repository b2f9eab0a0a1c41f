"""/webhooks: the organization's webhooks, and forms to add and change one."""

from __future__ import annotations

from typing import Any

from quart import Response

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.webhooks.shown import shown_webhooks
from backend.dashboard.webhooks.webhook import webhook_page
from backend.dashboard.webhooks.webhook_form import (
    Problems,
    add_problems,
    fields_of,
    form_page,
    new_fields,
    read_fields,
    sent_fields,
)
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import EndpointId
from backend.storage.webhooks.endpoints import change_endpoint, create_endpoint, get_endpoint, list_endpoints
from backend.web.current import resources


@dashboard.get("/webhooks")
@needs(Permission.SETTINGS_READ)
async def webhooks() -> Response:
    """All webhooks, each with its state and the time up to which it has its events."""
    return await page("webhooks/webhooks.html", later=_rows, zone=zone_of_browser())


async def _rows() -> dict[str, Any]:
    return {"rows": await shown_webhooks(await list_endpoints(resources().database, org_id()))}


@dashboard.get("/webhooks/new")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
async def webhooks_new() -> Response:
    """The form for a new one."""
    return await form_page(new_fields(), {})


@dashboard.post("/webhooks")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
async def webhooks_add() -> Response:
    """Make a webhook, and show its secret for once."""
    fields, problems = sent_fields(), Problems()
    endpoint_fields = await read_fields(fields, problems)
    if problems:
        return await form_page(fields, problems)
    try:
        made = await create_endpoint(
            resources().database, org_id(), endpoint_fields, resources().clock(), permissions()
        )
    except InvalidField as error:  # a link or a tag was deleted a moment ago
        add_problems([error], problems)
    return await form_page(fields, problems) if problems else await webhook_page(made, secret=made.secret)


@dashboard.get("/webhooks/<webhook_id>/change")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
async def webhooks_edit(webhook_id: EndpointId) -> Response:
    """The form with the webhook's fields."""
    endpoint = await get_endpoint(resources().database, org_id(), webhook_id)
    (shown,) = await shown_webhooks([endpoint])
    return await form_page(await fields_of(endpoint), {}, shown)


@dashboard.post("/webhooks/<webhook_id>/change")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
async def webhooks_change(webhook_id: EndpointId) -> Response:
    """Change the webhook."""
    endpoint = await get_endpoint(resources().database, org_id(), webhook_id)
    fields, problems = sent_fields(), Problems()
    changes = await read_fields(fields, problems)
    if changes.get("url") == endpoint.url:
        del changes["url"]  # storing the same address would make a failing webhook be tried at once
    if not problems:
        try:
            await change_endpoint(resources().database, org_id(), webhook_id, changes, permissions())
            return redirect_with_notice("webhooks_one", "webhook-changed", webhook_id=webhook_id)
        except InvalidField as error:
            add_problems([error], problems)
    (shown,) = await shown_webhooks([endpoint])
    return await form_page(fields, problems, shown)
