"""Answers queries of analytics from facts (docs/decisions/analytics-query.md)."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from duckdb import DuckDBPyConnection

from backend.domain.analytics_answer import AnalyticsAnswer, LinkNames, Row, RowKind, RowsOfAnswer
from backend.domain.analytics_figures import Sums, changes_of, values_of
from backend.domain.analytics_query import TIMES, Field, Measure, Query
from backend.domain.ids import LinkId
from backend.storage.analytics.questions import cursors
from backend.storage.analytics.questions.asked import Asked
from backend.storage.analytics.questions.cursors import Place
from backend.storage.analytics.questions.figures import sums_of
from backend.storage.analytics.questions.given import Given
from backend.storage.analytics.questions.notes import notes_of
from backend.storage.analytics.questions.ordering import behind, keys_of
from backend.storage.analytics.questions.rows import BEFORE, rows_of, totals_of
from backend.storage.analytics.questions.sales import asks_for_sales, keep_sales
from backend.storage.analytics.questions.tags import choose_tags
from backend.storage.analytics.questions.variants import MOST_ROWS, chances_of

_AT_ONCE = 2_000
_Row = Mapping[str, Any]


def answer_query(
    connection: DuckDBPyConnection,
    query: Query,
    *,
    retention_days: int | None = None,
    is_whole: bool = False,
) -> AnalyticsAnswer:
    """What an organization's facts say to the query: one page of rows, or all rows if it `is_whole`.

    `connection` is inside of a transaction that sees one moment. Raises InvalidField for a cursor of another
    query, and where too many variants are to be compared.
    """
    reading = _Reading(connection, query)
    return reading.page(reading.without_rows(retention_days), None if is_whole else query.limit)


def stream_query(
    connection: DuckDBPyConnection, query: Query, *, retention_days: int | None = None
) -> tuple[AnalyticsAnswer, Iterator[RowsOfAnswer]]:
    """All rows of the answer, piece by piece, however many; and before them the answer without rows.

    While pieces are taken, nothing else may be asked of the connection. Raises InvalidField, as above.
    """
    reading = _Reading(connection, replace(query, cursor=None))
    return reading.without_rows(retention_days), reading.pieces()


def count_by_link(connection: DuckDBPyConnection, query: Query) -> dict[LinkId, Sums]:
    """What was counted of each link that something is counted for. `query` groups by nothing but links.

    For many links: it puts no rows together, in no order.
    """
    return _Reading(connection, query).by_link()


class _Reading:
    """One answer while it is read."""

    def __init__(self, connection: DuckDBPyConnection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._keys = keys_of(query)
        self._place = cursors.read(query, len(self._keys))
        spans = query.period.spans(query.time_field)
        [(summed_until,)] = connection.execute("SELECT max(day) FROM day_visitors").fetchall()
        self._now = Asked(
            query,
            spans,
            query.group_by,
            labels=sorted({each for each in spans.labels if each is not None}),
            tags=choose_tags(connection, query),
            last_block=cursors.last_block(connection, self._place),
            summed_until=summed_until,
        )
        self._before: Asked | None = None
        if query.compare:
            compared = query.period.compared_spans(query.time_field, query.compare)
            self._before = replace(self._now, spans=compared, sold="sold_before")
        self._partial = query.partial_labels
        if asks_for_sales(self._now):
            for asked in self._periods:
                keep_sales(connection, asked)

    @property
    def _periods(self) -> list[Asked]:
        return [self._now, *([self._before] if self._before else [])]

    def without_rows(self, retention_days: int | None) -> AnalyticsAnswer:
        """The answer without its rows."""
        given = Given()
        [totals] = self._fetched(totals_of(self._now, self._before, given), given)
        now = sums_of(totals)
        before = sums_of(totals, BEFORE) if self._before else None
        counted = [(self._now, now), *([(self._before, before)] if self._before and before else [])]
        return AnalyticsAnswer(
            query=self._query,
            rows=[],
            totals=self._row((), now, before),
            rows_in_all=None,
            next_cursor=None,
            notes=notes_of(self._connection, counted, retention_days),
            previous_period=self._query.period.compared(self._query.compare) if self._query.compare else None,
        )

    def page(self, answer: AnalyticsAnswer, limit: int | None) -> AnalyticsAnswer:
        """The answer with so many rows, None for all."""
        if not self._query.group_by:
            return replace(answer, rows=[answer.totals], rows_in_all=1)
        given = Given()
        found = self._fetched(self._ordered(given, limit), given)
        shown = found if limit is None else found[:limit]
        some = self._together(shown)
        return replace(
            answer,
            rows=some.rows,
            links=some.links,
            rows_in_all=len(found) if limit is None else self._rows_in_all(found),
            next_cursor=self._cursor(shown[-1]) if len(found) > len(shown) else None,
        )

    def pieces(self) -> Iterator[RowsOfAnswer]:
        """All rows, some at a time."""
        if not self._query.group_by:
            given = Given()
            [totals] = self._fetched(totals_of(self._now, self._before, given), given)
            before = sums_of(totals, BEFORE) if self._before else None
            yield RowsOfAnswer([self._row((), sums_of(totals), before)])
            return
        given = Given()
        self._connection.execute(self._ordered(given, None), given.values)
        names = self._names()
        while rows := self._connection.fetchmany(_AT_ONCE):
            yield self._together([dict(zip(names, row, strict=True)) for row in rows])

    def by_link(self) -> dict[LinkId, Sums]:
        """The figures of each link."""
        given = Given()
        text = f"""
            SELECT links.id, found.* FROM ({rows_of(self._now, None, given)}) AS found
            JOIN links ON links.link = found.g0
        """
        return {LinkId(row["id"]): sums_of(row) for row in self._fetched(text, given)}

    def _ordered(self, given: Given, limit: int | None) -> str:
        """The SELECT of rows in their order, from the cursor on: at most so many, and one more."""
        query, keys = self._query, self._keys
        columns = ["found.*", *(f"{each.expression} AS key{number}" for number, each in enumerate(keys))]
        tables, joins = [f"found AS MATERIALIZED ({rows_of(self._now, self._before, given)})"], []
        if Field.LINK in query.group_by:
            columns.append("asked_link.id, asked_link.domain, asked_link.path, asked_link.link_name")
            joins.append(_join("links AS asked_link", {"link": f"g{query.group_by.index(Field.LINK)}"}))
        if Measure.CHANCE_OF_BEST in query.measures:
            columns.append("chances.chance, chances.before_chance")
            tables.append(f"chances AS ({chances_of(query, self._all_rows(), given)})")
            joins.append(_join("chances", {each: each for each in self._groups}))
        if limit is not None:
            columns.append("(SELECT count(*) FROM found) AS rows_in_all")
        where = f"WHERE {behind(keys, self._place.values, given)}" if self._place else ""
        return f"""
            WITH {", ".join(tables)}
            SELECT {", ".join(columns)} FROM found {" ".join(joins)} {where}
            ORDER BY {", ".join(each.sql for each in keys)}
            {"" if limit is None else f"LIMIT {given(limit + 1)}"}
        """

    def _all_rows(self) -> list[_Row]:
        """All rows, in no order, as far as their variants can be compared."""
        given = Given()
        text = f"SELECT * FROM ({rows_of(self._now, self._before, given)}) LIMIT {2 * MOST_ROWS + 1}"
        return self._fetched(text, given)

    def _rows_in_all(self, page: Sequence[_Row]) -> int:
        """How many rows there are on all pages; a page behind the last one does not say so."""
        if page or not self._place:
            return page[0]["rows_in_all"] if page else 0
        given = Given()
        [row] = self._fetched(
            f"SELECT count(*) AS rows FROM ({rows_of(self._now, self._before, given)})", given
        )
        return int(row["rows"])

    @property
    def _groups(self) -> list[str]:
        """The columns that tell rows apart."""
        return [*self._now.columns, *(["apart"] if self._query.has_kinds else [])]

    def _together(self, found: Iterable[_Row]) -> RowsOfAnswer:
        """The rows as they are shown."""
        rows, links = [], {}
        for each in found:
            group = tuple(
                self._shown(field, each[name], each)
                for field, name in zip(self._query.group_by, self._now.columns, strict=True)
            )
            kind = RowKind(each["apart"]) if each.get("apart") else None
            before = sums_of(each, BEFORE) if self._before else None
            rows.append(self._row(group, sums_of(each), before, kind))
            if each.get("id") is not None:
                names = (each["domain"], each["path"], each["link_name"])
                links[LinkId(each["id"])] = LinkNames(*names)
        return RowsOfAnswer(rows, links)

    def _shown(self, field: Field, value: Any, row: _Row) -> Any:
        """What a row shows of a field."""
        if field in TIMES:
            return self._now.labels[value]
        return row["id"] if field is Field.LINK else value

    def _row(
        self, group: tuple[str | None, ...], now: Sums, before: Sums | None, kind: RowKind | None = None
    ) -> Row:
        query = self._query
        values = values_of(query, now)
        previous = values_of(query, before) if before else None
        change = changes_of(values, previous) if query.change and previous else None
        is_partial = not self._partial.isdisjoint(
            each for each, by in zip(group, query.group_by, strict=False) if by in TIMES
        )
        return Row(group, values, previous, kind, is_partial, change)

    def _cursor(self, last: _Row) -> str:
        """What leads to the rows behind this one."""
        place = self._place
        block = (place.block, place.block_id) if place else cursors.newest_block(self._connection)
        values = [last[f"key{number}"] for number in range(len(self._keys))]
        return cursors.written(self._query, Place(values, *(block or (None, None))))

    def _fetched(self, text: str, given: Given) -> list[_Row]:
        rows = self._connection.execute(text, given.values).fetchall()
        names = self._names()
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _names(self) -> list[str]:
        """The columns of what was asked last."""
        return [each[0] for each in self._connection.description or ()]


def _join(table: str, columns: Mapping[str, str]) -> str:
    """Join what has the same in these columns, whose names it has for those of rows."""
    name = table.rpartition(" ")[2]
    same = " AND ".join(f"{name}.{each} IS NOT DISTINCT FROM found.{own}" for each, own in columns.items())
    return f"LEFT JOIN {table} ON {same}"
