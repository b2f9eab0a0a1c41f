"""The cookie with a session's token. Visitors who are not signed in have a token too, for forms."""

from __future__ import annotations

import re
import secrets

from quart import Response, request

from backend.dashboard.frame.service import DashboardService
from backend.domain.accounts.sessions import SESSION_DURATION
from backend.web.current import known, of_app

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def cookie_name() -> str:
    """The cookie's name.

    With https, it has the prefix that stops other hosts and plain http from setting it.
    """
    return "__Host-waylink" if of_app(DashboardService).is_https else "waylink"


def cookie_token() -> str:
    """This browser's token. If it has none, a new one is made and set with the answer."""
    if not known().cookie_token:
        token = request.cookies.get(cookie_name(), "")
        known().cookie_token = token if _TOKEN.fullmatch(token) else renew_cookie_token()
    return known().cookie_token


def renew_cookie_token() -> str:
    """Give this browser a new token. The old one, which others may know, is no longer valid."""
    known().cookie_token = secrets.token_urlsafe(32)
    known().is_cookie_new = True
    return known().cookie_token


def set_cookie(response: Response) -> Response:
    """Set the cookie on this response if a token was made during the request."""
    if known().is_cookie_new:
        response.set_cookie(
            cookie_name(),
            known().cookie_token,
            max_age=int(SESSION_DURATION.total_seconds()),
            path="/",
            secure=of_app(DashboardService).is_https,
            httponly=True,
            samesite="Lax",
        )
    return response
