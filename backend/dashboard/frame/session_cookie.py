"""The cookie that holds a session's token, or a visitor's before the sign-in."""

from __future__ import annotations

import re
import secrets

from quart import Response, g, request

from backend.dashboard.frame.service import dashboard_service
from backend.domain.sessions import SESSION_LASTS

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def cookie_name() -> str:
    """The cookie's name; by https with the prefix that keeps other hosts and plain http from setting it."""
    return "__Host-waylink" if dashboard_service().is_https else "waylink"


def cookie_token() -> str:
    """The token that this browser holds; one is made where it holds none, and set with the answer."""
    if "cookie_token" not in g:
        given = request.cookies.get(cookie_name(), "")
        g.cookie_token = given if _TOKEN.fullmatch(given) else renew_cookie_token()
    token: str = g.cookie_token
    return token


def renew_cookie_token() -> str:
    """A new token for this browser: what it held before, whoever gave it, stands for nothing any more."""
    g.cookie_token = secrets.token_urlsafe(32)
    g.cookie_is_new = True
    token: str = g.cookie_token
    return token


def set_cookie(response: Response) -> Response:
    """Send the browser a token that was made during this request."""
    if g.get("cookie_is_new"):
        response.set_cookie(
            cookie_name(),
            g.cookie_token,
            max_age=int(SESSION_LASTS.total_seconds()),
            path="/",
            secure=dashboard_service().is_https,
            httponly=True,
            samesite="Lax",
        )
    return response
