"""What tests ask the process of a host, and tell it."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.concurrency.processes import who_locks
from backend.domain.ids import LinkId, OrgId
from backend.settings import Settings
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.messages import LOCK
from backend.storage.driver.mongo import Database
from tests.facts.clicks import click, ship

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def pid_of(settings: Settings) -> int:
    """The process that answers on this host."""
    pid = who_locks(settings.data_dir / "analytics" / LOCK)
    assert pid
    return pid


async def count(analytics: Analytics, org_id: OrgId) -> int:
    """The clicks of the link that tests click."""
    return (await analytics.ask(org_id, ClickWindow(LinkId("clicked"), NOW))).total


async def visit(database: Database, org_id: OrgId, clicks: int = 1) -> None:
    """Store clicks of the link."""
    await ship(database, [click(org_id, LinkId("clicked"), NOW) for _ in range(clicks)])
