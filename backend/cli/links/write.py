"""`waylink links create` and `update`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.links.field_options import body_of, field_options, sets_password, with_password
from backend.cli.links.link_errors import link_errors
from backend.cli.links.own_link import carry_out, in_words, own_link
from backend.cli.options import org_option
from backend.domain.ids import OrgId
from backend.domain.links.input import CHANGE_FIELDS, NEW_LINK_FIELDS, parse_changes, parse_new_link
from backend.domain.links.operations import ChangeLink, operation_for
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database


@click.command("create")
@org_option
@click.option("--domain", metavar="DOMAIN", help="The link domain.")
@click.option("--path", "selected_path", metavar="TEXT", help="Its path; one is made if none is given.")
@click.option("--template", "utm_template", metavar="NAME", help="A UTM template that fills the rest.")
@field_options
@stored_and_shown(in_words)
async def create(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    """Create a link; it needs a domain, a destination and a name.

    With the external id of a link that exists, that is brought up to date instead, as over REST.
    """
    await get_organization(database, org_id)
    with link_errors(org_id):
        new = parse_new_link(body_of(options), NEW_LINK_FIELDS)
        new = replace(new, fields=await with_password(new.fields, options))
    return await carry_out(database, org_id, operation_for(new))


@click.command("update")
@click.argument("link")
@org_option
@click.option("--add-tag", "add_tags", multiple=True, metavar="NAME", help="A tag to add; may be repeated.")
@click.option(
    "--remove-tag", "remove_tags", multiple=True, metavar="NAME", help="A tag to take off; may be repeated."
)
@click.option("--no-password", is_flag=True, help="Ask visitors for no password any more.")
@field_options
@stored_and_shown(in_words)
async def update(database: Database, link: str, org_id: OrgId, **options: Any) -> CommandResult:
    """Change the fields of LINK, an id or a short URL, that are given.

    An empty text clears a field that a link may lack, as --utm-source "" or --field max_clicks=null. If one
    field is refused, nothing is changed.
    """
    stored_link = await own_link(database, org_id, link)
    if options["no_password"] and sets_password(options):
        raise click.UsageError("--no-password can't be given with a password")
    with link_errors(org_id):
        changes = parse_changes(body_of(options), CHANGE_FIELDS)
        changes = await with_password(changes, options)
    if not changes:
        raise click.UsageError("Nothing to change: give at least one field.")
    return await carry_out(database, org_id, ChangeLink(stored_link.id, changes))
