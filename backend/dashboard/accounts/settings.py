"""/settings: the user's password, and of the organization how long visitor data is kept, and click ids."""

from __future__ import annotations

from quart import Response, redirect, url_for

from backend.dashboard.frame.blueprint import dashboard, org_id, user
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.page import page
from backend.dashboard.frame.service import DashboardService
from backend.dashboard.frame.session_cookie import renew_cookie_token
from backend.domain.accounts.organizations import MOST_DAYS, parse_days
from backend.domain.accounts.sessions import new_session
from backend.domain.accounts.users import WeakPassword, check_password
from backend.storage.accounts.organizations import set_click_ids
from backend.storage.accounts.users.passwords import hash_password, is_password
from backend.storage.accounts.users.sessions import delete_sessions_of, insert_session
from backend.storage.accounts.users.users import set_password_hash
from backend.storage.driver.deadlines import new_deadline
from backend.storage.lifecycle.retention import set_retention
from backend.web.current import of_app, resources

_RETENTION_TIMEOUT = 600.0  # seconds: every document gets a new expiry date


@dashboard.get("/settings")
async def settings() -> Response:
    """The page with all forms."""
    return await _page({})


@dashboard.post("/settings/password")
async def settings_password() -> Response:
    """Change the user's password. All other sessions of the user end."""
    problems = await _password_problems(form().get("current", ""), form().get("new", ""))
    if problems:
        return await _page(problems)
    database = resources().database
    await set_password_hash(database, user().id, await hash_password(form()["new"]))
    await delete_sessions_of(database, user().id)
    await insert_session(
        database, new_session(renew_cookie_token(), user().id, org_id(), resources().clock())
    )
    return redirect(url_for("dashboard.settings", notice="password-changed"), 303)  # type: ignore[return-value]


@dashboard.post("/settings/retention")
async def settings_retention() -> Response:
    """Set for how many days data about visitors is kept; an empty field means without limit."""
    text = field("retention_days")
    try:
        days = parse_days(text) if text else None
    except ValueError:
        rule = f"must be a whole number from 1 to {MOST_DAYS:,}, or empty"
        return await _page({"retention_days": rule}, text)
    with new_deadline(_RETENTION_TIMEOUT):
        await set_retention(resources().database, org_id(), days)
    return redirect(url_for("dashboard.settings", notice="retention-set"), 303)  # type: ignore[return-value]


@dashboard.post("/settings/click-ids")
async def settings_click_ids() -> Response:
    """Say whether redirects append the id of their click."""
    await set_click_ids(resources().database, org_id(), field("click_ids") == "on")
    return redirect(url_for("dashboard.settings", notice="click-ids-set"), 303)  # type: ignore[return-value]


async def _password_problems(current: str, new: str) -> dict[str, str]:
    """The reasons why the password can't be changed, by field. Tries are limited as sign-ins are."""
    limit = await of_app(DashboardService).password_changes.count(user().id)
    if not limit.allowed:
        return {"current": f"was tried too often; wait {limit.reset_after} seconds"}
    if not await is_password(current, user().password_hash):
        return {"current": "is not right"}
    try:
        check_password(new)
    except WeakPassword as error:
        return {"new": str(error)}
    return {}


async def _page(problems: dict[str, str], retention: str | None = None) -> Response:
    return await page(
        "accounts/settings.html", 422 if problems else 200, problems=problems, retention=retention
    )
