"""`waylink organization`."""

from __future__ import annotations

import click

from backend.cli.command import Result, stored, utc_now
from backend.storage import organizations
from backend.storage.mongo import Database


@click.group()
def organization() -> None:
    """Organizations: who owns links, keys, domains and origins."""


@organization.command("create")
@click.argument("name")
@stored
async def create_organization(database: Database, name: str) -> Result:
    """Create an organization called NAME and print its id."""
    if not name.strip():
        raise click.BadParameter("an organization needs a name", param_hint="NAME")
    created = await organizations.create_organization(database, name.strip(), utc_now())
    return {"id": created.id, "name": created.name}


@organization.command("list")
@stored
async def list_organizations(database: Database) -> Result:
    """List the organizations."""
    found = await organizations.list_organizations(database)
    return {"organizations": [{"id": each.id, "name": each.name} for each in found]}
