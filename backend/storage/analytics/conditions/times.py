"""The parts of the time that something is in."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from math import gcd

from backend.domain.analytics.period import Spans
from backend.storage.analytics.conditions.asked import QUARTER_MS, Asked
from backend.storage.analytics.conditions.given import Given


class TimeColumns:
    """Numbers parts of the time by the order of their labels' texts.

    `join` is to be joined where the time is `at`, and `number` says in which part it is: null where that is
    in no row. Both are nothing to somebody who does not ask for parts.
    """

    def __init__(self, asked: Asked, at: str, given: Given) -> None:
        self.join, self.number = "", ""
        if not asked.has_time:
            return
        numbers = {label: number for number, label in enumerate(asked.labels)}
        unit = _unit(asked.spans)
        begin = f"({at} - {given(asked.start)}) // {given(unit * QUARTER_MS)}"
        first = asked.spans.first
        parts = [
            ((each.first - first) // unit, (each.end - first) // unit, numbers.get(each.label or ""))
            for each in asked.spans
        ]
        if all(end == begin + 1 and number == begin for begin, end, number in parts):
            self.number = f"({begin})::INTEGER"
            return
        begins, ends, of = (given(list(column)) for column in zip(*parts, strict=True))
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
    """The longest time, in quarters of an hour, that no edge of a span divides."""
    return max(1, gcd(*(each.end - each.first for each in spans)))
