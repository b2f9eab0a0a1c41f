"""`waylink limit`."""

from __future__ import annotations

import click

from backend.cli.command import Result, org_option, stored
from backend.storage import organizations
from backend.storage.limited import Limited, list_limited
from backend.storage.mongo import Database


@click.group()
def limit() -> None:
    """Limits: how much may come from a key or an address."""


@limit.command("refused")
@org_option
@stored
async def list_refused(database: Database, org_id: str) -> Result:
    """List what limits refused of an organization in the last thirty days, by limit."""
    await organizations.get_organization(database, org_id)
    return {"refused": [_row(each) for each in await list_limited(database, org_id)]}


def _row(each: Limited) -> Result:
    """The limit's name, requests that it refused, time of the last."""
    return {
        "limit": each.limit,
        "requests": each.requests,
        "last": each.last.isoformat(timespec="seconds"),
    }
