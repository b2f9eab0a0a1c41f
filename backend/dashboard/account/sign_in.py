"""/sign-in and /sign-out."""

from __future__ import annotations

import re

from quart import Response, g, redirect, request, url_for

from backend.current import resources, visitor_address
from backend.dashboard.frame.blueprint import dashboard, is_signed_in, public
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import notice
from backend.dashboard.frame.page import plain_page
from backend.dashboard.frame.service import dashboard_service
from backend.dashboard.frame.session_cookie import cookie_token, renew_cookie_token
from backend.domain.sessions import hash_token, new_session
from backend.domain.users import InvalidEmail, User, normalize_email
from backend.passwords import hash_password, is_password, needs_new_hash
from backend.rate_limits.limit import LimitState
from backend.storage.sessions import delete_session, insert_session
from backend.storage.users import find_user_by_email, set_password_hash

# A path of ours, never an address of another site: `//host` and `/\host` are such.
_OWN_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
# The same for an unknown address and a wrong password: the page tells nobody who has an account.
_REFUSED = "The e-mail address or the password is not right."


@dashboard.get("/sign-in")
@public
async def sign_in_page() -> Response:
    """The form; who is signed in goes on to the dashboard."""
    if is_signed_in():
        return redirect(_next(request.args.get("next", "")), 303)  # type: ignore[return-value]
    return await _form()


@dashboard.post("/sign-in")
@public
async def sign_in() -> Response:
    """Open a session for the right e-mail address and password."""
    email = field("email")
    busy = await _too_many(email)
    if busy:
        problem = f"Too many tries. Wait {busy.reset_after} seconds, then try again."
        response = await _form(problem, status=429)
        response.headers["Retry-After"] = str(busy.reset_after)
        return response
    user = await _authenticate(email, form().get("password", ""))
    if user is None:
        return await _form(_REFUSED, status=422)
    await _open_session(user)
    return redirect(_next(form().get("next", "")), 303)  # type: ignore[return-value]


@dashboard.post("/sign-out")
async def sign_out() -> Response:
    """End the session, in the database and in the browser."""
    await delete_session(resources().database, hash_token(cookie_token()))
    renew_cookie_token()
    return redirect(url_for("dashboard.sign_in_page", notice="signed-out"), 303)  # type: ignore[return-value]


async def _form(problem: str = "", status: int = 200) -> Response:
    sent = form() if "form" in g else request.args
    return await plain_page(
        "account/sign_in.html",
        status,
        problem=problem,
        email=field("email") if "form" in g else "",
        next=_next(sent.get("next", "")),
        notice=notice(request.args.get("notice", "")),
    )


async def _too_many(email: str) -> LimitState | None:
    """The limit that is used up, if one is: the account's, whether it exists or not, or the visitor's."""
    service = dashboard_service()
    states = (
        await service.address_limit.count(hash_token(visitor_address())),
        await service.account_limit.count(hash_token(email.lower())),
    )
    return next((state for state in states if not state.allowed), None)


async def _authenticate(email: str, password: str) -> User | None:
    try:
        user = await find_user_by_email(resources().database, normalize_email(email))
    except InvalidEmail:
        user = None
    if not await is_password(password, user.password_hash if user else None) or user is None:
        return None
    if needs_new_hash(user.password_hash):
        await set_password_hash(resources().database, user.id, await hash_password(password))
    return user if user.org_ids else None


async def _open_session(user: User) -> None:
    """A session under a new token: one that somebody planted in the browser before opens nothing."""
    database = resources().database
    await delete_session(database, hash_token(cookie_token()))
    session = new_session(renew_cookie_token(), user.id, user.org_ids[0], resources().clock())
    await insert_session(database, session)


def _next(wanted: str) -> str:
    return wanted if _OWN_PATH.fullmatch(wanted) else "/"
