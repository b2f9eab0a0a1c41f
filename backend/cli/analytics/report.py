"""`waylink report`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.analytics.credit_options import credit_options
from backend.cli.analytics.filter_options import FILTER_OPTIONS, GivenFilters, filter_options
from backend.cli.analytics.made_file import print_file, refuse_terminal
from backend.cli.analytics.query import report_analytics
from backend.cli.analytics.shared_reports import list_shared_reports, revoke_report, share_report
from backend.cli.command import CommandResult, run_on_database, stored
from backend.cli.missing_clicks import MissingClicks
from backend.cli.options import json_option, org_option, with_options
from backend.cli.table import table
from backend.domain.analytics.cohorts.cohorts import CohortTable
from backend.domain.analytics.cohorts.input import parse_cohorts, parse_customers
from backend.domain.analytics.cohorts.json_form import (
    amounts_in_words,
    cohort_notes,
    cohorts_json,
    new_and_returning_json,
    time_to_sale_json,
)
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.domain.analytics.cohorts.time_to_sale import EDGES, TimeToSale
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import WeekStart
from backend.domain.clicks.rows import RowFormat, Selection
from backend.domain.durations import duration_words
from backend.domain.errors import FieldError, InvalidField
from backend.domain.fields.rules import Instant
from backend.domain.ids import LinkId, OrgId
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.clicks.click_file import ClicksFile
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.storage.clicks.missing import count_missing
from backend.storage.clicks.single_clicks import MoreUnreadable, find_unreadable, written_clicks
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.visitors.rejections import RejectionCount, list_rejections
from backend.system.clock import utc_now

_SHOWN: Mapping[str, Callable[[SaleFigures], object]] = {
    "conversions": lambda figures: figures.conversions,
    "customers": lambda figures: figures.customers,
    "revenue": lambda figures: amounts_in_words(figures.revenue),
}


def _period_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        json_option,
        org_option,
        click.option("--from", "from_", help="The beginning, as 2026-01-31.  [default: 28 days]"),
        click.option("--to", help="The end, which is not included.  [default: the end of today]"),
        click.option(
            "--period",
            type=click.Choice([period.value for period in MovingPeriod]),
            help="Instead of --from and --to.",
        ),
        click.option("--timezone", help="IANA time zone whose days count.  [default: UTC]"),
        click.option(
            "--week-starts",
            type=click.Choice([start.value for start in WeekStart]),
            help="The day on which weeks begin.  [default: monday]",
        ),
        filter_options,
        click.option("--currency", help="Conversions in this currency only."),
    )
    return with_options(command, options)


@click.command("cohorts")
@_period_options
@click.option("--weeks", type=int, help="Weeks after the first touch.  [default: 12]")
@click.option("--as-of", help="As it stood at the end of this day, as 2026-01-31.  [default: now]")
@click.option("--show", type=click.Choice(list(_SHOWN)), default="conversions", show_default=True)
def report_cohorts(as_json: bool, show: str, **options: Any) -> None:
    """Report customers by the week of their first touch, and what they bought in the weeks after.

    Filters go by the first touch.
    """
    found: CohortTable = run_on_database(_cohorts, options)["found"]
    if as_json:
        click.echo(json.dumps(cohorts_json(found)))
        return
    most = max((len(cohort.weeks) for cohort in found.cohorts), default=0)
    rows = [
        [cohort.label, cohort.customers, *(_SHOWN[show](week.figures) for week in cohort.weeks)]
        for cohort in found.cohorts
    ]
    headings = ["week", "customers", *(f"+{number}" for number in range(most))]
    click.echo(table(headings, [row + [""] * (len(headings) - len(row)) for row in rows]))
    for note in cohort_notes(found):
        click.echo(f"Note: {note}", err=True)


@click.command("time-to-sale")
@_period_options
@credit_options
def report_time_to_sale(as_json: bool, **options: Any) -> None:
    """Report how long it took from the click that gets the credit to the sale."""
    found: TimeToSale = run_on_database(_time_to_sale, options)["found"]
    if as_json:
        click.echo(json.dumps(time_to_sale_json(found)))
        return
    rows = [
        (
            f"{duration_words(begin)} to {duration_words(end)}" if end else f"from {duration_words(begin)}",
            count,
        )
        for begin, end, count in zip_longest(EDGES, EDGES[1:], found.counts)
    ]
    ends = [("median", found.median), ("90 %", found.p90)]
    known = [(name, duration_words(timedelta(milliseconds=took))) for name, took in ends if took is not None]
    click.echo(table(("time", "conversions"), [*rows, ("no touch", found.untouched), *known]))


@click.command("new-customers")
@_period_options
@credit_options
def report_new_customers(as_json: bool, **options: Any) -> None:
    """Report who bought for the first time, who had bought before, and what both bought."""
    found: NewAndReturning = run_on_database(_new_and_returning, options)["found"]
    if as_json:
        click.echo(json.dumps(new_and_returning_json(found)))
        return
    parts = (("new", found.new), ("returning", found.returning), ("unknown", found.unknown))
    rows = [(name, part.customers, part.conversions, amounts_in_words(part.revenue)) for name, part in parts]
    click.echo(table(("customers", "number", "conversions", "revenue"), rows))


async def _cohorts(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    with _field_errors(options) as body:
        query, weeks = parse_cohorts(body, utc_now())
    return await _asked(database, org_id, AskCohorts(query, weeks))


async def _time_to_sale(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    with _field_errors(options) as body:
        query = parse_customers(body, utc_now())
    return await _asked(database, org_id, AskTimeToSale(query))


async def _new_and_returning(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    with _field_errors(options) as body:
        query = parse_customers(body, utc_now())
    return await _asked(database, org_id, AskNewAndReturning(query))


async def _asked(
    database: Database, org_id: OrgId, question: AskCohorts | AskTimeToSale | AskNewAndReturning
) -> CommandResult:
    await get_organization(database, org_id)
    async with analytics_client(database) as analytics:
        return {"found": await analytics.ask(org_id, question)}


@contextmanager
def _field_errors(options: dict[str, Any]) -> Iterator[dict[str, object]]:
    """The body that the options say, for the block, in which errors of a field name its option."""
    filters = GivenFilters.of(*(options.pop(option) for option in FILTER_OPTIONS))
    body = {name.removesuffix("_") if name == "from_" else name: value for name, value in options.items()}
    try:
        yield {name: value for name, value in body.items() if value is not None} | {"filters": filters.body}
    except FieldError as error:
        name, _, field = error.field.partition(".")
        if field:
            raise click.UsageError(f"{filters.options.get(field, '--filter')} {field} {error.rule}") from None
        raise click.UsageError(f"--{name.replace('_', '-')} {error.rule}") from None


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
