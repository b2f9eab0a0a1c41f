"""Turns rows of SQL into rows of an answer, column by column, as there may be a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from backend.domain.analytics.answer import NamedLink, RowKind, RowsOfAnswer, ValueColumns
from backend.domain.analytics.figures import GroupSums, Sold, Spent, changes_of, value_of
from backend.domain.analytics.measures import Measure, Unit
from backend.domain.analytics.query import TIMES, Field, Query, QueryField
from backend.domain.ids import LinkId
from backend.storage.analytics.answers.rows import BEFORE

# Measures whose figures are columns of the SQL rows as they are.
_PLAIN = [measure for measure in Measure if measure.unit is Unit.COUNT]
# The columns of rows by their names.
FetchedColumns = Mapping[str, Sequence[Any]]


def table_of(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> FetchedColumns:
    """The columns of these rows of SQL by their names."""
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else repeat(())
    return dict(zip(names, columns, strict=False))


def sums_of(table: FetchedColumns, prefix: str = "") -> list[GroupSums]:
    """The figures of each row, whose columns begin with `prefix`."""
    size = len(next(iter(table.values()), ()))
    sums_of_rows = [GroupSums() for _ in range(size)]
    for name in _PLAIN:
        for sums, count in zip(sums_of_rows, table.get(prefix + name, ()), strict=False):
            setattr(sums, name, count or 0)
    for sums, sold in zip(sums_of_rows, table.get(prefix + "sold", ()), strict=False):
        sums.add([Sold(**sale) for sale in sold or ()])
    for sums, spent in zip(sums_of_rows, table.get(prefix + "spent", ()), strict=False):
        sums.add_costs([Spent(**cost) for cost in spent or ()])
    for sums, clicks in zip(sums_of_rows, table.get(f"{prefix}clicks_with_cost", ()), strict=False):
        sums.clicks_with_cost = {part["currency"]: part["clicks"] for part in clicks or ()}
    for sums, chance in zip(sums_of_rows, table.get(prefix + "chance", ()), strict=False):
        sums.chance_of_best = chance
    return sums_of_rows


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of a query's answer.

    `labels` are those of the parts of the time, `partial` those of parts that the period has only partly.
    """

    query: Query
    labels: Sequence[str]
    partial: frozenset[str]

    def rows(self, table: FetchedColumns, *, has_groups: bool = True) -> RowsOfAnswer:
        """The rows; without groups, they are totals."""
        query, size = self.query, len(next(iter(table.values()), ()))
        by = query.group_by if has_groups else ()
        groups = [self._shown(field, f"g{number}", table) for number, field in enumerate(by)]
        times = [groups[number] for number, field in enumerate(by) if field in TIMES]
        now = self.values(table)
        before = self.values(table, BEFORE) if query.compare else None
        return RowsOfAnswer(
            groups=groups,
            kinds=[kind and RowKind(kind) for kind in table.get("apart", [None] * size)],
            are_partial=[label in self.partial for label in times[0]] if times else [False] * size,
            values=now,
            previous=before,
            change=changes_of(now, before) if query.change and before else None,
            links=_links_of(table) if "id" in table else {},
        )

    def _shown(self, field: QueryField, name: str, table: FetchedColumns) -> Sequence[str | None]:
        """What rows show of a field."""
        if field in TIMES:
            return [self.labels[number] for number in table[name]]
        return table["id" if field is Field.LINK else name]

    def values(self, table: FetchedColumns, prefix: str = "") -> ValueColumns:
        """What rows show of the measures."""
        shown, currency = self.query.shown, self.query.currency
        if not next(iter(table.values()), ()):
            return dict.fromkeys(shown, ())
        sums = sums_of(table, prefix) if any(measure not in _PLAIN for measure in shown) else []
        return {
            measure: [count or 0 for count in table[prefix + measure]]
            if measure in _PLAIN
            else [value_of(measure, row_sums, currency) for row_sums in sums]
            for measure in shown
        }


def _links_of(table: FetchedColumns) -> dict[LinkId, NamedLink]:
    names = map(NamedLink, table["domain"], table["path"], table["link_name"])
    return {
        LinkId(link_id): link for link_id, link in zip(table["id"], names, strict=True) if link_id is not None
    }
