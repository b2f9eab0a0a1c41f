"""Makes rows of SQL into rows of an answer, column by column: there may be a hundred thousand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from backend.domain.analytics.answer import NamedLink, RowKind, RowsOfAnswer, ValueColumns
from backend.domain.analytics.figures import GroupSums, Sold, changes_of, value_of
from backend.domain.analytics.query import TIMES, Field, Measure, Query
from backend.domain.ids import LinkId
from backend.storage.analytics.answers.rows import BEFORE

# What a column of rows is already.
_PLAIN = (
    Measure.CLICKS,
    Measure.VISITORS,
    Measure.NOT_COUNTED,
    Measure.INSTALLS,
    Measure.CUSTOMERS,
    Measure.CONTACTS,
)
# The columns of rows by their names.
FetchedColumns = Mapping[str, Sequence[Any]]


def table_of(names: Sequence[str], found: Sequence[tuple[Any, ...]]) -> FetchedColumns:
    """The columns of rows of SQL."""
    columns: Iterable[Sequence[Any]] = zip(*found, strict=True) if found else repeat(())
    return dict(zip(names, columns, strict=False))


def sums_of(table: FetchedColumns, prefix: str = "") -> list[GroupSums]:
    """The figures of each row, whose columns begin with `prefix`."""
    size = len(next(iter(table.values()), ()))
    found = [GroupSums() for _ in range(size)]
    for name in _PLAIN:
        for sums, count in zip(found, table.get(prefix + name, ()), strict=False):
            setattr(sums, name, count or 0)
    for sums, sold in zip(found, table.get(prefix + "sold", ()), strict=False):
        sums.add([Sold(**each) for each in sold or ()])
    for sums, chance in zip(found, table.get(prefix + "chance", ()), strict=False):
        sums.chance_of_best = chance
    return found


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of a query's answer. `labels` are those of the parts of the time."""

    query: Query
    labels: Sequence[str]
    partial: frozenset[str]

    def rows(self, table: FetchedColumns, *, has_groups: bool = True) -> RowsOfAnswer:
        """The rows; without groups, they are totals."""
        query, size = self.query, len(next(iter(table.values()), ()))
        by = query.group_by if has_groups else ()
        groups = [self._shown(each, f"g{number}", table) for number, each in enumerate(by)]
        times = [groups[number] for number, each in enumerate(by) if each in TIMES]
        now = self.values(table)
        before = self.values(table, BEFORE) if query.compare else None
        return RowsOfAnswer(
            groups=groups,
            kinds=[each and RowKind(each) for each in table.get("apart", [None] * size)],
            are_partial=[each in self.partial for each in times[0]] if times else [False] * size,
            values=now,
            previous=before,
            change=changes_of(now, before) if query.change and before else None,
            links=_links_of(table) if "id" in table else {},
        )

    def _shown(self, field: Field, name: str, table: FetchedColumns) -> Sequence[str | None]:
        """What rows show of a field."""
        if field in TIMES:
            return [self.labels[each] for each in table[name]]
        return table["id" if field is Field.LINK else name]

    def values(self, table: FetchedColumns, prefix: str = "") -> ValueColumns:
        """What rows show of the measures."""
        shown, currency = self.query.shown, self.query.currency
        if not next(iter(table.values()), ()):
            return dict.fromkeys(shown, ())
        sums = sums_of(table, prefix) if any(each not in _PLAIN for each in shown) else []
        return {
            measure: [each or 0 for each in table[prefix + measure]]
            if measure in _PLAIN
            else [value_of(measure, each, currency) for each in sums]
            for measure in shown
        }


def _links_of(table: FetchedColumns) -> dict[LinkId, NamedLink]:
    names = map(NamedLink, table["domain"], table["path"], table["link_name"])
    return {LinkId(each): of for each, of in zip(table["id"], names, strict=True) if each is not None}
