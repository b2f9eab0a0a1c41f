"""Column charts as plain numbers, which a template turns into SVG, HTML and a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.analytics import Count

# The drawing's own units; the page stretches it.
WIDTH = 1000
HEIGHT = 100
_GAP = 0.22  # of a column's room


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its position and size, and the count that it shows."""

    x: float
    y: float
    width: float
    height: float
    room_x: float
    room_width: float
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Chart:
    """The columns on a scale from 0 to `top`. `marks` are the labels below, from left to right."""

    columns: list[Column]
    top: int
    marks: list[str]
    total: int


def column_chart(counts: Sequence[Count], form: str) -> Chart:
    """A chart of these counts. `form` is the format of the time labels (as for strftime)."""
    top = _round_top(max((each.count for each in counts), default=0))
    room = WIDTH / max(len(counts), 1)
    columns = [_column(number, each, room, top, form) for number, each in enumerate(counts)]
    marks = [columns[n].label for n in (0, len(columns) // 2, len(columns) - 1)] if columns else []
    return Chart(columns, top, marks, sum(each.count for each in counts))


def _column(number: int, each: Count, room: float, top: int, form: str) -> Column:
    height = each.count / top * HEIGHT
    # Every count above zero is visible, however small it is beside the others.
    height = max(height, 1.5) if each.count else 0
    return Column(
        x=round(number * room + room * _GAP / 2, 2),
        y=round(HEIGHT - height, 2),
        width=round(room * (1 - _GAP), 2),
        height=round(height, 2),
        room_x=round(number * room, 2),
        room_width=round(room, 2),
        label=each.start.strftime(form),
        count=each.count,
    )


def _round_top(highest: int) -> int:
    """The next number that is easy to read and to halve: 2, 4, ... 12, 16, 20, 30, 40, ... 120, ..."""
    steps = (2, 4, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80)
    magnitude = 1
    while True:
        for step in steps:
            if highest <= step * magnitude:
                return step * magnitude
        magnitude *= 10
