"""Attempts: how far each person got in a funnel, as domain/analytics/funnels/attempt says.

All beginnings go on step by step, each to the next fact of its person that can be the step: `ASOF JOIN` finds
the nearest one. So a person with very many facts takes no more time than many persons with few.
"""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from backend.domain.analytics.funnels.funnel import Funnel
from backend.storage.analytics.funnels.people import TimeRange
from backend.storage.analytics.funnels.tables import FunnelTables

# What can be step {number}.
_OF_STEP = '(SELECT who, place, "at" FROM funnel_facts WHERE s{number})'


def find_attempts(tables: FunnelTables, funnel: Funnel, period: TimeRange) -> None:
    """Make the table `people` of one attempt for each person: the steps done (`depth`) and their times.

    `first` is the place of its first step among the facts, and `last`, in an ordered funnel, that of its
    last one. `t0`, `t1` and so on are null from where the person stopped.
    """
    begin = 'SELECT who, place AS first, place AS last, "at" AS t0 FROM funnel_facts WHERE s0'
    in_period = '"at" >= $range_start AND "at" < $range_end'
    tables.make("reached_0", f"{begin} AND {in_period}", period.values)
    going_on = _in_order if funnel.is_ordered else _in_any_order
    for number in range(1, len(funnel.steps)):
        tables.make(f"reached_{number}", going_on(number), {"within": funnel.within_ms})
    tables.make("people", _deepest(len(funnel.steps)))
    tables.drop(*(f"reached_{number}" for number in range(len(funnel.steps))))


def _in_order(number: int) -> str:
    """Those who did the next step after the last one, as soon as it happened."""
    return f"""
        SELECT attempts.* REPLACE (facts.place AS last), facts."at" AS t{number}
        FROM funnel_reached_{number - 1} AS attempts
        ASOF JOIN {_OF_STEP.format(number=number)} AS facts
            ON facts.who = attempts.who AND facts.place > attempts.last
        WHERE facts."at" - attempts.t0 <= $within
    """


def _in_any_order(number: int) -> str:
    """Those who did the step at most so long before or after the first one, at the time that is nearest."""
    of_step = _OF_STEP.format(number=number)
    return f"""
        SELECT * EXCLUDE (before, later), CASE
            WHEN later IS NULL OR t0 - before <= later - t0 THEN before ELSE later END AS t{number}
        FROM (
            SELECT attempts.*, before."at" AS before, later."at" AS later
            FROM funnel_reached_{number - 1} AS attempts
            ASOF LEFT JOIN {of_step} AS before ON before.who = attempts.who AND before."at" <= attempts.t0
            ASOF LEFT JOIN {of_step} AS later ON later.who = attempts.who AND later."at" >= attempts.t0
        )
        WHERE coalesce(least(t0 - before, later - t0) <= $within, false)
    """


def _deepest(steps: int) -> str:
    """Of each person the attempt with most steps, and of several the earliest."""
    parts = []
    for number in range(steps):
        went_on = f"ANTI JOIN funnel_reached_{number + 1} USING (who)" if number + 1 < steps else ""
        chosen = f"SELECT min(first) AS first FROM funnel_reached_{number} {went_on} GROUP BY who"
        parts.append(f"""
            SELECT {number + 1} AS depth, * FROM funnel_reached_{number}
            SEMI JOIN ({chosen}) USING (first)
        """)
    return " UNION ALL BY NAME ".join(parts)
