"""The parts of the time, such as days, in which facts happened."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from math import gcd

from backend.domain.analytics.period import Spans
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QUARTER_MS, QueriedPeriod


class TimeColumns:
    """Numbers parts of the time by the order of their labels' texts.

    `join` joins the parts to rows whose time is the expression `at`. `number` is the expression of the part's
    number, null where the part has no row. Both are empty if rows are not by a part of the time.
    """

    def __init__(self, period: QueriedPeriod, at: str, parameters: SqlParameters) -> None:
        self.join, self.number = "", ""
        if not period.has_time:
            return
        numbers = {label: number for number, label in enumerate(period.labels)}
        unit = _unit(period.spans)
        begin = f"({at} - {parameters(period.start)}) // {parameters(unit * QUARTER_MS)}"
        first = period.spans.first
        parts = [
            ((span.first - first) // unit, -((first - span.end) // unit), numbers.get(span.label or ""))
            for span in period.spans
        ]
        if all(end == begin + 1 and number == begin for begin, end, number in parts):
            self.number = f"({begin})::INTEGER"
            return
        begins, ends, of = (parameters(list(column)) for column in zip(*parts, strict=True))
        self.join = f"""
            JOIN (
                SELECT unnest(range(first, stop)) AS unit, number
                FROM (
                    SELECT unnest({begins}::BIGINT[]) AS first, unnest({ends}::BIGINT[]) AS stop,
                        unnest({of}::INTEGER[]) AS number
                )
            ) AS times ON times.unit = {begin}
        """
        self.number = "times.number"


def _unit(spans: Spans) -> int:
    """The longest time, in quarters of an hour, that no edge between spans divides.

    Nothing is counted behind the last span: so a day that has just begun is numbered as whole ones are.
    """
    return gcd(*(span.first - spans.first for span in spans)) or max(1, spans.end - spans.first)
