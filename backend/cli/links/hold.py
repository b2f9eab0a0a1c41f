"""`waylink links hold`, `release` and `held`: stop links, and let them go again."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.links.input import HOLD_REASON
from backend.domain.links.links import Link
from backend.environment import load_settings
from backend.storage.driver.mongo import Database
from backend.storage.links.writing import holds as link_holds
from backend.system.clock import utc_now


def _reason(_: click.Context, __: click.Parameter, text: str) -> str:
    try:
        return HOLD_REASON.parse("the reason", text.strip())
    except InvalidField as error:
        raise click.BadParameter(str(error)) from None


@click.command("hold")
@click.argument("link_id", metavar="ID")
@click.option(
    "--why", required=True, metavar="TEXT", callback=_reason,
    help="The reason, which the organization reads; visitors don't.",
)  # fmt: skip
@stored
async def hold(database: Database, link_id: LinkId, why: str) -> CommandResult:
    """Stop the link ID of any organization: visitors get a page that says so.

    Its organization can change and archive it, but neither release nor purge it.
    """
    return _row(await link_holds.hold_link(database, link_id, why, utc_now()))


@click.command("release")
@click.argument("link_id", metavar="ID")
@stored
async def release(database: Database, link_id: LinkId) -> CommandResult:
    """Let the link ID go on, as its organization left it."""
    return _row(await link_holds.release_link(database, link_id, utc_now()))


@click.command("held")
@stored
async def list_held(database: Database) -> CommandResult:
    """List the links that are held, of all organizations, the latest first."""
    return {"links": [_row(link) for link in await link_holds.list_held(database)]}


def _row(link: Link) -> CommandResult:
    """The output for one link."""
    held = {"held_at": link.hold.at.isoformat(), "why": link.hold.why} if link.hold else {}
    return {
        "id": link.id,
        "short_url": load_settings().short_url_form.write(link.domain, link.path),
        "org_id": link.org_id,
        "state": link.state_at(utc_now()).value,
        **held,
    }
