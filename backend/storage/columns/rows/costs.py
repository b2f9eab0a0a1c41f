"""Costs of campaigns as rows."""

from __future__ import annotations

from collections.abc import Iterable

from duckdb import DuckDBPyConnection

from backend.domain.feed.facts import Fact, cost_fact
from backend.storage.columns.tables.staged import Shape, stage
from backend.storage.costs.costs import from_document
from backend.storage.driver.mongo import Document

_SHAPE: Shape = {
    "id": "VARCHAR",
    "campaign": "VARCHAR",
    "day": "INTEGER",
    "currency": "VARCHAR",
    "digits": "UTINYINT",
    "amount": "BIGINT",
}
_FIELDS = ("cost_id", "campaign", "day", "currency", "digits", "units")


def put_costs(connection: DuckDBPyConnection, facts: Iterable[Fact]) -> None:
    """Write what these facts say of costs, the last one of each; without `units`, it is deleted."""
    last = {fact["cost_id"]: fact for fact in facts}
    stage(connection, "staged_costs", _SHAPE, ([fact[name] for name in _FIELDS] for fact in last.values()))
    connection.execute("DELETE FROM costs WHERE id IN (SELECT id FROM staged_costs)")
    connection.execute("INSERT INTO costs SELECT * FROM staged_costs WHERE amount IS NOT NULL")


def insert_costs(connection: DuckDBPyConnection, documents: Iterable[Document]) -> None:
    """Write the costs of these documents."""
    put_costs(connection, (cost_fact(from_document(document).told) for document in documents))
