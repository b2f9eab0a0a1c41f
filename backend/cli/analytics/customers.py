"""`waylink report cohorts`, `time-to-sale` and `new-customers`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import zip_longest
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.analytics.credit_options import credit_options
from backend.cli.analytics.filter_options import FILTER_OPTIONS, GivenFilters, filter_options
from backend.cli.command import CommandResult, run_on_database
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
from backend.domain.durations import duration_words
from backend.domain.errors import FieldError
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.storage.driver.mongo import Database
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
