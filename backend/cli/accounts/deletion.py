"""Commands of `waylink organization` that delete one, and that keep one whose deletion is announced."""

from __future__ import annotations

import sys
from collections import Counter

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm_by_name, yes_option
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.ids import OrgId
from backend.storage.accounts import announced_deletions, organizations
from backend.storage.accounts.deleted_organizations import find_deletion
from backend.storage.accounts.restores import unfinished_restores
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.system.clock import utc_now


@click.command("deletions")
@stored
async def list_deletions(database: Database) -> CommandResult:
    """List the organizations that owners have announced to delete, the next one first.

    `waylink organization keep` takes a deletion back.
    """
    announced = await announced_deletions.list_announced(database)
    owners = await organizations.find_organizations(database, [deletion.org_id for deletion in announced])
    names = {owner.id: owner.name for owner in owners}
    return {
        "deletions": [
            {
                "org_id": deletion.org_id,
                "name": names.get(deletion.org_id, ""),
                "at": deletion.at.isoformat(timespec="seconds"),
                "asked_by": deletion.asked_by,
            }
            for deletion in announced
        ]
    }


@click.command("keep")
@org_option
@stored
async def keep(database: Database, org_id: OrgId) -> CommandResult:
    """Take back the announced deletion of an organization, which so stays as it is."""
    deletion = await announced_deletions.take_back_deletion(database, org_id)
    return {"org_id": org_id, "kept": True, "was_asked_by": deletion.asked_by}


@click.command("delete")
@org_option
@yes_option
@click.option("--no-wait", is_flag=True, help="Leave the last look to a running service.")
@stored
async def delete(database: Database, org_id: OrgId, is_confirmed: bool, no_wait: bool) -> CommandResult:
    """Delete an organization with all its links, counts, visitors' data, keys and domains.

    Users of no other organization are deleted too. Nothing can be brought back, but from what `waylink
    export` wrote before. It takes two minutes: at their end it looks once more, for clicks that were being
    counted. After an interruption run it again; a running service goes on with it as well. Of an organization
    whose restore was not finished, what that has stored is deleted.
    """
    # It needs all collections.
    from backend.storage.lifecycle.organization_deletion import delete_organization  # noqa: PLC0415

    if org_id in await unfinished_restores(database):
        question = f"Delete what an unfinished restore stored of the organization {printable(org_id)}?"
        confirm_by_name(question, org_id, is_confirmed)
    elif not await find_deletion(database, org_id):
        owner = await organizations.get_organization(database, org_id)
        number = await links.count_links(database, org_id)
        question = f"Delete the organization {printable(owner.name)} with {number:,} links and all data?"
        confirm_by_name(question, owner.name, is_confirmed)
    click.echo("From now on nothing of it can be used. Deleting all of it ...", err=True)
    deleted = await delete_organization(database, org_id, utc_now())
    if not no_wait:
        deleted += await _last_look(database, org_id)
    unfinished = await find_deletion(database, org_id)
    over_at = {"goes_on_until": unfinished.over_at.isoformat()} if unfinished else {}
    return {"org_id": org_id, "deleted": not unfinished, **over_at, "documents": deleted.total(), **+deleted}


async def _last_look(database: Database, org_id: OrgId) -> Counter[str]:
    """Wait until nothing can come late any more, and delete what came. Returns how many documents."""
    from backend.storage.lifecycle.organization_deletion import end_deletion  # noqa: PLC0415

    click.echo("What was there is deleted. Waiting for clicks that were just being stored;", err=True)
    click.echo("Ctrl-C leaves these to a running service.", err=True)
    with click.progressbar(length=1, label="Waiting", file=sys.stderr) as bar:
        longest = 0

        def show(seconds: float) -> None:
            nonlocal longest
            longest = bar.length = max(longest, round(seconds), 1)
            bar.update(longest - round(seconds) - bar.pos)

        return await end_deletion(database, org_id, utc_now, show)
