"""/sign-in, /sign-in/code and /sign-out."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil

from quart import Response, current_app, redirect, request, url_for

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.accounts.users.ceremony import ceremony
from backend.dashboard.accounts.users.reader import browser_words
from backend.dashboard.accounts.users.remembered_provider import remembered_path
from backend.dashboard.frame.blueprint import (
    awaiting,
    came_by_provider,
    dashboard,
    is_signed_in,
    needs,
    opens_before_entry,
    org_id,
    public,
)
from backend.dashboard.frame.form import field, form, is_form_sent
from backend.dashboard.frame.notices import notice, redirect_with_notice
from backend.dashboard.frame.page import plain_page
from backend.dashboard.frame.service import DashboardService
from backend.dashboard.frame.session_cookie import cookie_token, renew_cookie_token
from backend.domain.accounts.actors import person
from backend.domain.accounts.sessions import SignInWay, awaiting_session, hash_token, new_session
from backend.domain.accounts.users import User
from backend.domain.audit.entries import AuditTarget
from backend.domain.fields.email_addresses import InvalidEmail, normalize_email
from backend.domain.ids import OrgId
from backend.rate_limits.sign_in_limits import Visitor
from backend.storage.accounts.users.passwords import HASHING, hash_password, is_password, needs_new_hash
from backend.storage.accounts.users.second_factors import accept_code
from backend.storage.accounts.users.sessions import PasswordReplaced, delete_session, insert_session_of
from backend.storage.accounts.users.users import find_user_by_email, renew_password_hash
from backend.storage.audit.acting import act_as
from backend.storage.audit.facts import record
from backend.web.current import of_app, resources, visitor_address

# A path of the dashboard. `//host` and `/\host` would lead to another site.
_OWN_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
# The same for an unknown address and a wrong password: the page tells nobody who has an account.
_WRONG_CREDENTIALS = "The e-mail address or the password is not right."
_WRONG_CODE = "That is not the code of this moment, or it was used already. The app shows the next one soon."
_BUSY_RETRY_AFTER = 3.0  # seconds; by then, waiting sign-ins are done
_LONGEST_IN_SECONDS = 120.0  # longer waits are told in minutes


@dashboard.get("/sign-in")
@public
async def sign_in_page() -> Response:
    """The sign-in form. Users who are signed in already are sent to the dashboard."""
    if is_signed_in():
        return redirect(next_page(request.args.get("next", "")), 303)  # type: ignore[return-value]
    return await sign_in_form()


@dashboard.post("/sign-in")
@public
async def sign_in() -> Response:
    """Open a session if the e-mail address and the password are right."""
    limits = of_app(DashboardService).sign_in_limits
    visitor = await limits.recognize(_account(field("email")), visitor_address())
    try:
        with HASHING.admitted(_owner(visitor)):  # before the try is counted
            if seconds := await limits.begin_try(visitor):
                return await _retry_later(f"Too many wrong tries. {_wait_for(seconds)}", 429, seconds)
            async with limits.trying(visitor):
                user = await _authenticate(visitor, form().get("password", ""))
    except TooManyWait:
        return await _busy()
    following = await _begin(user, visitor) if user else None
    if following is None:
        return await sign_in_form(_WRONG_CREDENTIALS, status=422)
    return redirect(following, 303)  # type: ignore[return-value]


@dashboard.get("/sign-in/code")
@public
async def sign_in_code_page() -> Response:
    """The form for a code of the second factor, for whom the password was right."""
    if is_signed_in():
        return redirect(next_page(request.args.get("next", "")), 303)  # type: ignore[return-value]
    if awaiting() is None:
        return redirect(url_for("dashboard.sign_in_page"), 303)  # type: ignore[return-value]
    return await _code_form()


@dashboard.post("/sign-in/code")
@public
async def sign_in_code() -> Response:
    """Open the session if the code is right. Wrong ones are followed by growing pauses."""
    user = awaiting()
    if user is None:
        return redirect_with_notice("sign_in_page", "sign-in-again")
    limits = of_app(DashboardService).sign_in_limits
    visitor = await limits.recognize(user.email, visitor_address())
    if seconds := await limits.begin_code(visitor):
        response = await _code_form(f"Too many wrong tries. {_wait_for(seconds)}", 429)
        response.headers["Retry-After"] = str(ceil(seconds))
        return response
    async with limits.trying_code(visitor):
        accepted = await accept_code(resources().database, user, form().get("code", ""), resources().clock())
    if accepted is None:
        _note_refusal(user, "code")
        return await _code_form(_WRONG_CODE, 422)
    if not await delete_session(resources().database, hash_token(cookie_token())):
        raise PasswordReplaced  # which ended the session that awaited the code, before the user was read
    await open_session(user, SignInWay.CODE)
    await limits.code_succeeded(visitor)
    if accepted.recovery_codes_left is not None:
        return redirect_with_notice("settings_second_factor", "recovery-code-used")
    return redirect(next_page(form().get("next", "")), 303)  # type: ignore[return-value]


@dashboard.post("/sign-out")
@needs()
@opens_before_entry
async def sign_out() -> Response:
    """End the session in the database and in the browser."""
    await delete_session(resources().database, hash_token(cookie_token()))
    renew_cookie_token()
    if came_by_provider():
        return redirect_with_notice("single_sign_on_left", "signed-out", org_id=org_id())
    return redirect_with_notice("sign_in_page", "signed-out")


async def sign_in_form(problem: str = "", status: int = 200) -> Response:
    """The page with the sign-in form."""
    is_sent = is_form_sent()
    sent = form() if is_sent else request.args
    return await plain_page(
        "accounts/sign_in.html",
        status,
        problem=problem,
        email=field("email") if is_sent else "",
        next=next_page(sent.get("next", "")),
        notice=notice(request.args.get("notice", "")),
        passkey_options=ceremony().request_options(),
        single_sign_on=remembered_path(),
    )


async def _code_form(problem: str = "", status: int = 200) -> Response:
    following = (form() if is_form_sent() else request.args).get("next", "")
    return await plain_page("accounts/sign_in_code.html", status, problem=problem, next=next_page(following))


async def _busy() -> Response:
    """The answer when too many passwords already wait to be checked."""
    problem = f"Too many people sign in at this moment. {_wait_for(_BUSY_RETRY_AFTER)}"
    return await _retry_later(problem, 503, _BUSY_RETRY_AFTER)


async def _retry_later(problem: str, status: int, seconds: float) -> Response:
    response = await sign_in_form(problem, status)
    response.headers["Retry-After"] = str(ceil(seconds))
    return response


def _wait_for(seconds: float) -> str:
    if seconds > _LONGEST_IN_SECONDS:
        return f"Wait {ceil(seconds / 60)} minutes, then try again."
    return f"Wait {ceil(seconds)} seconds, then try again."


def _account(email: str) -> str:
    """The e-mail address in its normal form; text that is not an e-mail address is returned unchanged."""
    try:
        return normalize_email(email)
    except InvalidEmail:
        return email


def _owner(visitor: Visitor) -> str:
    """Whose turn it is to sign in: a crowd of strangers takes every other turn at most."""
    return "known sign-ins" if visitor.is_known else "sign-ins"


async def _authenticate(visitor: Visitor, password: str) -> User | None:
    user = await find_user_by_email(resources().database, visitor.account)
    is_right = await is_password(password, user.password_hash if user else None, _owner(visitor))
    if user is None or not is_right:
        if user:
            _note_refusal(user, "password")
        return None
    if user.password_hash and needs_new_hash(user.password_hash):
        renewed = await hash_password(password, _owner(visitor))
        await renew_password_hash(resources().database, user, renewed)
        user = replace(user, password_hash=renewed)
    return user if user.org_ids else None


def _note_refusal(user: User, wrong: str) -> None:
    """Record that somebody tried to sign in as this user, beside the answer: it takes as long for nobody."""
    target = AuditTarget("session", user.id, user.email)
    tried = {"wrong": wrong, "browser": browser_words()}
    current_app.add_background_task(
        record, resources().database, user.org_ids, "session.refused", target, tried
    )


async def _begin(user: User, visitor: Visitor) -> str | None:
    """Open a session of whom the password is right, or have it await the code, and say where to go on.

    None if the user has another password by now.
    """
    limits, following = of_app(DashboardService).sign_in_limits, next_page(form().get("next", ""))
    try:
        if user.second_factor:
            await _await_code(user)
            await limits.give_back(visitor)
            return _code_page(following)
        await open_session(user, SignInWay.PASSWORD)
        await limits.succeeded(visitor)
    except PasswordReplaced:
        return None
    return following


@dashboard.errorhandler(PasswordReplaced)
async def _sign_in_again(_: PasswordReplaced) -> Response:
    return redirect_with_notice("sign_in_page", "sign-in-again")


async def open_session(user: User, way: SignInWay, shown: OrgId | None = None) -> None:
    """Open a session with a new token, which shows this organization, or the user's first one. A token that
    somebody else put into the browser before is not used.

    Raises PasswordReplaced.
    """
    act_as(person(user), request.endpoint)
    database = resources().database
    await delete_session(database, hash_token(cookie_token()))
    token, now = renew_cookie_token(), resources().clock()
    begun = new_session(token, user.id, shown or user.org_ids[0], now, browser_words(), way=way)
    await insert_session_of(database, user, begun)


async def _await_code(user: User) -> None:
    """Note in the browser's session that its password was right."""
    database = resources().database
    await delete_session(database, hash_token(cookie_token()))
    token, now = renew_cookie_token(), resources().clock()
    await insert_session_of(database, user, awaiting_session(token, user.id, user.org_ids[0], now))


def _code_page(following: str) -> str:
    return url_for("dashboard.sign_in_code_page", next=None if following == "/" else following)


def next_page(path: str) -> str:
    """Where to go on after the sign-in: the path if it is one of the dashboard, else its first page."""
    return path if _OWN_PATH.fullmatch(path) else "/"
