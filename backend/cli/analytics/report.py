"""`waylink report`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.analytics.customers import report_cohorts, report_new_customers, report_time_to_sale
from backend.cli.analytics.made_file import print_file, refuse_terminal
from backend.cli.analytics.query import report_analytics
from backend.cli.analytics.shared_reports import list_shared_reports, revoke_report, share_report
from backend.cli.command import CommandResult, run_on_database, stored
from backend.cli.missing_clicks import MissingClicks
from backend.cli.options import org_option
from backend.domain.clicks.rows import RowFormat, Selection
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Instant
from backend.domain.ids import LinkId, OrgId
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.analytics.clicks.click_file import ClicksFile
from backend.storage.clicks.missing import count_missing
from backend.storage.clicks.single_clicks import MoreUnreadable, find_unreadable, written_clicks
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.visitors.rejections import RejectionCount, list_rejections
from backend.system.clock import utc_now


@click.group()
def report() -> None:
    """Reports on clicks, sales and calls of the browser SDK, and views of them that are shared."""


report.add_command(report_analytics)
report.add_command(share_report)
report.add_command(list_shared_reports)
report.add_command(revoke_report)
report.add_command(report_cohorts)
report.add_command(report_time_to_sale)
report.add_command(report_new_customers)


@report.command("rejected")
@org_option
@stored
async def report_rejected(database: Database, org_id: OrgId) -> CommandResult:
    """List why calls of the browser SDK were rejected in the last thirty days, by field and reason."""
    await organizations.get_organization(database, org_id)
    return {"rejected": [_rejected_row(rejected) for rejected in await list_rejections(database, org_id)]}


def _rejected_row(rejected: RejectionCount) -> CommandResult:
    """The output for one reason: kind of call, field, reason, number of calls, and time of the last one."""
    return {
        "kind": rejected.rejection.kind,
        "field": rejected.rejection.field,
        "reason": rejected.rejection.rule,
        "calls": rejected.calls,
        "last": rejected.last.isoformat(timespec="seconds"),
    }


def _instant(_: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
    try:
        return None if value is None else Instant().parse(f"--{parameter.name}", value)
    except InvalidField as error:
        raise click.BadParameter(error.rule) from None


def _link_id(_: click.Context, __: click.Parameter, text: str | None) -> LinkId | None:
    """The id in its normal form; None if the option is not there."""
    return None if text is None else LinkId(text.lower())


@report.command("clicks")
@org_option
@click.option("--from", "start", required=True, callback=_instant, help="The beginning, as 2026-01-31.")
@click.option("--to", "end", callback=_instant, help="The end, which is not included; without it, now.")
@click.option("--link", "link_id", callback=_link_id, metavar="ID", help="Only clicks on this link.")
@click.option("--format", "form", type=click.Choice([form.value for form in RowFormat]), default="csv")
def report_clicks(**arguments: Any) -> None:
    """Print single clicks as CSV, as lines of JSON or as a Parquet file.

    Times are dates, which begin in UTC, or as 2026-01-31T12:00:00Z.
    """
    if arguments["form"] == RowFormat.PARQUET:
        refuse_terminal()
    run_on_database(_clicks, arguments)


async def _clicks(  # noqa: PLR0917 - click passes each option by its name
    database: Database,
    org_id: OrgId,
    start: datetime,
    end: datetime | None,
    link_id: LinkId | None,
    form: str,
) -> CommandResult:
    await organizations.get_organization(database, org_id)
    if link_id is not None and await links.find_link(database, link_id, org_id) is None:
        raise click.ClickException(f"The organization has no link with the id {link_id!r}.")
    selection = Selection(start, end or utc_now(), link_id)
    if selection.end < selection.start:
        raise click.ClickException("--to must not be before --from.")
    if missing := await _print_clicks(database, org_id, selection, RowFormat(form)):
        raise MissingClicks(missing)
    return {}


async def _print_clicks(database: Database, org_id: OrgId, selection: Selection, form: RowFormat) -> int:
    """Print the clicks. Returns how many are missing."""
    url_form = load_settings().short_url_form
    if form is RowFormat.PARQUET:
        async with analytics_client(database) as analytics:
            await print_file(analytics, org_id, ClicksFile(selection, url_form))
            return await count_missing(database, analytics, org_id, selection)
    unreadable = await find_unreadable(database, org_id, selection)
    missing = unreadable.clicks
    try:
        async for piece in written_clicks(database, org_id, selection, form, url_form, unreadable=unreadable):
            sys.stdout.buffer.write(piece)
    except MoreUnreadable as error:
        missing += error.blocks.clicks
    sys.stdout.buffer.flush()
    return missing
