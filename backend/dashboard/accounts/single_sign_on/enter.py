"""/enter: for whoever is signed in otherwise, where the organization requires single sign-on."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, opens_before_entry, org_id, user
from backend.dashboard.frame.page import plain_page
from backend.domain.accounts.single_sign_on.provider import sign_in_path
from backend.storage.accounts.organizations import find_organizations
from backend.web.current import resources


@dashboard.get("/enter")
@needs()
@opens_before_entry
async def enter() -> Response:
    """Says how one enters the organization, and leads to others that the user may enter."""
    organizations = await find_organizations(resources().database, user().org_ids)
    return await plain_page(
        "accounts/enter.html",
        organization=next(found for found in organizations if found.id == org_id()),
        others=[found for found in organizations if found.id != org_id()],
        sign_in=sign_in_path(org_id()),
    )
