"""POST /analytics and POST /install-analytics (contract, "Click analytics", "Install analytics")."""

from __future__ import annotations

from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.reference import (
    REFERENCE,
    LinkReference,
    find_referenced_link,
    parse_reference,
)
from backend.rest_api.links.representations import click_counts_json, install_counts_json
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.apps.install_counts import count_install_window
from backend.web.current import resources

_ERRORS = (error_table.LINK_DETAILS_EMPTY, error_table.LINK_DETAILS_UNKNOWN)


@Operation(
    method="POST",
    path="/analytics",
    summary="Count a link's clicks",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=REFERENCE,
    answer="ClickAnalytics",
    errors=_ERRORS,
    is_to_the_letter=True,
)
async def click_analytics() -> dict[str, int]:
    """How often a link was clicked: in total and in the last 30 and 7 days."""
    reference = parse_reference(await read_json_object())
    question = ClickWindow(await _link_id(reference), resources().clock())
    counts = await resources().analytics.ask(caller().org_id, question)
    return click_counts_json(counts)


@Operation(
    method="POST",
    path="/install-analytics",
    summary="Count the installs that a link led to",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=REFERENCE,
    answer="InstallAnalytics",
    errors=(*_ERRORS, error_table.SUBSCRIPTION_NEEDED),
    is_to_the_letter=True,
)
async def install_analytics() -> dict[str, int]:
    """How many installs a link led to: in total and in the last 30 and 7 days.

    Refused if the organization has no paid subscription.
    """
    reference = parse_reference(await read_json_object())
    if not await has_subscription():
        raise ApiError(error_table.SUBSCRIPTION_NEEDED)
    counts = await count_install_window(resources().database, await _link_id(reference), resources().clock())
    return install_counts_json(counts)


async def has_subscription() -> bool:
    """Whether the caller's organization has paid for install analytics."""
    organization = await get_organization(resources().database, caller().org_id)
    return organization.has_subscription(resources().clock())


async def _link_id(reference: LinkReference) -> LinkId:
    link = await find_referenced_link(reference)
    if link is None:
        raise ApiError(error_table.LINK_DETAILS_UNKNOWN)
    return link.id
