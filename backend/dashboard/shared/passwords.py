"""The password of a report: who gave it has a pass for a while.

The pass is a cookie, as that of a link. In a frame on another site browsers send no such cookie, so it also
stands in the page's own form, for the CSV file (decisions, "shared-reports").
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from quart import Response, request

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.shared.service import SharedReportsService
from backend.domain.links.password_passes import is_pass, make_pass
from backend.domain.reports.json_form import REPORT_PATH
from backend.domain.reports.report import Report
from backend.storage.accounts.users.passwords import HASHING, is_password
from backend.web.current import of_app, resources, visitor_address

# Fields of forms.
PASSWORD, PASS = "password", "pass"
_BUSY_SECONDS = 3.0  # by then, those who wait are done


@dataclass(frozen=True, slots=True)
class RefusedPassword:
    """Why a password was not taken, the status of the answer, and after how many seconds to try again."""

    words: str
    status: int
    retry_after: float = 0


def has_pass(report: Report, fields: Mapping[str, str]) -> bool:
    """Whether the report needs no password, or the request shows that it was given a while ago."""
    if report.password_hash is None:
        return True
    now = resources().clock()
    given = (request.cookies.get(_cookie_name(report), ""), fields.get(PASS, ""))
    return any(is_pass(text, report.id, report.password_hash, now) for text in given)


async def refuse(report: Report, password: str) -> RefusedPassword | None:
    """Check the password; None if it is right. Raises StorageError: tries that can't be counted are none."""
    owner = ("readers", report.org_id)
    try:
        with HASHING.admitted(owner):  # before the try is counted
            return await _check(report, password, owner)
    except TooManyWait:
        return RefusedPassword("Too many people try passwords at this moment.", 503, _BUSY_SECONDS)


async def _check(report: Report, password: str, owner: Hashable) -> RefusedPassword | None:
    limits, address = resources().rate_limits.link_passwords, visitor_address()
    if seconds := await limits.begin_try(report.id, address):
        return RefusedPassword("Too many wrong tries.", 429, seconds)
    async with limits.trying(report.id, address):
        is_right = await is_password(password, report.password_hash, owner)
    if not is_right:
        return RefusedPassword("The password is not right.", 403)
    await limits.succeeded(report.id, address)
    return None


def new_pass(report: Report) -> str:
    """A pass for the report; "" if it needs none."""
    return make_pass(report.id, report.password_hash, resources().clock()) if report.password_hash else ""


def remember(report: Report, response: Response) -> None:
    """Let this browser open the report again without a password, until its session ends."""
    response.set_cookie(
        _cookie_name(report),
        new_pass(report),
        path=f"{REPORT_PATH}/{report.token}",
        secure=of_app(SharedReportsService).is_https,
        httponly=True,
        samesite="Lax",
    )


def _cookie_name(report: Report) -> str:
    return f"report_{report.id.replace('-', '')}"
