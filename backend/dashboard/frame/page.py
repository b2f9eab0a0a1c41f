"""Renders pages: a template, and what every page shows around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from quart import Response, request

from backend.dashboard.frame.assets import asset_address
from backend.dashboard.frame.blueprint import is_signed_in, may_open, org_id, user
from backend.dashboard.frame.form import FORM_TOKEN
from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.navigation import groups_of, is_current, is_open
from backend.dashboard.frame.notices import notice
from backend.dashboard.frame.once import ONCE, new_number
from backend.dashboard.frame.saw import SAW, saw
from backend.dashboard.frame.session_cookie import cookie_token
from backend.dashboard.frame.streamed_page import CONTENT_SECONDS, READING_SECONDS, stream_page
from backend.domain.accounts.organizations import Organization
from backend.domain.accounts.sessions import form_token
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.webhooks.endpoint import Endpoint, EndpointState
from backend.storage.accounts.announced_deletions import find_announced
from backend.storage.accounts.organizations import find_organizations
from backend.storage.webhooks.endpoints import list_endpoints
from backend.web.current import resources
from backend.web.templates import render

# Reads the values that only the block `content` of a template needs.
Later = Callable[[], Awaitable[Mapping[str, Any]]]


async def page(template: str, status: int = 200, *, later: Later | None = None, **values: Any) -> Response:
    """A page for signed-in users: the template with these values, inside the dashboard's navigation.

    With `later`, browsers get everything before the block `content` at once, and that block when `later` has
    returned its values. If `later` fails, an explanation stands in its place: the status has been sent.
    """
    organizations = await _organizations()
    shared = {
        "notice": notice(request.args.get("notice", "")),
        "user": user(),
        "organizations": organizations,
        "organization": next(organization for organization in organizations if organization.id == org_id()),
        "navigation": groups_of(may_open),
        "asleep": await _asleep(),
        "announced_deletion": await find_announced(resources().database, org_id()),
        "is_current": lambda item: is_current(item, request.endpoint or ""),
        "is_open": lambda group: is_open(group, request.endpoint or ""),
    }
    if later is None:
        return await plain_page(template, status, **(shared | values))
    body = await stream_page(f"dashboard/{template}", _common() | shared | values, later)
    response = Response(body, status, mimetype="text/html")
    # Quart's own time limit would cut the page off without an explanation.
    response.timeout = CONTENT_SECONDS + READING_SECONDS
    return response


async def plain_page(template: str, status: int = 200, **values: Any) -> Response:
    """A page that needs no sign-in and no database."""
    html = await render(f"dashboard/{template}", **(_common() | values))
    return Response(html, status, mimetype="text/html")


def _common() -> dict[str, Any]:
    """The values that every template gets."""
    return {
        "asset": asset_address,
        "labels": LABELS,
        "default_credit": CreditRules().in_words,
        "form_token_name": FORM_TOKEN,
        "form_token": form_token(cookie_token(), org_id() if is_signed_in() else ""),
        "form_once_name": ONCE,
        "form_once": new_number() if is_signed_in() else "",  # one makes nothing without signing in
        "form_saw_name": SAW,
        "form_saw": saw(),
    }


async def _asleep() -> list[Endpoint]:
    """The organization's sleeping webhooks. Every page shows them until somebody wakes them."""
    endpoints = await list_endpoints(resources().database, org_id())
    return [endpoint for endpoint in endpoints if endpoint.state is EndpointState.SLEEPING]


async def _organizations() -> list[Organization]:
    """The user's organizations in alphabetical order."""
    return await find_organizations(resources().database, user().org_ids)
