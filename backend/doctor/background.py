"""Tells of background work that fails for one of many, such as for one organization."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

from backend.domain.finding import Area, Finding, Findings
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.processes.error_words import error_words
from backend.storage.processes.failing_items import FailingItem, list_failing
from backend.storage.schema.work_item import WorkItem

ValueT = TypeVar("ValueT")
_findings = Findings(Area.BACKGROUND)


async def examine_background(database: Database, org_id: OrgId | None) -> AsyncIterator[Finding]:
    """Findings on items of background work that fail: of this organization, or of all."""
    failing = await list_failing(database, org_id)
    for item in failing:
        yield _about(item)
    if not failing:
        yield _findings.ok("items", "Background work fails for none of its items.")


def readable(items: Iterable[WorkItem[ValueT]]) -> tuple[list[ValueT], list[Finding]]:
    """Those of these documents that can be read, and a finding on each of the others."""
    values, findings = [], []
    for item in items:
        try:
            values.append(item.read())
        except Exception as error:
            findings.append(_unexamined(item.id, error))
    return values, findings


async def examined(subject: str, findings: AsyncIterator[Finding]) -> AsyncIterator[Finding]:
    """These findings on one of many. What can't be examined is a finding, too. Raises StorageError."""
    try:
        async for finding in findings:
            yield finding
    except StorageError:
        raise
    except Exception as error:
        yield _unexamined(subject, error)


def _unexamined(subject: str, error: Exception) -> Finding:
    return _findings.error(
        subject,
        f"It can't be examined, since what is stored can't be read: {error_words(error)}.",
        "It was damaged, or stored by a newer version: compare it with others in MongoDB.",
    )


def _about(item: FailingItem) -> Finding:
    owner = f" of {item.org_id}" if item.org_id not in {None, item.item} else ""
    times = "once" if item.tries == 1 else f"{item.tries:,} times"
    return _findings.error(
        f"{item.work}: {item.item}{owner}",
        f"It failed {times} since {item.since:%Y-%m-%d %H:%M} UTC: {item.error}. "
        f"It is tried again after {item.again_at:%H:%M:%S}; all others go on.",
        "The service's log has the whole error below this id.",
    )
