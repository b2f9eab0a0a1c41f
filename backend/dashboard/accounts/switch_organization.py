"""POST /organization: switch to another of the user's organizations."""

from __future__ import annotations

from quart import Response, abort, redirect, url_for

from backend.dashboard.frame.blueprint import dashboard, needs, opens_before_entry, session, user
from backend.dashboard.frame.form import field
from backend.domain.ids import OrgId
from backend.storage.accounts.users.sessions import set_session_organization
from backend.web.current import resources


@dashboard.post("/organization")
@needs()
@opens_before_entry
async def switch_organization() -> Response:
    """Show this organization from now on in the session, if the user belongs to it."""
    chosen_id = field("org_id")
    if chosen_id not in user().org_ids:
        abort(404)
    await set_session_organization(resources().database, session().token_hash, OrgId(chosen_id))
    return redirect(url_for("dashboard.home"), 303)  # type: ignore[return-value]
