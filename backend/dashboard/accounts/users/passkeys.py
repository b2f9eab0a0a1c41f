"""Passkeys: added and removed at /settings/second-factor, and signed in with at /sign-in/passkey."""

from __future__ import annotations

from quart import Response, redirect

from backend.dashboard.accounts.users.ceremony import ceremony
from backend.dashboard.accounts.users.own_password import password_problem
from backend.dashboard.accounts.users.second_factor import factor_page
from backend.dashboard.accounts.users.sign_in import next_page, open_session, sign_in_form
from backend.dashboard.frame.blueprint import dashboard, needs, of_own_account, public, user
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.domain.accounts.second_factor.passkeys import MOST_PASSKEYS, NAME_RULE
from backend.domain.accounts.sessions import SignInWay
from backend.domain.errors import InvalidField
from backend.storage.accounts.users.passkey_ceremony import PasskeyRefused
from backend.storage.accounts.users.passkeys import add_passkey, remove_passkey, user_signed_in
from backend.storage.accounts.users.sessions import PasswordReplaced
from backend.web.current import resources

_REFUSED = "That passkey does not sign in here. Try again, or sign in with your password."


@dashboard.post("/sign-in/passkey")
@public
async def sign_in_passkey() -> Response:
    """Open a session for the user whose passkey signed this browser's challenge."""
    try:
        user = await user_signed_in(resources().database, ceremony(), form().get("credential", ""))
        await open_session(user, SignInWay.PASSKEY)
    except (PasskeyRefused, PasswordReplaced):
        return await sign_in_form(_REFUSED, 422)
    return redirect(next_page(form().get("next", "")), 303)  # type: ignore[return-value]


@dashboard.post("/settings/second-factor/passkeys")
@needs()
@of_own_account
async def settings_passkey_add() -> Response:
    """Add the passkey that the browser has just made."""
    problems: dict[str, str] = {}
    try:
        name = NAME_RULE.parse("passkey_name", field("passkey_name"))
        passkey = ceremony().created(form().get("credential", ""), name)
    except InvalidField as error:
        problems["passkey_name"] = error.rule
    except PasskeyRefused:
        problems["passkey_name"] = "was not taken: the browser made no passkey for this page; try again"
    if not problems and (problem := await password_problem(form().get("passkey_password", ""))):
        problems["passkey_password"] = problem
    if not problems and not await add_passkey(resources().database, user(), passkey):
        problems["passkey_name"] = f"would be one too many: {MOST_PASSKEYS} are the most"
    if problems:
        return await factor_page("", problems)
    return redirect_with_notice("settings_second_factor", "passkey-added")


@dashboard.post("/settings/second-factor/passkeys/remove")
@needs()
@of_own_account
async def settings_passkey_remove() -> Response:
    """Remove a passkey."""
    await remove_passkey(resources().database, user().id, form().get("id", ""))
    return redirect_with_notice("settings_second_factor", "passkey-removed")
