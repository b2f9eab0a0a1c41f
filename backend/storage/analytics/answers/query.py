"""Answers queries of analytics from facts (docs/decisions/analytics-query.md)."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from duckdb import DuckDBPyConnection

from backend.domain.analytics.answer import AnalyticsAnswer, Row, RowsOfAnswer, Values, values_of_rows
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Query
from backend.domain.ids import LinkId
from backend.storage.analytics.answers import cursors
from backend.storage.analytics.answers.cursors import Place
from backend.storage.analytics.answers.notes import notes_of
from backend.storage.analytics.answers.ordering import behind, keys_of, values_of_keys
from backend.storage.analytics.answers.reading import FetchedColumns, RowReader, sums_of, table_of
from backend.storage.analytics.answers.rows import BEFORE, rows_of, totals_of
from backend.storage.analytics.answers.variants import MOST_ROWS, chances_of
from backend.storage.analytics.conditions.empty_tables import empty_tables
from backend.storage.analytics.conditions.moment_answers import execute_parsed, once, rows_once
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.conditions.tags import choose_tags
from backend.storage.analytics.measures.frequent_values import fold_rare_values
from backend.storage.analytics.measures.sales import has_sales, keep_sales

_ROWS_PER_PIECE = 8_192


def answer_query(
    connection: DuckDBPyConnection,
    query: Query,
    *,
    retention_days: int | None = None,
    is_whole: bool = False,
) -> AnalyticsAnswer:
    """The answer to the query from an organization's facts: one page of rows, or all rows if it `is_whole`.

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
    """The values that rows show, by link, of the links with any figures.

    `query` groups by nothing but links. The links are in no order, and no rows of an answer are made, so
    that it is quick for many links.
    """
    return _Reading(connection, query).values_by_link()


