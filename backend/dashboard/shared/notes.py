"""The organization's notes in the chart of a report, where whoever shared it wants them there.

They are those that the same view has in the dashboard. Nothing leads to the form of a note.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.dashboard.analytics.marks import Mark, Noted, placed_marks, read_noted
from backend.dashboard.shared.asking import ReportAnswer
from backend.domain.analytics.query import Query, QueryField
from backend.domain.ids import OrgId
from backend.domain.reports.views import ReportView
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database


async def read_shared_notes(
    database: Database, analytics: Analytics, org_id: OrgId, view: ReportView
) -> Noted:
    """What was noted about the time and the filters of the view."""
    return await read_noted(database, analytics, org_id, view.period, _filters(view.queries[0]))


def shown_marks(answer: ReportAnswer, noted: Noted) -> Sequence[Mark]:
    """The notes at the rows of the chart; none, where nothing is drawn over time."""
    course = answer.answers[0]
    field = course.query.time_field
    if field is None or len(course.query.group_by) > 1:
        return ()
    rows = sorted(course.rows, key=lambda row: row.group[0] or "")
    return placed_marks(noted, rows, course.query.period, field)


def _filters(query: Query) -> dict[QueryField, str | None]:
    """What each filter leaves if that is one value; else None, as what has no value."""
    return {
        by: next(iter(chosen)) if isinstance(chosen, frozenset) and len(chosen) == 1 else None
        for by, chosen in query.filters.items()
    }
