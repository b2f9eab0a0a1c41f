"""`waylink links check`: whether what links lead to is still there."""

from __future__ import annotations

import sys
import uuid

import click

from backend.cli.command import CommandResult, stored
from backend.destination_watch.step import check_next_links
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import BrokenDestination
from backend.storage.links.destinations.rounds import begin_again, end_turn, take_turn
from backend.system.clock import utc_now
from backend.web_client.destination_check import DestinationCheck
from backend.web_client.page_reader import PageReader


@click.command("check")
@click.option("--org", "org_id", metavar="ID", help="Only links of this organization.")
@stored
async def check(database: Database, org_id: OrgId | None) -> CommandResult:
    """List the links whose destination answers with an error, or not at all.

    Every host is asked at most once a second. What is found is shown in the dashboard too. After an
    interruption, run it again: it goes on where it stopped.
    """
    if org_id is not None:
        await organizations.get_organization(database, org_id)
    name, holder = f"command/{'all' if org_id is None else org_id}", uuid.uuid4().hex
    reading = DestinationCheck(PageReader(allows_private=load_settings().private_destinations))
    checked = 0
    rows: list[CommandResult] = []
    try:
        while begun := await take_turn(database, name, holder, utc_now()):
            if begun.is_over:
                await begin_again(database, name, utc_now())
                continue
            step = await check_next_links(database, reading, begun, org_id, utc_now())
            if step.is_last:
                return {"checked": checked, "broken": rows}
            checked += len(step.links)
            rows += [_row(link, broken) for link in step.links for broken in step.broken.get(link.id, [])]
            click.echo(f"{checked} links checked, {len(rows)} broken", file=sys.stderr)
    finally:
        await end_turn(database, name, holder, utc_now())
    raise click.ClickException("Another process is looking at these links now.")


def _row(link: Link, broken: BrokenDestination) -> CommandResult:
    """The output for one destination."""
    return {
        "id": link.id,
        "short_url": load_settings().short_url_form.write(link.domain, link.path),
        "field": broken.field,
        "url": broken.url,
        "problem": broken.problem,
    }