class _Reading:
    """One answer while it is read."""

    def __init__(self, connection: DuckDBPyConnection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._keys = keys_of(query)
        self._place = cursors.read(query, [key.is_text for key in self._keys])
        spans = query.period.spans(query.time_field)
        [(summed_until,)] = rows_once(connection, "SELECT max(day) FROM day_visitors")
        self._now = QueriedPeriod(
            query,
            spans,
            query.group_by,
            labels=sorted({label for label in spans.labels if label is not None}),
            tags=choose_tags(connection, query),
            last_block=cursors.last_block(connection, self._place),
            summed_until=summed_until,
            empty=empty_tables(connection, spans),
        )
        self._before: QueriedPeriod | None = None
        if query.compare:
            compared = query.period.compared_spans(query.time_field, query.compare)
            empty = empty_tables(connection, compared)
            self._before = replace(self._now, spans=compared, sold="sold_before", empty=empty)
        self._reader = RowReader(query, self._now.labels, query.partial_labels)
        sold = [period for period in self._periods.values() if has_sales(period)]
        self._kept_sales = [keep_sales(connection, period) for period in sold]
        if sold:
            fold_rare_values(connection, self._now, sold)

    @cached_property
    def _totals(self) -> FetchedColumns:
        parameters = SqlParameters()
        text = totals_of(self._now, self._before, parameters)
        # Whatever rows are grouped by, the totals are the same: a page asks for them with each of its tables.
        key = (text, repr(parameters.values), *self._kept_sales)
        return once(self._connection, key, lambda: self._fetched(text, parameters))

    @property
    def _periods(self) -> dict[str, QueriedPeriod]:
        """The period, and the one that it is compared with, by the prefix of their columns' names."""
        return {"": self._now} | ({BEFORE: self._before} if self._before else {})

    @property
    def _total(self) -> Row:
        [total] = self._reader.rows(self._totals, has_groups=False).rows
        return total

    def without_rows(self, retention_days: int | None) -> AnalyticsAnswer:
        """The answer without its rows."""
        query = self._query
        counted = [(period, sums_of(self._totals, prefix)[0]) for prefix, period in self._periods.items()]
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
        """The answer with at most `limit` rows of the page; None for all rows."""
        if not self._query.group_by:
            return replace(answer, rows=[answer.totals], rows_in_all=1)
        parameters = SqlParameters()
        table = self._fetched(self._ordered(parameters, limit), parameters)
        page = {name: column[:limit] for name, column in table.items()}
        rows = self._reader.rows(page)
        has_more = len(table["g0"]) > len(page["g0"])
        return replace(
            answer,
            rows=rows.rows,
            links=rows.links,
            rows_in_all=len(rows.rows) if limit is None else self._rows_in_all(table),
            next_cursor=self._cursor(page) if has_more else None,
        )

    def pieces(self, most: int | None = None) -> Iterator[RowsOfAnswer]:
        """All rows, or the first `most`, some at a time."""
        if not self._query.group_by:
            yield RowsOfAnswer.of([self._total], {})
            return
        parameters = SqlParameters()
        self._connection.execute(self._ordered(parameters, None), parameters.values)
        names = self._names()
        rows_left = sys.maxsize if most is None else most
        while rows := self._connection.fetchmany(min(_ROWS_PER_PIECE, rows_left)):
            rows_left -= len(rows)
            yield self._reader.rows(table_of(names, rows))

    def values_by_link(self) -> dict[LinkId, Values]:
        """The values that rows show, by link."""
        parameters = SqlParameters()
        text = f"""
            SELECT links.id, groups.* FROM ({rows_of(self._now, None, parameters)}) AS groups
            JOIN links ON links.link = groups.g0
        """
        table = self._fetched(text, parameters)
        ids = table["id"]
        return dict(zip(map(LinkId, ids), values_of_rows(self._reader.values(table), len(ids)), strict=True))

    def _ordered(self, parameters: SqlParameters, limit: int | None) -> str:
        """The SELECT of rows in their order from the cursor on: at most `limit` rows and one more."""
        query, keys = self._query, self._keys
        parameters.values |= values_of_keys(query)
        columns = ["groups.*"]
        rows = rows_of(self._now, self._before, parameters)
        tables, joins = [f"groups AS {'MATERIALIZED ' * (limit is not None)}({rows})"], []
        if Field.LINK in query.group_by:
            columns.append("row_link.id, row_link.domain, row_link.path, row_link.link_name")
            joins.append(_join("links AS row_link", {"link": f"g{query.group_by.index(Field.LINK)}"}))
        if Measure.CHANCE_OF_BEST in query.measures:
            names = self._now.columns + ["apart"] * query.has_kinds
            columns.append("chances.chance, chances.before_chance")
            tables.append(f"chances AS ({chances_of(query, names, self._all_rows(), parameters)})")
            joins.append(_join("chances", {name: name for name in names}))
        if limit is not None:
            columns += [f"{key.expression} AS key{number}" for number, key in enumerate(keys)]
            columns.append("(SELECT count(*) FROM groups) AS rows_in_all")
        where = f"WHERE {behind(keys, self._place.values, parameters)}" if self._place else ""
        return f"""
            WITH {", ".join(tables)}
            SELECT {", ".join(columns)} FROM groups {" ".join(joins)} {where}
            ORDER BY {", ".join(key.sql for key in keys)}
            {"" if limit is None else f"LIMIT {parameters(limit + 1)}"}
        """

    def _all_rows(self) -> FetchedColumns:
        """All rows, in no order, as far as their variants can be compared."""
        parameters = SqlParameters()
        text = f"SELECT * FROM ({rows_of(self._now, self._before, parameters)}) LIMIT {2 * MOST_ROWS + 1}"
        return self._fetched(text, parameters)

    def _rows_in_all(self, page: FetchedColumns) -> int:
        """How many rows all pages have. It is counted anew for an empty page behind the last row."""
        if page["rows_in_all"] or not self._place:
            return next(iter(page["rows_in_all"]), 0)
        parameters = SqlParameters()
        text = f"SELECT count(*) AS size FROM ({rows_of(self._now, self._before, parameters)})"
        return int(self._fetched(text, parameters)["size"][0])

    def _cursor(self, page: FetchedColumns) -> str:
        """The cursor of the next page, which begins behind the last row of this one."""
        place = self._place
        block = (place.block, place.block_id) if place else cursors.newest_block(self._connection)
        values = [page[f"key{number}"][-1] for number in range(len(self._keys))]
        return cursors.written(self._query, Place(values, *(block or (None, None))))

    def _fetched(self, text: str, parameters: SqlParameters) -> FetchedColumns:
        rows = execute_parsed(self._connection, text, parameters.values)
        return table_of(self._names(), rows)

    def _names(self) -> list[str]:
        """The names of the columns of the last statement's result."""
        return [column[0] for column in self._connection.description or ()]


def _join(table: str, columns: Mapping[str, str]) -> str:
    """A LEFT JOIN of rows with this table. `columns` names the rows' column for each column of the table."""
    name = table.rpartition(" ")[2]
    same = " AND ".join(
        f"{name}.{column} IS NOT DISTINCT FROM groups.{of_row}" for column, of_row in columns.items()
    )
    return f"LEFT JOIN {table} ON {same}"
