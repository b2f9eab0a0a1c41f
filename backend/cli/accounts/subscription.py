"""`waylink subscription`."""

from __future__ import annotations

from datetime import UTC, datetime, time

import click

from backend.cli.command import CommandResult, stored
from backend.cli.options import org_option
from backend.domain.fields.times.written_times import written_day, written_moment
from backend.domain.ids import OrgId
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database


@click.group()
def subscription() -> None:
    """The paid subscription, which install analytics need."""


@subscription.command("set")
@org_option
@click.option(
    "--until", required=True, metavar="DATE", help="Last day, as 2027-12-31 (UTC), or a date-time, or `none`."
)
@stored
async def set_subscription(database: Database, org_id: OrgId, until: str) -> CommandResult:
    """Set the last day of an organization's subscription."""
    end = _end_of_day(until)
    await organizations.set_subscription(database, org_id, end)
    return {"org_id": org_id, "until": end.isoformat() if end else None}


def _end_of_day(text: str) -> datetime | None:
    if text == "none":
        return None
    if day := written_day(text):
        return datetime.combine(day, time.max.replace(microsecond=0), UTC)
    if moment := written_moment(text):
        return moment
    raise click.BadParameter(f"{text!r} is not a date such as 2027-12-31", param_hint="--until")
