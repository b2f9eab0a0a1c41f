"""All rows of the answer to a query of analytics, as a file.

Rows are made in Python, where shares of sales are exact. For a Parquet file, their texts go into a file of
JSON lines, which DuckDB reads as it writes: however many rows there are, few are in memory.
"""

# ruff: noqa: S608 - names of columns are constants and codes of currencies, and values are parameters

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from backend.domain.analytics.answer import RowsOfAnswer
from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.query import Query
from backend.domain.analytics.rows import AnswerRows, CellKind, TypedColumn
from backend.domain.clicks.rows import RowFormat
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.analytics.files import FileAnswer, FileQuestion
from backend.storage.analytics.parquet import write_parquet
from backend.storage.analytics.question import Facts

# How the text of a cell becomes a value.
_VALUES = {
    CellKind.TEXT: "{}",
    CellKind.FLAG: "{} IS NOT NULL",
    CellKind.DATE: "{}::DATE",
    CellKind.MONTH: "({} || '-01')::DATE",
    CellKind.TIME: "{}::TIMESTAMPTZ",
    CellKind.COUNT: "{}::BIGINT",
    CellKind.NUMBER: "{}::DOUBLE",
}


@dataclass(frozen=True, slots=True)
class QueryFile(FileQuestion):
    """All rows of the answer to a query, or its first `most`, as a file of this form.

    A Parquet file has the columns of the CSV file, with types: days, weeks and months are dates (of their
    first day), hours are times, amounts are decimals.
    """

    query: Query
    url_form: ShortUrlForm
    form: RowFormat
    most: int | None = None

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Make the file. Raises InvalidField."""
        # What answers it is imported here: those who ask have no use for it.
        from backend.storage.analytics.answers.query import stream_query  # noqa: PLC0415

        check_marked(self.query.group_by, self.query.filters, facts.event_properties)
        answer, pieces = stream_query(
            facts.connection, self.query, retention_days=facts.retention_days, most=self.most
        )
        written = AnswerRows(answer, self.url_form)
        path, rows = folder / f"analytics.{self.form}", 0
        lines, text_of = self._lines(path, written)
        with lines.open("w", encoding="utf-8", newline="") as file:
            if self.form is RowFormat.CSV:
                file.write(written.csv_heading())
            for piece in pieces:
                file.write(text_of(piece))
                rows += len(piece.kinds)
                yield rows
        if self.form is RowFormat.PARQUET:
            write_parquet(facts.connection, _typed(written.columns()), {"lines": str(lines)}, path)
        return FileAnswer(str(path), rows, [*facts.notes, *answer.notes])

    def _lines(self, path: Path, written: AnswerRows) -> tuple[Path, Callable[[RowsOfAnswer], str]]:
        """The file that lines are written to, and how rows become these."""
        match self.form:
            case RowFormat.CSV:
                return path, written.csv_lines
            case RowFormat.NDJSON:
                return path, written.json_lines
        return path.with_name("rows.json"), partial(_lines_of_cells, written)


def _lines_of_cells(written: AnswerRows, rows: RowsOfAnswer) -> str:
    return "".join([json.dumps({"cells": cells}) + "\n" for cells in written.lines_of_cells(rows)])


def _typed(columns: list[TypedColumn]) -> str:
    """The SELECT of rows with types, from the file of lines."""
    values = [
        f'{_value(column, f"cells[{number}]")} AS "{column.name}"' for number, column in enumerate(columns, 1)
    ]
    return f"""
        SELECT {", ".join(values)}
        FROM read_json($lines, format = 'newline_delimited', columns = {{cells: 'VARCHAR[]'}})
    """


def _value(column: TypedColumn, cell: str) -> str:
    if column.kind is CellKind.DECIMAL:
        return f"{cell}::DECIMAL(38, {column.digits})"
    return _VALUES[column.kind].format(cell)
