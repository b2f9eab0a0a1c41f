"""The cookie with a session's token. Visitors who are not signed in have a token too, for forms."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from quart import Response, request

from backend.dashboard.frame.service import DashboardService
from backend.domain.accounts.sessions import SESSION_DURATION
from backend.domain.fields.rules import is_token
from backend.web.current import of_app, of_request


@dataclass(slots=True)
class _CookieToken:
    """The token of the browser's cookie, and whether the answer has to set that cookie."""

    token: str = ""
    is_new: bool = False


def cookie_name() -> str:
    """The cookie's name.

    With https, it has the prefix that stops other hosts and plain http from setting it.
    """
    return "__Host-waylink" if of_app(DashboardService).is_https else "waylink"


def cookie_token() -> str:
    """This browser's token. If it has none, a new one is made and set with the answer."""
    cookie = of_request(_CookieToken)
    if not cookie.token:
        token = request.cookies.get(cookie_name(), "")
        cookie.token = token if is_token(token) else renew_cookie_token()
    return cookie.token


def renew_cookie_token() -> str:
    """Give this browser a new token. The old one, which others may know, is no longer valid."""
    cookie = of_request(_CookieToken)
    cookie.token, cookie.is_new = secrets.token_urlsafe(32), True
    return cookie.token


def set_cookie(response: Response) -> Response:
    """Set the cookie on this response if a token was made during the request."""
    cookie = of_request(_CookieToken)
    if cookie.is_new:
        response.set_cookie(
            cookie_name(),
            cookie.token,
            max_age=int(SESSION_DURATION.total_seconds()),
            path="/",
            secure=of_app(DashboardService).is_https,
            httponly=True,
            samesite="Lax",
        )
    return response
