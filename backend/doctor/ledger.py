"""Checks whether an organization's ledger is signed. Partners may be paid by the signed counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.storage.driver.mongo import Database
from backend.storage.ledger.statement_signing import unsigned_since

# A service signs a day some minutes after its end.
_SIGNING_TIME = timedelta(hours=1)
_findings = Findings(Area.LEDGER)


async def examine_ledger(database: Database, organization: Organization, now: datetime) -> Finding:
    """Whether each day that is over has its signed statement."""
    since = await unsigned_since(database, organization.id)
    if since is None or since.astimezone(UTC).date() >= (now - _SIGNING_TIME).astimezone(UTC).date():
        return _findings.ok(organization.name, "Each day that is over is signed.")
    return _findings.error(
        organization.name,
        f"What was stored since {since:%Y-%m-%d %H:%M} is not signed, so its counts can't be proved.",
        "A running service signs within minutes. If one runs, its log says why it can't.",
    )
