"""`waylink limit`."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.cli.options import org_option
from backend.domain.ids import OrgId
from backend.storage.accounts import organizations
from backend.storage.accounts.rate_limited_requests import RateLimitedRequests, list_rate_limited
from backend.storage.driver.mongo import Database


@click.group()
def limit() -> None:
    """Rate limits: how much may come from a key or an address."""


@limit.command("refused")
@org_option
@stored
async def list_refused(database: Database, org_id: OrgId) -> CommandResult:
    """List how many requests of an organization each limit refused in the last thirty days."""
    await organizations.get_organization(database, org_id)
    return {"refused": [_row(refused) for refused in await list_rate_limited(database, org_id)]}


def _row(refused: RateLimitedRequests) -> CommandResult:
    """The output for one limit: its name, the number of refused requests, and the time of the last one."""
    return {
        "limit": refused.limit,
        "requests": refused.requests,
        "last": refused.last.isoformat(timespec="seconds"),
    }
