"""`waylink ledger`."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

import click

from backend.cli.command import CommandResult, run_on_database, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.clicks.signing_keys import replace_signing_key, signing_key
from backend.storage.driver.mongo import Database
from backend.storage.ledger.ed25519 import public_key
from backend.storage.ledger.statement_signing import KEY
from backend.storage.ledger.statements import statements_since


@click.group()
def ledger() -> None:
    """What proves the counts of clicks to others: the installation's key, and the days that it signed."""


@ledger.command("key")
@stored
async def show_key(database: Database) -> CommandResult:
    """Print the public key with which days of the ledger are signed, for partners to keep."""
    return {"public_key": public_key(await signing_key(database, KEY))}


@ledger.command("new-key")
@yes_option
@stored
async def new_key(database: Database, is_confirmed: bool) -> CommandResult:
    """Sign with a new key from now on. What is signed stays as it is.

    The old key is deleted, so that nobody can sign with it any more. Give the new one to your partners.
    """
    confirm("Delete the key that signs the ledger, and make a new one?", is_confirmed)
    return {"public_key": public_key(await replace_signing_key(database, KEY))}


@ledger.command("statements")
@org_option
@click.option("--from", "first", type=click.DateTime(["%Y-%m-%d"]), help="From this day on, as 2026-01-31.")
def statements(**arguments: Any) -> None:
    """Print the signed statements of an organization's days, one JSON object on each line.

    Hand the last one over to your partners every day: then the past can't be rewritten.
    """
    run_on_database(_statements, arguments)


async def _statements(database: Database, org_id: OrgId, first: datetime | None) -> CommandResult:
    await get_organization(database, org_id)
    day: date | None = first.date() if first else None
    async for signed in statements_since(database, org_id, day):
        click.echo(json.dumps({**asdict(signed.statement), "signature": signed.signature}))
    return {}
