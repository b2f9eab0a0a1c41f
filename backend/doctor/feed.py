"""Tells which readers of an organization's feed found that MongoDB was put back from a backup."""

from __future__ import annotations

from collections.abc import AsyncIterator

from backend.domain.accounts.organizations import Organization
from backend.domain.finding import Area, Finding, Findings
from backend.storage.driver.mongo import Database
from backend.storage.feed.put_backs import list_put_backs

_findings = Findings(Area.STORAGE)


async def examine_feed(database: Database, organization: Organization) -> AsyncIterator[Finding]:
    """What readers found within a month. Nothing is no finding."""
    for found in await list_put_backs(database, organization.id):
        yield _findings.warning(
            f"{organization.name}: {found.reader}",
            f"On {found.at:%Y-%m-%d} at {found.at:%H:%M} UTC it came with the cursor {found.cursor}, and the "
            "feed had not what was before it: MongoDB was put back from a backup. Both are the same up to "
            f"{found.common}.",
            "Events since the backup are lost. Erase people again who were erased since then.",
        )
