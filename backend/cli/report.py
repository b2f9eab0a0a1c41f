"""`waylink report`."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import click

from backend.cli.command import CommandResult, run_on_database, stored
from backend.cli.credit_options import credit_options
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.cli.report_analytics import report_analytics
from backend.cli.table import NONE, table
from backend.clock import utc_now
from backend.domain.analytics_answer import plain_count
from backend.domain.analytics_input import parse_rules
from backend.domain.click_rows import RowFormat, Selection
from backend.domain.errors import InvalidField
from backend.domain.field_rules import Instant
from backend.domain.ids import LinkId, OrgId
from backend.domain.spreadsheets import inert
from backend.settings import load_settings
from backend.storage import links, organizations
from backend.storage.attribution_report import (
    Grouping,
    Period,
    ReportRow,
    attribution_report,
)
from backend.storage.mongo import Database
from backend.storage.rejections import Rejected, list_rejections
from backend.storage.single_clicks import MoreUnreadable, find_unreadable, written_clicks


@click.group()
def report() -> None:
    """Reports on clicks and on calls of the browser SDK."""


report.add_command(report_analytics)


@report.command("rejected")
@org_option
@stored
async def report_rejected(database: Database, org_id: OrgId) -> CommandResult:
    """List why calls of the browser SDK were rejected in the last thirty days, by field and reason."""
    await organizations.get_organization(database, org_id)
    return {"rejected": [_rejected_row(each) for each in await list_rejections(database, org_id)]}


def _rejected_row(each: Rejected) -> CommandResult:
    """The output for one reason: kind of call, field, reason, number of calls, and time of the last one."""
    return {
        "kind": each.rejection.kind,
        "field": each.rejection.field,
        "reason": each.rejection.rule,
        "calls": each.calls,
        "last": each.last.isoformat(timespec="seconds"),
    }


def _choices(of: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([each.value for each in of])


@report.command("attribution")
@org_option
@click.option(
    "--by", type=_choices(Grouping), default="link", help="A row for each link, campaign or source."
)
@credit_options
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="First day, as 2026-01-31 (UTC).")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Last day, as 2026-12-31 (UTC).")
@click.option("--format", "form", type=click.Choice(["table", "csv", "jsonl"]), default="table")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report_attribution(form: str, as_json: bool, **arguments: Any) -> None:
    """Report leads, conversions, customers and revenue by link, campaign or source, for each currency.

    How credit is given is printed on stderr.
    """
    result = run_on_database(_attribution, arguments)
    click.echo(json.dumps(result) if as_json else _FORMS[form](result["rows"]), nl=True)
    if not as_json:
        click.echo(f"Note: {result['credited']}", err=True)


async def _attribution(
    database: Database,
    org_id: OrgId,
    by: str,
    since: datetime | None,
    until: datetime | None,
    **options: Any,
) -> CommandResult:
    await organizations.get_organization(database, org_id)
    try:
        rules = parse_rules({name: each for name, each in options.items() if each is not None})
    except InvalidField as error:
        raise click.UsageError(f"--{error.field.replace('_', '-')} {error.rule}") from None
    grouping = Grouping(by)
    period = Period(_utc(since), _end_of(until) if until else None)
    rows = await attribution_report(database, org_id, grouping, rules, period)
    names = await _link_names(database, org_id, rows) if grouping is Grouping.LINK else {}
    return {"by": by, "credited": rules.in_words, "rows": [_as_result(row, by, names) for row in rows]}


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
@click.option("--format", "form", type=click.Choice([each.value for each in RowFormat]), default="csv")
def report_clicks(**arguments: Any) -> None:
    """Print single clicks as CSV or as lines of JSON.

    Times are dates, which begin in UTC, or as 2026-01-31T12:00:00Z.
    """
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
    url_form = load_settings().short_url_form
    unreadable = await find_unreadable(database, org_id, selection)
    missing = unreadable.clicks
    try:
        async for piece in written_clicks(
            database, org_id, selection, RowFormat(form), url_form, known=unreadable
        ):
            sys.stdout.buffer.write(piece)
    except MoreUnreadable as error:
        missing += error.found.clicks
    if missing:
        sys.stdout.buffer.flush()
        raise click.ClickException(
            f"{missing:,} requests of this time are missing, since what is stored of them can't be read; all "
            "others are there. See `waylink doctor`."
        )
    return {}


def _utc(day: datetime | None) -> datetime | None:
    return day.replace(tzinfo=UTC) if day else None


def _end_of(day: datetime) -> datetime | None:
    """The end of this day; None (no end) for the last of all days, which people write for "for ever"."""
    return None if day.date() == date.max else _utc(day + timedelta(days=1))


async def _link_names(database: Database, org_id: OrgId, rows: list[ReportRow]) -> dict[str, str]:
    found = await links.find_links(database, [LinkId(row.key) for row in rows if row.key], org_id)
    return {link_id: link.link_name for link_id, link in found.items()}


def _as_result(row: ReportRow, by: str, names: dict[str, str]) -> CommandResult:
    name = {"link_name": names.get(row.key or "")} if by == Grouping.LINK else {}
    return {
        by: row.key,
        **name,
        "leads": plain_count(row.leads),
        "conversions": plain_count(row.conversions),
        "customers": len(row.customer_ids),
        "revenue": _amounts(row.revenue),
        "refunds": _amounts(row.refunds),
        "net_revenue": _amounts(row.net_revenue),
    }


_MONEY = ("revenue", "refunds", "net_revenue")


def _amounts(by_currency: dict[str, Decimal]) -> dict[str, str]:
    return {currency: f"{amount:f}" for currency, amount in sorted(by_currency.items())}


def _flat(rows: list[CommandResult]) -> list[list[str]]:
    """The rows of a table with three columns for each currency's revenue, after a row of headings."""
    if not rows:
        return []
    currencies = sorted({currency for row in rows for currency in row["revenue"]})
    names = [name for name in rows[0] if name not in _MONEY]
    amounts = [(name, currency) for currency in currencies for name in _MONEY]
    head = [*names, *(f"{name}_{currency}" for name, currency in amounts)]
    return [head] + [
        [
            *(_cell(row[name]) for name in names),
            *(row[name].get(currency, "0") for name, currency in amounts),
        ]
        for row in rows
    ]


def _cell(value: object) -> str:
    return NONE if value is None else printable(str(value))


def _table(rows: list[CommandResult]) -> str:
    cells = _flat(rows)
    return table(cells[0], cells[1:]) if cells else NONE


def _csv(rows: list[CommandResult]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([inert(cell) for cell in row] for row in _flat(rows))
    return text.getvalue().removesuffix("\n")


def _json_lines(rows: list[CommandResult]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


_FORMS: dict[str, Callable[[list[CommandResult]], str]] = {"table": _table, "csv": _csv, "jsonl": _json_lines}
