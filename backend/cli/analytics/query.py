"""`waylink report analytics`: the queries of the REST API on the command line."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.analytics.made_file import print_file, refuse_terminal
from backend.cli.analytics.query_options import GivenQuery, query_options
from backend.cli.command import CommandResult, run_on_database
from backend.cli.options import json_option, org_option
from backend.cli.table import NONE, table
from backend.domain.analytics.answer import AnalyticsAnswer, Row
from backend.domain.analytics.input import parse_query
from backend.domain.analytics.query import TIMES, Query
from backend.domain.analytics.rows import KIND, PARTIAL, AnswerRows
from backend.domain.clicks.rows import RowFormat
from backend.domain.errors import OperatorError
from backend.domain.ids import OrgId
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_file import QueryFile
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

_TOTALS = "TOTAL"


class SubscriptionNeeded(OperatorError):
    """The query needs an active subscription, which the organization lacks."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            "Installs need an active paid subscription; they are counted all the same. "
            f"`waylink subscription set --org {org_id} --until 2027-12-31` begins one."
        )


class ReportForm(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


# The forms that the analytics process writes as files.
_FILES = {
    ReportForm.CSV: RowFormat.CSV,
    ReportForm.JSONL: RowFormat.NDJSON,
    ReportForm.PARQUET: RowFormat.PARQUET,
}


@click.command("analytics")
@org_option
@query_options
@click.option("--limit", type=int, help="Print at most so many rows.  [default: all]")
@click.option(
    "--format", "form", type=click.Choice([form.value for form in ReportForm]), default=ReportForm.TABLE.value
)
@json_option
def report_analytics(form: str, as_json: bool, **arguments: Any) -> None:
    """Report clicks, visitors, leads, conversions, revenue and rates by time, link, campaign and more.

    Notes on how things are counted are printed on stderr. FIELD= stands for what has no such field.
    """
    file = _FILES.get(ReportForm(form))
    if file and not as_json:
        if file is RowFormat.PARQUET:
            refuse_terminal()
        _print_notes(run_on_database(_analytics_file, arguments | {"form": file})["notes"])
        return
    answer: AnalyticsAnswer = run_on_database(_analytics, arguments)["answer"]
    rows = AnswerRows(answer, load_settings().short_url_form)
    if as_json:
        click.echo(json.dumps(rows.whole()))
        return
    click.echo(_table(answer, rows))
    _print_notes(answer.notes)


def _print_notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"Note: {note}", err=True)


async def _analytics(database: Database, org_id: OrgId, limit: int | None, **options: Any) -> CommandResult:
    async with _asked(database, org_id, limit, options) as (analytics, query):
        return {"answer": await analytics.ask(org_id, AskQuery(query, is_whole=limit is None))}


async def _analytics_file(
    database: Database, org_id: OrgId, limit: int | None, form: RowFormat, **options: Any
) -> CommandResult:
    async with _asked(database, org_id, limit, options) as (analytics, query):
        question = QueryFile(query, load_settings().short_url_form, form, limit)
        return {"notes": (await print_file(analytics, org_id, question)).notes}


@asynccontextmanager
async def _asked(
    database: Database, org_id: OrgId, limit: int | None, options: dict[str, Any]
) -> AsyncIterator[tuple[Analytics, Query]]:
    """The analytics client and the parsed query, for the block. Errors of a field name its option.

    Raises UsageError and SubscriptionNeeded.
    """
    given = GivenQuery.of(options, limit)
    organization, now = await organizations.get_organization(database, org_id), utc_now()
    with given.naming_options():
        query = parse_query(given.body, now)
        if query.needs_subscription and not organization.has_subscription(now):
            raise SubscriptionNeeded(org_id)
        async with analytics_client(database) as analytics:
            yield analytics, query


def _table(answer: AnalyticsAnswer, rows: AnswerRows) -> str:
    """The rows under their headings, and the totals below them."""
    groups = answer.query.group_by
    lines = [_shown(answer, rows, row) for row in answer.rows]
    if groups and lines:
        totals = answer.totals._replace(group=(_TOTALS, *("" for _ in groups[1:])))
        lines.append(["" if value is None else value for value in rows.cells_of(totals)])
    headings = rows.headings()
    # The cells of the other columns say in words what these two say.
    columns = [at for at, name in enumerate(headings) if name not in {KIND, PARTIAL}]
    return table([headings[at] for at in columns], [[line[at] for at in columns] for line in lines])


def _shown(answer: AnalyticsAnswer, rows: AnswerRows, row: Row) -> list[str | None]:
    """The row's cells. Its first cells say in words what the row groups, and whether it is partial."""
    cells, groups = rows.cells_of(row), answer.query.group_by
    none = f"({row.kind.words.lower()})" if row.kind else NONE
    named = [none if value is None else value for value in cells[: len(groups)]]
    if row.is_partial:
        named = [
            f"{value} (partly)" if by in TIMES else value for by, value in zip(groups, named, strict=True)
        ]
    return [*named, *cells[len(groups) :]]
