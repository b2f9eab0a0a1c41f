"""/webhooks/ID: the state of a webhook, its last deliveries, and actions such as a test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quart import Response

from backend.dashboard.analytics.time_zone import zone_of_browser, zone_of_form
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.failing import failing_of
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.webhooks.shown import shown_delivery, shown_webhooks
from backend.domain.accounts.permissions import Permission
from backend.domain.ids import EndpointId
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import Endpoint, Form
from backend.storage.processes.work import Work
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.deliveries import MOST_KEPT, list_deliveries
from backend.web.current import resources
from backend.webhooks.sample import send_test

_TIME_FORMAT = "%Y-%m-%dT%H:%M"
_REPLAY_DEFAULT = timedelta(days=1)


@dashboard.get("/webhooks/<webhook_id>")
@needs(Permission.SETTINGS_READ)
async def webhooks_one(webhook_id: EndpointId) -> Response:
    """The webhook's page."""
    return await webhook_page(await endpoints.get_endpoint(resources().database, org_id(), webhook_id))


@dashboard.post("/webhooks/<webhook_id>/test")
@needs(Permission.SETTINGS_WRITE)
async def webhooks_test(webhook_id: EndpointId) -> Response:
    """Send a test, and show what was answered."""
    endpoint = await endpoints.get_endpoint(resources().database, org_id(), webhook_id)
    tested = await send_test(
        resources().database, resources().receivers, org_id(), webhook_id, resources().clock()
    )
    return await webhook_page(endpoint, tested=tested)


@dashboard.post("/webhooks/<webhook_id>/status")
@needs(Permission.SETTINGS_WRITE)
async def webhooks_status(webhook_id: EndpointId) -> Response:
    """Pause the webhook, or resume it."""
    is_enabled = field("is_enabled") == "true"
    change = {"is_enabled": is_enabled}
    await endpoints.change_endpoint(resources().database, org_id(), webhook_id, change)
    notice = "webhook-resumed" if is_enabled else "webhook-paused"
    return redirect_with_notice("webhooks_one", notice, webhook_id=webhook_id)


@dashboard.post("/webhooks/<webhook_id>/go-on")
@needs(Permission.SETTINGS_WRITE)
async def webhooks_go_on(webhook_id: EndpointId) -> Response:
    """Wake the webhook: it is sent all events that waited."""
    await endpoints.go_on(resources().database, org_id(), webhook_id)
    return redirect_with_notice("webhooks_one", "webhook-goes-on", webhook_id=webhook_id)


@dashboard.post("/webhooks/<webhook_id>/replay")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
@once
async def webhooks_replay(webhook_id: EndpointId) -> Response:
    """Send again what was stored since a moment."""
    endpoint = await endpoints.get_endpoint(resources().database, org_id(), webhook_id)
    try:
        since = datetime.fromisoformat(field("from")).replace(tzinfo=zone_of_form("zone")).astimezone(UTC)
        problem = "must not lie in the future" if since > resources().clock() else ""
    except (ValueError, OverflowError):
        problem = "must be a date and a time"
    if problem:
        return await webhook_page(endpoint, replay_from=field("from"), problem=problem)
    await endpoints.replay(resources().database, org_id(), webhook_id, since)
    return redirect_with_notice("webhooks_one", "webhook-replays", webhook_id=webhook_id)


@dashboard.post("/webhooks/<webhook_id>/rotate-secret")
@needs(Permission.SETTINGS_WRITE, Permission.FEED_READ)
@once
async def webhooks_rotate(webhook_id: EndpointId) -> Response:
    """Make a new secret, and show it for once."""
    database, now = resources().database, resources().clock()
    changed = await endpoints.rotate_secret(database, org_id(), webhook_id, now)
    return await webhook_page(changed, secret=changed.secret)


@dashboard.post("/webhooks/<webhook_id>/delete")
@needs(Permission.SETTINGS_WRITE)
async def webhooks_delete(webhook_id: EndpointId) -> Response:
    """Delete the webhook."""
    await endpoints.delete_endpoint(resources().database, org_id(), webhook_id)
    return redirect_with_notice("webhooks", "webhook-deleted")


async def webhook_page(
    endpoint: Endpoint,
    *,
    secret: str = "",
    tested: Delivery | None = None,
    replay_from: str = "",
    problem: str = "",
) -> Response:
    """The webhook's page, with a new secret, or with the answer to a test."""
    (shown,) = await shown_webhooks([endpoint])
    zone = zone_of_browser()
    deliveries = await list_deliveries(resources().database, org_id(), endpoint.id)
    return await page(
        "webhooks/webhook.html",
        422 if problem else 200,
        shown=shown,
        failing=await failing_of(Work.WEBHOOKS),
        own_asleep=endpoint.id,
        is_for_program=endpoint.form is Form.JSON,
        secret=secret,
        is_first_secret=not endpoint.old_secrets,
        tested=shown_delivery(tested) if tested else None,
        deliveries=[shown_delivery(delivery) for delivery in deliveries],
        most_deliveries=MOST_KEPT,
        zone=zone,
        replay_from=replay_from
        or (resources().clock() - _REPLAY_DEFAULT).astimezone(zone).strftime(_TIME_FORMAT),
        problems={"from": problem} if problem else {},
    )
