"""`waylink links reports`: what visitors reported."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.domain.ids import LinkId, OrgId
from backend.environment import load_settings
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.storage.links import reports as link_reports
from backend.storage.links.reports import ReportedLink

_MOST_LISTED = 200


@click.command("reports")
@click.option("--org", "org_id", metavar="ID", help="Only links of this organization.")
@click.option("--dismiss", "link_id", metavar="LINK", help="Forget the reports of this link instead.")
@stored
async def list_reports(database: Database, org_id: OrgId | None, link_id: LinkId | None) -> CommandResult:
    """List the links that visitors reported, the latest first.

    `waylink links hold` stops one of them.
    """
    if link_id is not None:
        if not await link_reports.dismiss_reports(database, link_id):
            raise click.ClickException(f"Nobody reported the link {link_id}.")
        return {"id": link_id, "dismissed": True}
    if org_id is not None:
        await organizations.get_organization(database, org_id)
    return {
        "reports": [
            _row(reported) for reported in await link_reports.list_reported(database, org_id, _MOST_LISTED)
        ]
    }


def _row(reported: ReportedLink) -> CommandResult:
    """The output for one link: how often it was reported, and the last report."""
    link, last = reported.link, reported.latest[0]
    return {
        "id": link.id,
        "short_url": load_settings().short_url_form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "org_id": link.org_id,
        "held": link.hold is not None,
        "reports": reported.count,
        "last": last.at.isoformat(),
        "reason": last.reason.value,
        "text": last.text,
    }
