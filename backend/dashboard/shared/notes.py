"""The organization's notes in the chart of a report, where whoever shared it wants them there.

They are those that the same view has in the dashboard. Nothing leads to the form of a note.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.dashboard.analytics.marks import Mark, placed_marks
from backend.dashboard.shared.asking import ReportAnswer
from backend.storage.reports.noted import Noted


def shown_marks(answer: ReportAnswer, noted: Noted) -> Sequence[Mark]:
    """The notes at the rows of the chart; none, where nothing is drawn over time."""
    course = answer.answers[0]
    field = course.query.time_field
    if field is None or not answer.view.has_course:
        return ()
    rows = sorted(course.rows, key=lambda row: row.group[0] or "")
    return placed_marks(noted, rows, course.query.period, field)
