"""The organization through whose provider this browser signed in last, for the sign-in page to offer it."""

from __future__ import annotations

from quart import Response, request

from backend.dashboard.frame.service import DashboardService
from backend.domain.accounts.single_sign_on.provider import sign_in_path
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import OrgId
from backend.web.current import of_app

_COOKIE = "waylink_single_sign_on"
_SECONDS = 365 * 24 * 3600


def remember(response: Response, org_id: OrgId) -> Response:
    """Note the organization in the browser."""
    response.set_cookie(
        _COOKIE,
        org_id,
        max_age=_SECONDS,
        path="/sign-in",
        secure=of_app(DashboardService).is_https,
        httponly=True,
        samesite="Lax",
    )
    return response


def remembered_path() -> str:
    """Where to sign in by the provider of that organization; "" if there is none."""
    org_id = request.cookies.get(_COOKIE, "")
    return sign_in_path(OrgId(org_id)) if is_uuid(org_id) else ""
