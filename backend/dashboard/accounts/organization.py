"""/settings/…: what owners decide of their organization: its name, how long data is kept, who may enter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from quart import Response

from backend.dashboard.accounts.settings import settings_page, stored_of
from backend.dashboard.frame.blueprint import came_by_provider, dashboard, needs, org_id, user
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.saw import of_stored
from backend.domain.accounts.organizations import (
    FEWEST_AUDIT_DAYS,
    FEWEST_CLICK_DAYS,
    MOST_DAYS,
    NAME_RULE,
    parse_days,
)
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import (
    rename_organization,
    set_audit_days,
    set_click_days,
    set_click_ids,
    set_erases_on_withdrawal,
    set_requires_second_factor,
)
from backend.storage.driver.deadlines import new_deadline
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.retention import set_retention
from backend.web.current import resources

SetDays = Callable[[Database, OrgId, int | None], Awaitable[object]]
_RETENTION_TIMEOUT = 600.0  # seconds: every document gets a new expiry date


@dashboard.post("/settings/name")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("organization_name"))
async def settings_name() -> Response:
    """Give the organization another name."""
    text = field("organization_name")
    try:
        name = NAME_RULE.parse("organization_name", text)
    except InvalidField as error:
        return await settings_page({"organization_name": error.rule}, organization_name=text)
    await rename_organization(resources().database, org_id(), name)
    return redirect_with_notice("settings", "organization-renamed")


@dashboard.post("/settings/retention")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("retention_days"))
async def settings_retention() -> Response:
    """Set for how many days data about visitors is kept."""
    return await _set_days("retention_days", 1, _set_retention, "retention-set")


async def _set_retention(database: Database, own_id: OrgId, days: int | None) -> None:
    with new_deadline(_RETENTION_TIMEOUT):
        await set_retention(database, own_id, days)


@dashboard.post("/settings/click-retention")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("click_days"))
async def settings_click_retention() -> Response:
    """Set for how many days single clicks are kept; their counts stay."""
    return await _set_days("click_days", FEWEST_CLICK_DAYS, set_click_days, "click-retention-set")


@dashboard.post("/settings/audit-retention")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("audit_days"))
async def settings_audit_retention() -> Response:
    """Set for how many days entries of the audit log are kept."""
    return await _set_days("audit_days", FEWEST_AUDIT_DAYS, set_audit_days, "audit-retention-set")


async def _set_days(name: str, fewest: int, set_days: SetDays, notice: str) -> Response:
    """Set for how many days something is kept, by the field with this name; an empty one: without limit."""
    text = field(name)
    try:
        days = parse_days(text, fewest) if text else None
    except ValueError:
        rule = f"must be a whole number from {fewest} to {MOST_DAYS:,}, or empty"
        return await settings_page({name: rule}, **{name: text})
    await set_days(resources().database, org_id(), days)
    return redirect_with_notice("settings", notice)


@dashboard.post("/settings/withdrawal")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("erases_on_withdrawal"))
async def settings_withdrawal() -> Response:
    """Say whether a browser whose visitor withdraws consent may have its device's data erased."""
    await set_erases_on_withdrawal(resources().database, org_id(), field("erases_on_withdrawal") == "on")
    return redirect_with_notice("settings", "withdrawal-set")


@dashboard.post("/settings/click-ids")
@needs(Permission.SETTINGS_WRITE)
@of_stored(stored_of("click_ids"))
async def settings_click_ids() -> Response:
    """Say whether redirects append the id of their click."""
    await set_click_ids(resources().database, org_id(), field("click_ids") == "on")
    return redirect_with_notice("settings", "click-ids-set")


@dashboard.post("/settings/require-second-factor")
@needs(Permission.ORGANIZATION_WRITE)
@of_stored(stored_of("requires_second_factor"))
async def settings_require_second_factor() -> Response:
    """Say whether members need a second factor. Who requires one has one, or has it at the provider."""
    is_on = field("requires_second_factor") == "on"
    if is_on and user().second_factor is None and not came_by_provider():
        return await settings_page({"requires_second_factor": "needs your own second factor first"})
    await set_requires_second_factor(resources().database, org_id(), is_on)
    return redirect_with_notice("settings", "second-factor-required")
