"""/subscription: whether the organization has a paid subscription, and until when."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.storage.accounts.organizations import get_organization
from backend.web.current import resources


@dashboard.get("/subscription")
@needs(Permission.SETTINGS_READ)
async def subscription() -> Response:
    """The state of the subscription. Only the operator can change it, on the command line."""
    organization = await get_organization(resources().database, org_id())
    is_active = organization.has_subscription(resources().clock())
    return await page(
        "accounts/subscription.html", until=organization.subscription_until, is_active=is_active
    )
