"""Answers queries of analytics from facts (docs/decisions/analytics-query.md)."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import AnalyticsAnswer, Row, RowsOfAnswer, Values, values_of_rows
from backend.domain.analytics.query import Field, Measure, Query
from backend.domain.ids import LinkId
from backend.storage.analytics.answers import cursors
from backend.storage.analytics.answers.cursors import Place
from backend.storage.analytics.answers.notes import notes_of
from backend.storage.analytics.answers.ordering import behind, keys_of
from backend.storage.analytics.answers.reading import FetchedColumns, RowReader, sums_of, table_of
from backend.storage.analytics.answers.rows import BEFORE, rows_of, totals_of
from backend.storage.analytics.answers.variants import MOST_ROWS, chances_of
from backend.storage.analytics.conditions.asked import Asked
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.conditions.tags import choose_tags
from backend.storage.analytics.measures.sales import asks_for_sales, keep_sales

_AT_ONCE = 8_192


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
    connection: DuckDBPyConnection,
    query: Query,
    *,
    retention_days: int | None = None,
    most: int | None = None,
) -> tuple[AnalyticsAnswer, Iterator[RowsOfAnswer]]:
    """All rows of the answer, or the first `most`, piece by piece; and before them the answer without rows.

    While pieces are taken, nothing else may be asked of the connection. Raises InvalidField, as above.
    """
    reading = _Reading(connection, replace(query, cursor=None))
    return reading.without_rows(retention_days), reading.pieces(most)


def values_by_link(connection: DuckDBPyConnection, query: Query) -> dict[LinkId, Values]:
    """What rows show of each link that something is counted for.

    `query` groups by nothing but links. For many of them: it puts no rows together, in no order.
    """
    return _Reading(connection, query).values_by_link()


class _Reading:
    """One answer while it is read."""

    def __init__(self, connection: DuckDBPyConnection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._keys = keys_of(query)
        self._place = cursors.read(query, [each.is_text for each in self._keys])
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
        self._reader = RowReader(query, self._now.labels, query.partial_labels)
        if asks_for_sales(self._now):
            for asked in self._periods.values():
                keep_sales(connection, asked)

    @cached_property
    def _totals(self) -> FetchedColumns:
        given = Given()
        return self._fetched(totals_of(self._now, self._before, given), given)

    @property
    def _periods(self) -> dict[str, Asked]:
        """What is asked, by what the names of its columns begin with."""
        return {"": self._now} | ({BEFORE: self._before} if self._before else {})

    @property
    def _total(self) -> Row:
        [total] = self._reader.rows(self._totals, has_groups=False).rows
        return total

    def without_rows(self, retention_days: int | None) -> AnalyticsAnswer:
        """The answer without its rows."""
        query = self._query
        counted = [(asked, sums_of(self._totals, prefix)[0]) for prefix, asked in self._periods.items()]
        return AnalyticsAnswer(
            query=query,
            rows=[],
            totals=self._total,
            rows_in_all=None,
            next_cursor=None,
            notes=notes_of(self._connection, counted, retention_days),
            previous_period=query.period.compared(query.compare) if query.compare else None,
        )

    def page(self, answer: AnalyticsAnswer, limit: int | None) -> AnalyticsAnswer:
        """The answer with so many rows, None for all."""
        if not self._query.group_by:
            return replace(answer, rows=[answer.totals], rows_in_all=1)
        given = Given()
        found = self._fetched(self._ordered(given, limit), given)
        page = {name: column[:limit] for name, column in found.items()}
        some = self._reader.rows(page)
        has_more = len(found["g0"]) > len(page["g0"])
        return replace(
            answer,
            rows=some.rows,
            links=some.links,
            rows_in_all=len(some.rows) if limit is None else self._rows_in_all(found),
            next_cursor=self._cursor(page) if has_more else None,
        )

    def pieces(self, most: int | None = None) -> Iterator[RowsOfAnswer]:
        """All rows, or the first `most`, some at a time."""
        if not self._query.group_by:
            yield RowsOfAnswer.of([self._total], {})
            return
        given = Given()
        self._connection.execute(self._ordered(given, None), given.values)
        names = self._names()
        left = sys.maxsize if most is None else most
        while found := self._connection.fetchmany(min(_AT_ONCE, left)):
            left -= len(found)
            yield self._reader.rows(table_of(names, found))

    def values_by_link(self) -> dict[LinkId, Values]:
        """What rows show of each link."""
        given = Given()
        text = f"""
            SELECT links.id, found.* FROM ({rows_of(self._now, None, given)}) AS found
            JOIN links ON links.link = found.g0
        """
        found = self._fetched(text, given)
        ids = found["id"]
        return dict(zip(map(LinkId, ids), values_of_rows(self._reader.values(found), len(ids)), strict=True))

    def _ordered(self, given: Given, limit: int | None) -> str:
        """The SELECT of rows in their order, from the cursor on: at most so many, and one more."""
        query, keys = self._query, self._keys
        columns = ["found.*"]
        found = rows_of(self._now, self._before, given)
        tables, joins = [f"found AS {'MATERIALIZED ' * (limit is not None)}({found})"], []
        if Field.LINK in query.group_by:
            columns.append("asked_link.id, asked_link.domain, asked_link.path, asked_link.link_name")
            joins.append(_join("links AS asked_link", {"link": f"g{query.group_by.index(Field.LINK)}"}))
        if Measure.CHANCE_OF_BEST in query.measures:
            groups = self._now.columns + ["apart"] * query.has_kinds
            columns.append("chances.chance, chances.before_chance")
            tables.append(f"chances AS ({chances_of(query, groups, self._all_rows(), given)})")
            joins.append(_join("chances", {each: each for each in groups}))
        if limit is not None:
            columns += [f"{each.expression} AS key{number}" for number, each in enumerate(keys)]
            columns.append("(SELECT count(*) FROM found) AS rows_in_all")
        where = f"WHERE {behind(keys, self._place.values, given)}" if self._place else ""
        return f"""
            WITH {", ".join(tables)}
            SELECT {", ".join(columns)} FROM found {" ".join(joins)} {where}
            ORDER BY {", ".join(each.sql for each in keys)}
            {"" if limit is None else f"LIMIT {given(limit + 1)}"}
        """

    def _all_rows(self) -> FetchedColumns:
        """All rows, in no order, as far as their variants can be compared."""
        given = Given()
        text = f"SELECT * FROM ({rows_of(self._now, self._before, given)}) LIMIT {2 * MOST_ROWS + 1}"
        return self._fetched(text, given)

    def _rows_in_all(self, page: FetchedColumns) -> int:
        """How many rows there are on all pages; a page behind the last one does not say so."""
        if page["rows_in_all"] or not self._place:
            return next(iter(page["rows_in_all"]), 0)
        given = Given()
        text = f"SELECT count(*) AS size FROM ({rows_of(self._now, self._before, given)})"
        return int(self._fetched(text, given)["size"][0])

    def _cursor(self, page: FetchedColumns) -> str:
        """What leads to the rows behind the page."""
        place = self._place
        block = (place.block, place.block_id) if place else cursors.newest_block(self._connection)
        values = [page[f"key{number}"][-1] for number in range(len(self._keys))]
        return cursors.written(self._query, Place(values, *(block or (None, None))))

    def _fetched(self, text: str, given: Given) -> FetchedColumns:
        found = self._connection.execute(text, given.values).fetchall()
        return table_of(self._names(), found)

    def _names(self) -> list[str]:
        """The columns of what was asked last."""
        return [each[0] for each in self._connection.description or ()]


def _join(table: str, columns: Mapping[str, str]) -> str:
    """Join what has the same in these columns, whose names it has for those of rows."""
    name = table.rpartition(" ")[2]
    same = " AND ".join(f"{name}.{each} IS NOT DISTINCT FROM found.{own}" for each, own in columns.items())
    return f"LEFT JOIN {table} ON {same}"
