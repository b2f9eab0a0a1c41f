"""The temporary tables in which a funnel is worked out, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from duckdb import DuckDBPyConnection


class FunnelTables:
    """Tables of a connection, whose names begin with `funnel_`. They are gone behind the block."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self.connection = connection
        self._names: set[str] = set()

    def __enter__(self) -> FunnelTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:  # or else the connection, and its tables with it, is closed
            self.drop(*self._names)

    def make(self, name: str, select: str, values: Mapping[str, object] | None = None) -> int:
        """Make the table `funnel_` and this name. Returns the number of its rows."""
        statement = f"CREATE OR REPLACE TEMP TABLE funnel_{name} AS {select}"
        made = self.connection.execute(statement, dict(values or {})).fetchone()
        self._names.add(name)
        return int(made[0]) if made else 0

    def drop(self, *names: str) -> None:
        """Drop these tables."""
        for name in names:
            self.connection.execute(f"DROP TABLE IF EXISTS temp.funnel_{name}")
            self._names.discard(name)
