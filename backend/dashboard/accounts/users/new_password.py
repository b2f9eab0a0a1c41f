"""/forgot-password and /new-password: a new password for whoever forgot theirs, by a link that works once."""

from __future__ import annotations

from quart import Response, current_app

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.accounts.users.hashing import new_password_hash
from backend.dashboard.accounts.users.reader import mail_language
from backend.dashboard.frame.blueprint import dashboard, public
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import plain_page
from backend.dashboard.frame.service import DashboardService
from backend.domain.accounts.entry.password_resets import RESET_PATH
from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.users import User, WeakPassword
from backend.domain.fields.email_addresses import InvalidEmail, normalize_email
from backend.domain.mail.language import Language
from backend.mail.member_mails import mail_reset
from backend.storage.accounts.users.new_passwords import use_reset
from backend.storage.accounts.users.password_resets import begin_reset, find_user_to_reset
from backend.storage.accounts.users.users import find_user_by_email
from backend.web.current import of_app, resources, visitor_network

_PATH = f"{RESET_PATH}/<token>"


@dashboard.get("/forgot-password")
@public
async def forgot_password() -> Response:
    """The form that asks for a mail, or what else to do where no mails are sent."""
    return await _asking()


@dashboard.post("/forgot-password")
@public
async def forgot_password_send() -> Response:
    """Send a link to the address, if it is a user's. The answer is the same for every address."""
    if not resources().settings.sends_mail:
        return await _asking(status=409)
    try:
        email = normalize_email(field("email"))
    except InvalidEmail as error:
        return await _asking(problem=str(error), status=422)
    limit = await of_app(DashboardService).password_resets.count(visitor_network())
    if not limit.allowed:
        return await _asking(problem="was asked for too often; wait some minutes", status=429)
    # Beside the answer, which so takes as long for one who has no account.
    current_app.add_background_task(_send, email, mail_language())
    return await _asking(is_sent=True)


@dashboard.get(_PATH)
@public
async def new_password_page(token: str) -> Response:
    """The form for the new password. Looking at it does not use the link up."""
    user = await find_user_to_reset(resources().database, token, resources().clock())
    return await _setting(token, user) if user else await _gone()


@dashboard.post(_PATH)
@public
async def new_password(token: str) -> Response:
    """Set the new password. All sessions of the user end."""
    user = await find_user_to_reset(resources().database, token, resources().clock())
    if user is None:
        return await _gone()
    try:
        password_hash = await new_password_hash(form().get("password", ""))
    except WeakPassword as error:
        return await _setting(token, user, problem=str(error), status=422)
    except TooManyWait:
        return await _setting(token, user, problem="can't be stored at this moment: try again", status=503)
    if await use_reset(resources().database, token, password_hash, resources().clock()) is None:
        return await _gone()
    await of_app(DashboardService).sign_in_limits.forget_account(user.email)
    return redirect_with_notice("sign_in_page", "password-set")


async def _send(email: str, language: Language) -> None:
    database, now = resources().database, resources().clock()
    user = await find_user_by_email(database, email)
    if user is None or not user.org_ids:
        return
    token = await begin_reset(database, user.id, now, LinkWay.MAILED)
    await mail_reset(database, resources().settings.base_url, user, token=token, language=language, now=now)


async def _asking(*, problem: str = "", status: int = 200, is_sent: bool = False) -> Response:
    return await plain_page(
        "accounts/forgot_password.html",
        status,
        sends_mail=resources().settings.sends_mail,
        email=field("email"),
        problem=problem,
        is_sent=is_sent,
    )


async def _gone() -> Response:
    text = "It was used already, or its time is over. Ask for another one on the page to sign in."
    return await plain_page("frame/error.html", 410, title="This link does not work any more", text=text)


async def _setting(token: str, user: User, *, problem: str = "", status: int = 200) -> Response:
    return await plain_page(
        "accounts/new_password.html", status, token=token, email=user.email, problem=problem
    )
