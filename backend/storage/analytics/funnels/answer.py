"""Answers funnels from facts (docs/decisions/funnels.md)."""

# ruff: noqa: S608 - all text is of this package, and values are parameters

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import NamedLink, RowKind
from backend.domain.analytics.funnels.answer import FunnelAnswer, FunnelGroup, StepTimes
from backend.domain.analytics.funnels.funnel import MOST_GROUPS, Funnel, FunnelQuery, FunnelStepKind
from backend.domain.analytics.funnels.notes import FunnelFacts, notes_on_funnel
from backend.domain.analytics.period import QUARTER_SECONDS
from backend.domain.analytics.query import Field
from backend.domain.ids import LinkId
from backend.domain.visitors.calls import Kind
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.credit.tables import CreditTables, forget_credit
from backend.storage.analytics.funnels.attempts import find_attempts
from backend.storage.analytics.funnels.facts import find_facts
from backend.storage.analytics.funnels.people import TimeRange, find_people
from backend.storage.analytics.funnels.steps import StepConditions
from backend.storage.analytics.funnels.tables import FunnelTables

_QUARTER_MS = QUARTER_SECONDS * 1000
_RECORDS = frozenset(FunnelStepKind) - {FunnelStepKind.CLICK}


def answer_funnel(
    connection: DuckDBPyConnection, query: FunnelQuery, *, retention_days: int | None = None
) -> FunnelAnswer:
    """The answer to a funnel from an organization's facts.

    `connection` is inside of a transaction that sees one moment.
    """
    with FunnelTables(connection) as tables:
        return FunnelAnswering(tables, query).answer(retention_days)


