"""/mails: who gets the figures of which report by mail, and what became of the mails.

Who opens it: whoever sends figures to a client, an agency or a boss, or hears from them that nothing came.
What they decide by it: whom to ask, whom to ask again, and which address or mail server has to be mended.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from quart import Response

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, user
from backend.dashboard.frame.failing import failing_of
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.mails.shown import shown_failure, shown_reader, try_in_words
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import FieldError, InvalidField, ItemUnknown
from backend.domain.reports.recipient import Recipient, RecipientState
from backend.mail.recipients import ask_to_confirm, last_mails, remove
from backend.mail.report_mails import ReportMailResources
from backend.mail.tries import last_try, send_try
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.mail.mails import list_failed
from backend.storage.processes.work import Work
from backend.storage.reports.recipients import get_recipient, list_recipients
from backend.storage.reports.reports import list_reports
from backend.web.current import resources

_FAILED_WITHIN = timedelta(days=30)
_MOST_FAILED = 50


@dashboard.get("/mails")
@needs(Permission.REPORTS_WRITE)
async def mails() -> Response:
    """All readers of reports, and the mails of the last thirty days that were not sent."""
    return await list_page()


@dashboard.post("/mails/<recipient_id>/ask")
@needs(Permission.REPORTS_WRITE)
@once
async def mails_ask(recipient_id: str) -> Response:
    """Ask a reader again, who has not confirmed, has unsubscribed, or was refused by the mail server."""
    reader = await get_recipient(resources().database, org_id(), recipient_id)
    if not resources().settings.sends_mail:
        return await list_page(status=409)
    try:
        return await ask(_values_of(reader))
    except FieldError as error:
        return await list_page(f"{reader.address} {error.rule}.", 422)


@dashboard.post("/mails/<recipient_id>/try")
@needs(Permission.REPORTS_WRITE)
async def mails_try(recipient_id: str) -> Response:
    """Send the user what this reader would get now."""
    reader = await get_recipient(resources().database, org_id(), recipient_id)
    if not resources().settings.sends_mail:
        return await list_page(status=409)
    if problem := await problem_of_try(_values_of(reader)):
        return await list_page(problem, 422)
    return redirect_with_notice("mails", "try-sent")


@dashboard.post("/mails/<recipient_id>/remove")
@needs(Permission.REPORTS_WRITE)
async def mails_remove(recipient_id: str) -> Response:
    """Send a reader nothing more."""
    await remove(resources().database, org_id(), recipient_id)
    return redirect_with_notice("mails", "mail-removed")


async def ask(values: Mapping[str, Any]) -> Response:
    """Ask somebody whether they want a report's figures. Raises FieldError and ItemUnknown."""
    base_url, now = resources().settings.base_url, resources().clock()
    reader = await ask_to_confirm(resources().database, base_url, org_id(), values, now)
    is_confirmed = reader.state is RecipientState.CONFIRMED
    return redirect_with_notice("mails", "mail-had" if is_confirmed else "mail-asked")


async def problem_of_try(values: Mapping[str, Any]) -> str:
    """Send the user what these fields ask for; why that can't be done, "" if it is."""
    mailing = ReportMailResources(
        resources().database, resources().analytics, resources().settings, resources().clock
    )
    lift_deadline()  # figures may take longer than what else a form does
    try:
        await send_try(mailing, org_id(), user(), values)
    except InvalidField as error:
        named = {"address": f"Your address, {user().email},", "report_id": "The report"}
        return f"{named.get(error.field, error.field)} {error.rule}."
    except ItemUnknown:
        return "The report is not there any more."
    except (FactsNotReady, NoAnswer):
        return "The figures can't be had just now. Nothing was sent; try again in a minute."
    return ""


def _values_of(reader: Recipient) -> dict[str, Any]:
    """The reader's fields, as RECIPIENT_FIELDS parse them."""
    return {
        "report_id": reader.report_id,
        "address": reader.address,
        "frequency": reader.frequency,
        "language": reader.language,
        "timezone": reader.zone,
    }


async def list_page(problem: str = "", status: int = 200) -> Response:
    """All readers of reports, and the mails of the last thirty days that were not sent."""
    database, now, zone = resources().database, resources().clock(), zone_of_browser()
    reports = {report.id: report for report in await list_reports(database, org_id())}
    found = [
        reader for reader in await list_recipients(database, org_id()) if reader.report_id in reports
    ]  # one of a report that is just being deleted goes with it
    last = await last_mails(database, org_id(), found)
    readers = [shown_reader(reader, reports[reader.report_id], last.get(reader.id), now) for reader in found]
    readers.sort(key=lambda reader: (reader.report.name.lower(), reader.address))
    failed = await list_failed(database, org_id(), now - _FAILED_WITHIN, _MOST_FAILED)
    own = await last_try(database, org_id(), user())
    return await page(
        "mails/mails.html",
        status,
        readers=readers,
        has_reports=bool(reports),
        failures=[shown_failure(mail, zone) for mail in failed],
        tried=try_in_words(own, user().email, zone) if own else "",
        failing=await failing_of(Work.FIGURES_BY_MAIL),
        stopped_mails=await failing_of(Work.MAILS),
        problem=problem,
        zone=zone,
        settings=resources().settings,
    )
