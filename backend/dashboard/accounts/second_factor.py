"""/settings/second-factor: the user's own second factor, set up by a QR code, and its recovery codes."""

from __future__ import annotations

import segno
from markupsafe import Markup
from quart import Response, redirect, url_for

from backend.dashboard.accounts.own_password import password_problem
from backend.dashboard.frame.blueprint import dashboard, needs, opens_without_second_factor, user
from backend.dashboard.frame.form import form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.second_factor import SecondFactor, is_secret, recovery_hash, shown_recovery_code
from backend.storage.accounts.users.authenticator_codes import matching_step, new_secret, provisioning_uri
from backend.storage.accounts.users.second_factors import (
    new_recovery_codes,
    remove_second_factor,
    set_recovery_codes,
    set_second_factor,
)
from backend.web.current import resources

_PIXELS = 5  # of a module of the QR code


@dashboard.get("/settings/second-factor")
@needs()
@opens_without_second_factor
async def settings_second_factor() -> Response:
    """The state of the user's second factor; without one, a new secret for an app."""
    return await _page(new_secret(), {})


@dashboard.post("/settings/second-factor")
@needs()
@opens_without_second_factor
async def settings_second_factor_set() -> Response:
    """Set the second factor, once the app has shown a code of it. Shows recovery codes, this once."""
    secret = form().get("secret", "")
    if user().second_factor or not is_secret(secret):
        return redirect(url_for("dashboard.settings_second_factor"), 303)  # type: ignore[return-value]
    now = resources().clock()
    step = matching_step(secret, form().get("code", ""), now)
    problems = {} if step else {"code": "is not the code that the app shows at this moment"}
    if step and (problem := await password_problem(form().get("password", ""))):
        problems = {"password": problem}
    if step is None or problems:
        return await _page(secret, problems)
    codes = new_recovery_codes()
    factor = SecondFactor(secret, step, tuple(map(recovery_hash, codes)), now)
    await set_second_factor(resources().database, user().id, factor)
    return await _codes_page(codes)


@dashboard.post("/settings/second-factor/recovery-codes")
@needs()
async def settings_recovery_codes() -> Response:
    """Replace the recovery codes, and show the new ones this once."""
    if problem := await password_problem(form().get("renewing_password", "")):
        return await _page("", {"renewing_password": problem})
    codes = new_recovery_codes()
    await set_recovery_codes(resources().database, user().id, codes)
    return await _codes_page(codes)


@dashboard.post("/settings/second-factor/off")
@needs()
async def settings_second_factor_off() -> Response:
    """Let the password alone sign the user in again."""
    if problem := await password_problem(form().get("password", "")):
        return await _page("", {"password": problem})
    await remove_second_factor(resources().database, user().id)
    return redirect_with_notice("settings_second_factor", "second-factor-off")


async def _page(secret: str, problems: dict[str, str]) -> Response:
    return await page(
        "accounts/second_factor.html",
        422 if problems else 200,
        factor=user().second_factor,
        secret=secret,
        qr_code=_qr_code(secret),
        problems=problems,
    )


async def _codes_page(codes: list[str]) -> Response:
    return await page("accounts/recovery_codes.html", codes=[shown_recovery_code(code) for code in codes])


def _qr_code(secret: str) -> Markup:
    """The QR code as SVG within the page: an address of its own would have the secret in it."""
    if not secret:
        return Markup()
    code = segno.make_qr(provisioning_uri(secret, user().email))
    return Markup(code.svg_inline(scale=_PIXELS, border=4, light="white", svgclass=None, lineclass=None))  # noqa: S704 - our own drawing
