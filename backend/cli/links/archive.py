"""`waylink links archive`: take a link away, and bring it back."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.confirm import confirm, yes_option
from backend.cli.links.own_link import carry_out, in_words, own_link
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.ids import OrgId
from backend.domain.links.operations import ArchiveLink, ChangeLink
from backend.environment import load_settings
from backend.storage.driver.mongo import Database


@click.command("archive")
@click.argument("link")
@org_option
@click.option("--undo", "is_undone", is_flag=True, help="Take it out of the archive, as it was before.")
@yes_option
@stored_and_shown(in_words)
async def archive(
    database: Database, link: str, org_id: OrgId, is_undone: bool, is_confirmed: bool
) -> CommandResult:
    """Archive LINK, an id or a short URL: visitors get the error page, its path and counts are kept."""
    stored_link = await own_link(database, org_id, link)
    if is_undone:
        return await carry_out(database, org_id, ChangeLink(stored_link.id, {"is_archived": False}))
    short_url = load_settings().short_url_form.write(stored_link.domain, stored_link.path)
    confirm(f"Archive {printable(short_url)}? Visitors get the error page then.", is_confirmed)
    return await carry_out(database, org_id, ArchiveLink(stored_link.id))
