"""`waylink audit`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.options import org_option
from backend.cli.table import table
from backend.domain.audit.entries import entry_json
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Instant
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.audit.log import LogFilter, read_back
from backend.storage.driver.mongo import Database

_DEFAULT, _MOST = 50, 10_000


def _moment(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    try:
        return None if text is None else Instant().parse("time", text)
    except InvalidField as error:
        raise click.BadParameter(f"the {error}") from None


def _shown(result: CommandResult) -> str:
    return table(["at", "actor", "action", "target", "changed"], [_row(entry) for entry in result["entries"]])


def _row(entry: dict[str, Any]) -> list[Any]:
    names = dict.fromkeys([*(entry["before"] or {}), *(entry["after"] or {})])
    target = entry["target"]["name"] or entry["target"]["id"] or ""
    return [entry["at"], entry["actor"]["name"], entry["action"], target, ", ".join(names)]


@click.command("audit")
@org_option
@click.option("--actor", metavar="ID", help="Only what this person or key did, by id, or this kind of actor.")
@click.option("--action", metavar="ACTION", help="Only this, such as link.changed, or link for all of links.")
@click.option("--target", metavar="ID", help="Only what was done to the link, key or other thing of this id.")
@click.option("--from", "start", metavar="TIME", callback=_moment, help="Only from this day or time on.")
@click.option("--to", "end", metavar="TIME", callback=_moment, help="Only before this day or time.")
@click.option(
    "--limit", type=click.IntRange(1, _MOST), default=_DEFAULT, show_default=True, help="The most entries."
)
@stored_and_shown(_shown)
async def audit(database: Database, org_id: OrgId, limit: int, **chosen: Any) -> CommandResult:
    """Show who changed what of an organization's, the latest first.

    With --json, also how it was before.
    """
    await get_organization(database, org_id)
    page = await read_back(database, org_id, LogFilter(**chosen), None, limit)
    return {"entries": [entry_json(entry) for entry in page.entries], "has_more": page.has_more}
