"""/settings/second-factor: the user's own second factor, set up by a QR code, and its recovery codes."""

from __future__ import annotations

from dataclasses import dataclass

import segno
from quart import Response, redirect, url_for

from backend.dashboard.accounts.users.ceremony import ceremony
from backend.dashboard.accounts.users.own_password import password_problem
from backend.dashboard.frame.blueprint import dashboard, needs, of_own_account, opens_before_entry, user
from backend.dashboard.frame.form import form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.second_factor.factor import (
    SecondFactor,
    is_secret,
    recovery_hash,
    shown_recovery_code,
)
from backend.storage.accounts.users.authenticator_codes import matching_step, new_secret, provisioning_uri
from backend.storage.accounts.users.second_factors import (
    new_recovery_codes,
    remove_second_factor,
    set_recovery_codes,
    set_second_factor,
)
from backend.web.current import resources

_BORDER = 4  # modules of the QR code, as the standard wants it


@dataclass(frozen=True, slots=True)
class QrDrawing:
    """The dark modules of a QR code as the data of an SVG path; `size` is how many modules a side has."""

    size: int
    path: str


@dashboard.get("/settings/second-factor")
@needs()
@of_own_account
@opens_before_entry
async def settings_second_factor() -> Response:
    """The state of the user's second factor; without one, a new secret for an app."""
    return await factor_page(new_secret(), {})


@dashboard.post("/settings/second-factor")
@needs()
@of_own_account
@opens_before_entry
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
        return await factor_page(secret, problems)
    codes = new_recovery_codes()
    factor = SecondFactor(secret, step, tuple(map(recovery_hash, codes)), now)
    await set_second_factor(resources().database, user(), factor)
    return await _codes_page(codes)


@dashboard.post("/settings/second-factor/recovery-codes")
@needs()
@of_own_account
async def settings_recovery_codes() -> Response:
    """Replace the recovery codes, and show the new ones this once."""
    if problem := await password_problem(form().get("renewing_password", "")):
        return await factor_page("", {"renewing_password": problem})
    codes = new_recovery_codes()
    await set_recovery_codes(resources().database, user().id, codes)
    return await _codes_page(codes)


@dashboard.post("/settings/second-factor/off")
@needs()
@of_own_account
async def settings_second_factor_off() -> Response:
    """Let the password alone sign the user in again."""
    if problem := await password_problem(form().get("password", "")):
        return await factor_page("", {"password": problem})
    await remove_second_factor(resources().database, user().id)
    return redirect_with_notice("settings_second_factor", "second-factor-off")


async def factor_page(secret: str, problems: dict[str, str]) -> Response:
    """The page of the second factor, with what is wrong with a form of it, by field."""
    return await page(
        "accounts/second_factor.html",
        422 if problems else 200,
        factor=user().second_factor,
        secret=secret,
        qr_code=_qr_code(secret),
        problems=problems,
        passkey_options=ceremony().creation_options(user()),
    )


async def _codes_page(codes: list[str]) -> Response:
    return await page("accounts/recovery_codes.html", codes=[shown_recovery_code(code) for code in codes])


def _qr_code(secret: str) -> QrDrawing | None:
    """The QR code, to be drawn in the page: an address of its own would have the secret in it."""
    if not secret:
        return None
    rows = list(segno.make_qr(provisioning_uri(secret, user().email)).matrix_iter(border=_BORDER))
    dark = (
        (column, row) for row, modules in enumerate(rows) for column, module in enumerate(modules) if module
    )
    return QrDrawing(len(rows), "".join(f"M{column} {row}h1v1h-1z" for column, row in dark))
