"""`waylink domain orphans`: what people asked a domain for and no link has."""

from __future__ import annotations

from datetime import timedelta

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.domains.own_domain import check_own_domain, host
from backend.cli.options import org_option
from backend.cli.table import table
from backend.domain.domains.json_form import not_kept_json, orphan_json
from backend.domain.ids import OrgId
from backend.environment import load_settings
from backend.storage.driver.mongo import Database
from backend.storage.links.nearest import with_nearest
from backend.storage.links.orphans import KEPT, find_orphans
from backend.system.clock import utc_now


def _show(result: CommandResult) -> str:
    rows = [
        (
            f"/{orphan['path']}",
            orphan["visits"],
            orphan["last_at"],
            ", ".join(
                f"{referrer['host'] or 'no page'} {referrer['visits']}"
                for referrer in orphan["referrers"][:3]
            ),
            orphan["nearest"],
        )
        for orphan in result["orphans"]
    ]
    not_kept = ", ".join(f"{visits} {reason}" for reason, visits in result["not_kept"].items())
    return f"{table(('path', 'visits', 'last', 'from', 'nearest'), rows)}\nNot kept: {not_kept}."


@click.command("orphans")
@click.argument("domain_name", metavar="DOMAIN")
@org_option
@click.option("--days", type=click.IntRange(1, KEPT.days), default=30, show_default=True, help="Days back.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="Paths.")
@stored_and_shown(_show)
async def list_orphans(
    database: Database, domain_name: str, org_id: OrgId, days: int, limit: int
) -> CommandResult:
    """List what people asked DOMAIN for and no link has, most visits first, with the nearest link."""
    name = host(domain_name)
    await check_own_domain(database, name, org_id)
    end = utc_now().date() + timedelta(days=1)
    found = await find_orphans(database, org_id, name, end - timedelta(days=days), end)
    short_urls = load_settings().short_url_form
    shown = await with_nearest(database, org_id, name, found.orphans[:limit], short_urls)
    return {
        "orphans": [orphan_json(orphan, nearest) for orphan, nearest in shown],
        "not_kept": not_kept_json(found.not_kept),
    }
