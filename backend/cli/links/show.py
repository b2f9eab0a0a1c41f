"""`waylink links show`: one link with every field."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.links.own_link import in_words, own_link, whole_link
from backend.cli.options import org_option
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database


@click.command("show")
@click.argument("link")
@org_option
@stored_and_shown(in_words)
async def show(database: Database, link: str, org_id: OrgId) -> CommandResult:
    """Show every field of LINK, an id or a short URL; also of an archived one."""
    return await whole_link(database, await own_link(database, org_id, link))
