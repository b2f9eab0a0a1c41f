"""`waylink origin`."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.domain.accounts.origins import InvalidOrigin, parse_origin
from backend.domain.ids import OrgId
from backend.storage.accounts import organizations, origin_refusals, origins
from backend.storage.accounts.origin_refusals import RefusedOrigin
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now


@click.group()
def origin() -> None:
    """Allowed Web Origins: the sites that may use the browser SDK."""


@origin.command("add")
@click.argument("origin_text", metavar="ORIGIN")
@org_option
@stored
async def add_origin(database: Database, origin_text: str, org_id: OrgId) -> CommandResult:
    """Allow ORIGIN, such as https://shop.com or https://*.shop.com."""
    parsed = _parse_origin(origin_text)
    await organizations.get_organization(database, org_id)
    await origins.add_origin(database, parsed, org_id, utc_now())
    return {"origin": parsed, "org_id": org_id}


@origin.command("remove")
@click.argument("origin_text", metavar="ORIGIN")
@org_option
@yes_option
@stored
async def remove_origin(
    database: Database, origin_text: str, org_id: OrgId, is_confirmed: bool
) -> CommandResult:
    """Stop allowing ORIGIN."""
    parsed = _parse_origin(origin_text)
    confirm(f"Refuse the browser SDK on {parsed} from now on?", is_confirmed)
    if not await origins.remove_origin(database, parsed, org_id):
        raise click.ClickException(f"{parsed} was not allowed; `waylink origin list --org ID` shows what is.")
    return {"origin": parsed, "removed": True}


@origin.command("list")
@org_option
@stored
async def list_origins(database: Database, org_id: OrgId) -> CommandResult:
    """List an organization's allowed origins."""
    await organizations.get_organization(database, org_id)
    return {"origins": await origins.list_origins(database, org_id)}


@origin.command("refused")
@org_option
@stored
async def list_refused(database: Database, org_id: OrgId) -> CommandResult:
    """List the latest browser requests that were refused because of their origin, by origin."""
    await organizations.get_organization(database, org_id)
    recent = await origin_refusals.list_origin_refusals(database, org_id)
    return {"refused": [_row(refused) for refused in origin_refusals.by_origin(recent)]}


def _row(refused: RefusedOrigin) -> CommandResult:
    """The output for one origin: name, its number among the latest hundred requests, last time, reason."""
    return {
        "origin": refused.origin or "(none)",
        "requests": refused.requests,
        "last": refused.last.at.isoformat(timespec="seconds"),
        "reason": refused.last.reason,
    }


def _parse_origin(text: str) -> str:
    try:
        return parse_origin(text)
    except InvalidOrigin as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint="ORIGIN") from None
