"""`waylink domain add`, `remove` and `list`: whose link domains they are."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.domains.own_domain import host
from backend.cli.options import org_option
from backend.domain.ids import OrgId
from backend.environment import load_settings
from backend.storage.accounts import domains, organizations
from backend.storage.driver.mongo import Database
from backend.storage.links.writing import domain_removal
from backend.system.clock import utc_now
from backend.web.api_host import ApiHost


@click.command("add")
@click.argument("domain_name", metavar="DOMAIN")
@org_option
@stored
async def add_domain(database: Database, domain_name: str, org_id: OrgId) -> CommandResult:
    """Let an organization create links on DOMAIN, such as go.shop.com."""
    name = host(domain_name)
    if ApiHost(load_settings().base_url).owns(name):
        raise click.BadParameter(f"{name} is the API's own host name (WAYLINK_BASE_URL)", param_hint="DOMAIN")
    await organizations.get_organization(database, org_id)
    await domains.insert_domain(database, name, org_id, utc_now())
    return {"domain": name, "org_id": org_id}


@click.command("remove")
@click.argument("domain_name", metavar="DOMAIN")
@org_option
@yes_option
@stored
async def remove_domain(
    database: Database, domain_name: str, org_id: OrgId, is_confirmed: bool
) -> CommandResult:
    """Take DOMAIN from an organization, with the apps that open its links.

    Refused while it has links, archived ones included. It takes about ten seconds.
    """
    name = host(domain_name)
    await organizations.get_organization(database, org_id)
    confirm(f"Remove {name}? Other organizations may add it then.", is_confirmed)
    click.echo("Waiting for some ten seconds, until no process makes links on it any more ...", err=True)
    await domain_removal.remove_domain(database, name, org_id)
    return {"domain": name, "removed": True}


@click.command("list")
@org_option
@stored
async def list_domains(database: Database, org_id: OrgId) -> CommandResult:
    """List an organization's link domains."""
    await organizations.get_organization(database, org_id)
    return {"domains": await domains.list_domains(database, org_id)}
