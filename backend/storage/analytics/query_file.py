"""All rows of the answer to a query of analytics, as a Parquet file.

Rows are made in Python, where shares of sales are exact. So their texts go into a file of JSON lines, which
DuckDB reads as it writes the Parquet file: however many rows there are, few are in memory.
"""

# ruff: noqa: S608 - names of columns are constants and codes of currencies, and values are parameters

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.analytics.query import Query
from backend.domain.analytics.rows import AnswerRows, CellKind, TypedColumn
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
    """All rows of the answer to a query, or its first `most`, as a Parquet file.

    It has the columns of the CSV file, with types: days, weeks and months are dates (of their first day),
    hours are times, amounts are decimals.
    """

    query: Query
    url_form: ShortUrlForm
    most: int | None = None

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Make the file. Raises InvalidField."""
        # What answers it is imported here: those who ask have no use for it.
        from backend.storage.analytics.answers.query import stream_query  # noqa: PLC0415

        answer, pieces = stream_query(facts.connection, self.query, retention_days=facts.retention_days)
        written = AnswerRows(answer, self.url_form)
        lines, rows = folder / "rows.json", 0
        with lines.open("w", encoding="ascii") as file:
            for some in pieces:
                for row in some.rows[: None if self.most is None else self.most - rows]:
                    file.write(json.dumps({"cells": written.cells_of(row, some.links)}) + "\n")
                    rows += 1
                yield rows
                if rows == self.most:
                    break
        path = folder / "analytics.parquet"
        write_parquet(facts.connection, _typed(written.columns()), {"lines": str(lines)}, path)
        return FileAnswer(str(path), rows, answer.notes)


def _typed(columns: list[TypedColumn]) -> str:
    """The SELECT of rows with types, from the file of lines."""
    values = [f'{_value(each, f"cells[{n}]")} AS "{each.name}"' for n, each in enumerate(columns, 1)]
    return f"""
        SELECT {", ".join(values)}
        FROM read_json($lines, format = 'newline_delimited', columns = {{cells: 'VARCHAR[]'}})
    """


def _value(column: TypedColumn, cell: str) -> str:
    if column.kind is CellKind.DECIMAL:
        return f"{cell}::DECIMAL(38, {column.digits})"
    return _VALUES[column.kind].format(cell)
