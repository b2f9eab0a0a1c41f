"""A period for which a query asks: the query's own, or the one that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from backend.domain.analytics.period import QUARTER_SECONDS, Spans
from backend.domain.analytics.query import LINK_FIELDS, TIMES, Field, Filter, Query, QueryField
from backend.storage.analytics.conditions.tags import TagChoice, choose_tags

QUARTER_MS = QUARTER_SECONDS * 1000
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class QueriedPeriod:
    """A query with the spans of one period, in which figures are counted by `group_by`.

    `labels` are those of all parts of the time, in the order of texts. Only clicks of blocks up to
    `last_block` are seen, None for all. Single clicks have expired up to the day `summed_until`, counted from
    1970; None if none have. `sold` is the table with the sales of these spans. Nothing of them is in the
    tables that `empty` names (empty_tables.py).
    """

    query: Query
    spans: Spans
    group_by: tuple[QueryField, ...]
    labels: Sequence[str]
    tags: TagChoice | None = None
    last_block: int | None = None
    summed_until: int | None = None
    sold: str = "sold"
    empty: frozenset[str] = frozenset()

    @classmethod
    def without_groups(cls, connection: DuckDBPyConnection, query: Query) -> QueriedPeriod:
        """The query's own period, whatever it groups by."""
        return cls(query, query.period.spans(None), (), labels=[], tags=choose_tags(connection, query))

    @property
    def in_all(self) -> QueriedPeriod:
        """The same without groups, as totals are."""
        return replace(self, group_by=())

    def grouped_too(self, field: Field) -> QueriedPeriod:
        """The same grouped by this field, too, which comes last."""
        return replace(self, group_by=(*self.group_by, field))

    @property
    def start(self) -> int:
        """The first millisecond."""
        return self.spans.first * QUARTER_MS

    @property
    def end(self) -> int:
        """The millisecond behind the last one."""
        return self.spans.end * QUARTER_MS

    @property
    def has_time(self) -> bool:
        """Whether rows are by a part of the time."""
        return not TIMES.isdisjoint(self.group_by)

    @property
    def link_groups(self) -> list[Field]:
        """The fields of links by which rows are grouped."""
        return [field for field in self.group_by if isinstance(field, Field) and field in LINK_FIELDS]

    @property
    def link_filters(self) -> Mapping[Field, Filter]:
        """The filters by fields of links, without the filter by tags."""
        filters = self.query.filters.items()
        of_links = LINK_FIELDS - {Field.TAG}
        return {field: chosen for field, chosen in filters if isinstance(field, Field) and field in of_links}

    @property
    def filters_links(self) -> bool:
        """Whether only some links count. Then facts that belong to no link do not count, either."""
        return self.query.reach is not None or not LINK_FIELDS.isdisjoint(self.query.filters)

    @property
    def knows_cost(self) -> bool:
        """Whether it is known what these groups cost."""
        return self.query.knows_cost if self.group_by else self.query.knows_cost_in_all

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows are grouped by, in the order of `group_by`."""
        return [f"g{number}" for number in range(len(self.group_by))]


def grouped_by(columns: int) -> str:
    """The GROUP BY clause for the first `columns` columns.

    Unlike GROUP BY ALL, it also groups by constants, so that there is no group where there is no row.
    """
    return f"GROUP BY {', '.join(str(number + 1) for number in range(columns))}" if columns else ""
