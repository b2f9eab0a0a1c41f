"""`waylink upgrade`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from backend.cli.command import CommandResult, run_on_database
from backend.cli.options import json_option
from backend.cli.table import table
from backend.storage.database import Indexes
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.upgrade import Plan, plan_upgrade
from backend.version import VERSION

# Exit codes beside 1, which is an error: what the data needs.
_WORK_TO_DO = 3
_NOT_POSSIBLE = 4


@click.command()
@click.option("--check", is_flag=True, help="Say what this version will do with the stored data.")
@json_option
def upgrade(check: bool, as_json: bool) -> None:
    """Say what this version makes of the stored data, before its service is started.

    Changes nothing, and may run beside a service of the former version. Exit code 0: the data is as this
    version stores it; 3: there is something to do, which the service does; 4: the service would not start.
    """
    if not check:
        raise click.UsageError(
            "To upgrade, start the service of the new version. --check says what it will do."
        )
    plan: Plan = run_on_database(_plan, {}, Indexes.LEAVE)["plan"]
    result = {"version": VERSION, **asdict(plan)}
    click.echo(json.dumps(result) if as_json else "\n".join(_sentences(plan)))
    if plan.obstacles:
        raise SystemExit(_NOT_POSSIBLE)
    if plan.steps:
        raise SystemExit(_WORK_TO_DO)


async def _plan(database: Database) -> CommandResult:
    return {"plan": await plan_upgrade(database)}


def _sentences(plan: Plan) -> Iterator[str]:
    if plan.obstacles:
        yield f"The service of version {VERSION} would not start:"
        yield from plan.obstacles
    if plan.steps:
        yield f"Before it answers, the service of version {VERSION} will:"
        yield table(["what", "documents"], [(step.what, f"{step.documents:,}") for step in plan.steps])
    elif not plan.obstacles:
        yield f"The data is as version {VERSION} stores it: there is nothing to do."
