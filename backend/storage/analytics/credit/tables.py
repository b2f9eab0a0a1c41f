"""The tables in which credit is worked out, step by step."""

from __future__ import annotations

from collections.abc import Mapping

from duckdb import DuckDBPyConnection

from backend.storage.analytics.conditions.moment_answers import execute_parsed
from backend.storage.analytics.conditions.sql import Sql

# What the tables are called behind `credit_`. DuckDB's own list of tables would have to be asked of all files
# that are open, and hold them open until the moment ends (storage/columns/tables/moments).
NAMES = (
    "amounts",
    "any_identity",
    "any_telling",
    "counted",
    "crowded",
    "identified",
    "kept",
    "nameless",
    "nobodys",
    "odd",
    "odd_path",
    "odd_sales",
    "owners",
    "paid_back",
    "people",
    "plain",
    "ranks",
    "sales",
    "several",
    "spans",
    "told_again",
    "told_sales",
    "unlisted",
    "wrong",
)


class CreditTables:
    """Temporary tables of a connection, whose names begin with `credit_`.

    After each step the number of rows is known. So the next step does not look for what an empty table would
    hold, and DuckDB knows the sizes of what it joins.
    """

    def __init__(self, connection: DuckDBPyConnection, values: Mapping[str, object]) -> None:
        """Start without tables. `values` are the parameters that statements may name."""
        self._connection = connection
        self._values = values
        self._rows: dict[str, int] = {}

    def make(self, name: str, select: str) -> None:
        """Make the table `credit_` and this name, which is one of NAMES."""
        assert name in NAMES, name
        statement = self.with_values(f"CREATE OR REPLACE TEMP TABLE credit_{name} AS {select}")
        [(self._rows[name],)] = execute_parsed(self._connection, statement.text, statement.values)

    def has(self, name: str) -> bool:
        """Whether there is such a table, and anything in it."""
        return self._rows.get(name, 0) > 0

    def drop(self, *names: str) -> None:
        """Drop these tables, as far as they are there."""
        for name in names:
            if self._rows.pop(name, None) is not None:
                execute_parsed(self._connection, f"DROP TABLE temp.credit_{name}")

    def with_values(self, text: str) -> Sql:
        """The statement with those parameters that its text names."""
        return Sql(text, {name: value for name, value in self._values.items() if f"${name}" in text})


def forget_credit(connection: DuckDBPyConnection) -> None:
    """Drop all tables that credit was worked out in."""
    for name in NAMES:
        execute_parsed(connection, f"DROP TABLE IF EXISTS temp.credit_{name}")
