"""`waylink funnel`: how many go on from one step to the next, of saved funnels and others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, run_on_database, stored
from backend.cli.options import json_option, org_option
from backend.cli.table import NONE, table
from backend.domain.analytics.funnels.answer import (
    FunnelAnswer,
    FunnelGroup,
    StepTimes,
    funnel_answer_json,
    share,
    stopped,
)
from backend.domain.analytics.funnels.input import funnel_json, parse_funnel_query
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.analytics.funnels.words import step_words
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.durations import duration_words
from backend.domain.errors import FieldError, OperatorError
from backend.domain.ids import OrgId
from backend.domain.sales.credit_rules import CreditTo
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.analytics.query_questions import AskFunnel
from backend.storage.driver.mongo import Database
from backend.storage.resources.things import Things
from backend.system.clock import utc_now

_PERIODS = click.Choice([period.value for period in MovingPeriod])
# What the command line calls fields that have other names there.
_OPTIONS = {"steps": "--step", "ordered": "--any-order"}


class NoSuchFunnel(OperatorError):
    """The organization has no saved funnel of this name or id."""

    def __init__(self, named: str, known: Sequence[SavedFunnel]) -> None:
        names = ", ".join(saved.name for saved in known) or "none"
        super().__init__(f"There is no funnel {named}. Saved are: {names}.")


@click.group()
def funnel() -> None:
    """Funnels: how many go on from one step to the next, and how long it takes."""


@funnel.command("list")
@org_option
@stored
async def funnel_list(database: Database, org_id: OrgId) -> CommandResult:
    """List the saved funnels."""
    await organizations.get_organization(database, org_id)
    saved = await Things(SAVED_FUNNELS).list(database, org_id)
    return {"funnels": [SAVED_FUNNELS.to_json(funnel) for funnel in saved]}


@funnel.command("ask")
@org_option
@click.argument("name", required=False)
@click.option(
    "--step", "steps", multiple=True, metavar="STEP",
    help="click, lead, event, event:NAME, conversion, or JSON as in the REST API; two to eight of them.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice([to.value for to in CreditTo]), help="Who does the steps.  [default: device]"
)
@click.option("--within-days", type=int, help="How long after the first step.  [default: 30]")
@click.option("--any-order", is_flag=True, help="The steps in any order.")
@click.option("--group-by", help="A field of the first step, such as campaign or country.")
@click.option("--from", "from_", help="When the first step is done, as 2026-01-31.  [default: 28 days]")
@click.option("--to", help="The end, which is not included.  [default: the end of today]")
@click.option("--period", type=_PERIODS, help="Instead of --from and --to.")
@click.option("--timezone", help="IANA time zone in which days begin, as Europe/Berlin.  [default: UTC]")
@json_option
def funnel_ask(as_json: bool, **arguments: Any) -> None:
    """Ask a funnel: one that is saved under NAME (or has this id), or the steps that are given.

    Options that are given beside NAME are asked in the place of what is saved.
    """
    answer: FunnelAnswer = run_on_database(_ask, arguments)["answer"]
    if as_json:
        click.echo(json.dumps(funnel_answer_json(answer, load_settings().short_url_form)))
        return
    click.echo(_steps_table(answer))
    if answer.query.funnel.group_by:
        click.echo(f"\n{_groups_table(answer)}")
    for note in answer.notes:
        click.echo(f"Note: {note}", err=True)


async def _ask(database: Database, org_id: OrgId, name: str | None, **options: Any) -> CommandResult:
    await organizations.get_organization(database, org_id)
    body = await saved_funnel_body(database, org_id, name) if name else {}
    try:
        query = parse_funnel_query(body | _body(**options), utc_now())
        async with analytics_client(database) as analytics:
            return {"answer": await analytics.ask(org_id, AskFunnel(query))}
    except FieldError as error:
        field, _, rest = error.field.partition("[")
        option = _OPTIONS.get(field, f"--{field.replace('_', '-')}")
        raise click.UsageError(f"{option} {f'[{rest} ' if rest else ''}{error.rule}") from None


async def saved_funnel_body(database: Database, org_id: OrgId, name: str) -> dict[str, Any]:
    """The fields of the saved funnel of this name or id. Of two with one name, the older one.

    Raises NoSuchFunnel.
    """
    known = await Things(SAVED_FUNNELS).list(database, org_id)
    found = next((saved for saved in known if name in {saved.id, saved.name}), None)
    if found is None:
        raise NoSuchFunnel(name, known)
    return funnel_json(found.funnel)


def _body(
    steps: Sequence[str], any_order: bool, group_by: str | None, from_: str | None, **options: Any
) -> dict[str, Any]:
    """The fields of a question from the options that are given."""
    body = {name: value for name, value in options.items() if value is not None}
    if steps:
        body["steps"] = [_step(text) for text in steps]
    if any_order:
        body["ordered"] = False
    if group_by is not None:
        body["group_by"] = [group_by] if group_by else []
    if from_ is not None:
        body["from"] = from_
    return body


def _step(text: str) -> object:
    """A step as its JSON has it. Raises UsageError for a text that should be JSON and is not."""
    if text.startswith("{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise click.UsageError(f"--step {text} must be JSON") from None
    kind, separator, name = text.partition(":")
    return {"kind": kind, "name": name if separator else None}


def _steps_table(answer: FunnelAnswer) -> str:
    headings = ("step", "people", "of_first", "of_previous", "stopped", "median", "90_%")
    rows = [
        (
            f"{number + 1} {step_words(step)}",
            times.count,
            _percent(share(times.count, answer.steps[0].count)),
            _percent(share(times.count, answer.steps[number - 1].count)) if number else None,
            stopped(answer.steps, number),
            _took(times.median),
            _took(times.p90),
        )
        for number, (step, times) in enumerate(zip(answer.query.funnel.steps, answer.steps, strict=True))
    ]
    return table(headings, rows)


def _took(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else duration_words(timedelta(milliseconds=milliseconds))


def _groups_table(answer: FunnelAnswer) -> str:
    funnel = answer.query.funnel
    steps = [f"{number} {step_words(step)}" for number, step in enumerate(funnel.steps, 1)]
    headings = [funnel.group_by.value if funnel.group_by else "", *steps, "all_the_way"]
    return table(headings, [_group_row(group) for group in answer.groups])


def _group_row(group: FunnelGroup) -> list[object]:
    named = group.value if group.kind is None else f"({group.kind.words.lower()})"
    last: StepTimes = group.steps[-1]
    reached = _percent(share(last.count, group.steps[0].count))
    return [NONE if named is None else named, *(step.count for step in group.steps), reached]


def _percent(part: float | None) -> str | None:
    return None if part is None else f"{100 * part:.1f} %"