class FunnelAnswering:
    """One answer while it is worked out."""

    def __init__(self, tables: FunnelTables, query: FunnelQuery) -> None:
        """Nothing is worked out yet."""
        self._tables = tables
        self._query = query
        self._funnel = query.funnel
        self._conditions = StepConditions(tables.connection, query.funnel)
        spans = query.period.spans(None)
        self._period = TimeRange(spans.first * _QUARTER_MS, spans.end * _QUARTER_MS)

    def answer(self, retention_days: int | None) -> FunnelAnswer:
        """The answer."""
        nobodys = self.work_out()
        [(_, _, steps)] = self._figures()
        groups, in_all = self._groups() if self._funnel.group_by else ([], 0)
        facts = FunnelFacts(
            counted_clicks=self._counted_clicks(),
            told_clicks=self._told_clicks(),
            nobodys_facts=0 if self._funnel.reach else nobodys,  # they are of no link
            groups_in_all=in_all,
            kinds=frozenset(group.kind for group in groups if group.kind),
            retention_days=retention_days,
            days_added_up_until=self._number("SELECT max(day) FROM day_visitors"),
        )
        return FunnelAnswer(
            self._query, steps, groups, notes_on_funnel(self._query, facts), self._links(groups)
        )

    def work_out(self, *, has_names: bool = False) -> int:
        """Make the tables of facts and of people, and their names. Returns how many facts are nobody's."""
        within = self._funnel.within_ms
        before = 0 if self._funnel.is_ordered else within
        times = TimeRange(self._period.start - before, self._period.end + within)
        values = {"credit_start": times.start, "credit_end": times.end}
        credit = CreditTables(self._tables.connection, values)
        kinds = {Kind(step.kind) for step in self._funnel.steps if step.kind in _RECORDS}
        nobodys = find_people(self._tables, credit, self._funnel, kinds, times, has_names=has_names)
        find_facts(self._tables, credit, self._funnel, self._conditions)
        forget_credit(self._tables.connection)
        find_attempts(self._tables, self._funnel, self._period)
        return nobodys

    def people(self, parameters: SqlParameters) -> tuple[str, str]:
        """The FROM clause of people with the groups of their first steps, and these groups' columns."""
        source, groups = "funnel_people AS people", "NULL AS value, NULL AS apart"
        if self._funnel.group_by:
            groups = "facts.value, facts.apart"
            source += " JOIN funnel_facts AS facts ON facts.place = people.first"
            if tags := self._conditions.tags:
                kept = "(FROM links WHERE is_kept)"
                source += f" LEFT JOIN ({tags.of_links(kept, parameters)}) AS tagged USING (link)"
                groups = "tagged.tag AS value, facts.apart"
        return source, groups

    def _groups(self) -> tuple[list[FunnelGroup], int]:
        """The largest groups, and how many there are in all."""
        rows = self._figures(is_grouped=True)
        groups = [FunnelGroup(value, kind and RowKind(kind), steps) for value, kind, steps in rows]
        groups.sort(key=lambda group: (-group.steps[0].count, group.value or "", group.kind or ""))
        return groups[:MOST_GROUPS], len(groups)

    def _figures(self, *, is_grouped: bool = False) -> list[tuple[Any, Any, Sequence[StepTimes]]]:
        """The value and kind of each group, and the figures of its steps; of all people in one."""
        parameters = SqlParameters()
        source, groups = "funnel_people AS people", "NULL AS value, NULL AS apart"
        if is_grouped:
            source, groups = self.people(parameters)
        columns = ", ".join(_columns(self._funnel))
        grouping = "GROUP BY 1, 2" if is_grouped else ""
        text = f"SELECT * FROM (SELECT {groups}, {columns} FROM {source} {grouping})"
        rows = self._tables.connection.execute(text, parameters.values).fetchall()
        return [(value, apart, _times(figures, self._funnel)) for value, apart, *figures in rows]

    def _links(self, groups: Sequence[FunnelGroup]) -> dict[LinkId, NamedLink]:
        if self._funnel.group_by is not Field.LINK:
            return {}
        rows = self._tables.connection.execute(
            "SELECT id, domain, path, link_name FROM links WHERE is_kept AND list_contains($ids, id)",
            {"ids": [group.value for group in groups if group.value]},
        ).fetchall()
        return {LinkId(link_id): NamedLink(*names) for link_id, *names in rows}

    def _counted_clicks(self) -> int | None:
        """How many clicks can be the first step, whether or not a device told of them."""
        if self._funnel.steps[0].kind is not FunnelStepKind.CLICK:
            return None
        parameters = SqlParameters()
        filters = self._conditions.of_clicks(parameters)
        text = f"""
            SELECT sum(weight)::BIGINT FROM clicks
            LEFT JOIN (FROM links WHERE is_kept) AS links ON links.link = clicks.link
            WHERE reason IS NULL AND clicks."at" >= $range_start AND clicks."at" < $range_end AND {filters}
        """
        return self._number(text, parameters.values | self._period.values) or 0

    def _told_clicks(self) -> int:
        """How many clicks that can be the first step devices told of."""
        text = """
            SELECT count(*) FROM funnel_facts
            WHERE kind = 'click' AND s0 AND "at" >= $range_start AND "at" < $range_end
        """
        return self._number(text, self._period.values) or 0

    def _number(self, text: str, values: dict[str, object] | None = None) -> int | None:
        row = self._tables.connection.execute(text, values or {}).fetchone()
        return row[0] if row else None


def _columns(funnel: Funnel) -> list[str]:
    """Of each step the count, and the percentiles of its times since the step before and since the first."""
    columns = []
    for number in range(len(funnel.steps)):
        columns.append(f"count(*) FILTER (depth > {number}) AS c{number}")
        for since, name in ((number - 1, "p"), (0, "f")) if number else ():
            columns.append(
                f"quantile_disc(abs(people.t{number} - people.t{since}), [0.5, 0.9]) AS {name}{number}"
            )
    return columns


def _times(figures: Sequence[Any], funnel: Funnel) -> list[StepTimes]:
    """The figures of steps, from the values of `_columns`."""
    values = iter(figures)
    steps = []
    for number in range(len(funnel.steps)):
        count = next(values)
        percentiles = [next(values) or (None, None) for _ in range(2 if number else 0)]
        steps.append(StepTimes(count, *(time for pair in percentiles for time in pair)))
    return steps
