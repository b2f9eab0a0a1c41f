"""Devices as rows, with their visits and the customers that they were identified as."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from duckdb import DuckDBPyConnection

from backend.domain.ids import DeviceId
from backend.storage.columns.rows import visits as visit_rows
from backend.storage.columns.rows.links import number_links
from backend.storage.columns.tables.staged import milliseconds, milliseconds_or_none, stage
from backend.storage.driver.mongo import Document

# What is read of a device's document.
FIELDS = dict.fromkeys(
    ("device_id", "last_seen_at", "first_touch", "touches", "customers", "direct_visits"), 1
)
_TABLES = ("devices", "visits", "identities")
_ENTRY = {"device": "VARCHAR", "entry": "BIGINT"}
_SEEN = {"device": "VARCHAR", "last_seen_at": "BIGINT"}
_VISIT = {**_ENTRY, "number": "INTEGER", "is_touch": "BOOLEAN", **visit_rows.SHAPE}
_IDENTITY = {
    **_ENTRY,
    "number": "INTEGER",
    "at": "BIGINT",
    "known_at": "BIGINT",
    "customer": "VARCHAR",
    "taken_back_at": "BIGINT",
    "replaced_at": "BIGINT",
    "is_server": "BOOLEAN",
}


# Joins `devices` to a table of staged devices.
_IS_SAME = "devices.key = md5_number_lower(staged.device) AND devices.device = staged.device"


def delete_devices(connection: DuckDBPyConnection, ids: Collection[DeviceId]) -> None:
    """Delete all rows of these devices."""
    stage(connection, "staged_gone", {"device": "VARCHAR"}, ((device_id,) for device_id in ids))
    entries = f"SELECT entry FROM devices JOIN staged_gone AS staged ON {_IS_SAME}"
    if gone := [entry for (entry,) in connection.execute(entries).fetchall()]:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE entry IN (SELECT unnest($gone))", {"gone": gone})


def insert_devices(connection: DuckDBPyConnection, documents: Sequence[Document]) -> None:
    """Add the rows of these devices, which have no rows yet."""
    if not documents:
        return
    last = connection.execute("SELECT coalesce(max(entry), 0) FROM devices").fetchone()
    assert last
    numbered = list(enumerate(documents, last[0] + 1))
    stage(
        connection, "staged_devices", {**_ENTRY, "last_seen_at": "BIGINT"}, _numbered_rows(numbered, _device)
    )
    keyed = "SELECT *, md5_number_lower(device) AS key FROM staged_devices"
    connection.execute(f"INSERT INTO devices BY NAME {keyed}")
    if visits := list(_numbered_rows(numbered, _visits)):
        stage(connection, "staged_visits", _VISIT, visits)
        number_links(connection, "SELECT link_id AS id FROM staged_visits")
        with_links = visit_rows.WITH_NUMBERS.format("staged_visits")
        connection.execute(f"INSERT INTO visits BY NAME {with_links} ORDER BY entry, number")
    if identities := list(_numbered_rows(numbered, _identities)):
        stage(connection, "staged_identities", _IDENTITY, identities)
        connection.execute("INSERT INTO identities BY NAME FROM staged_identities")


def see_devices(connection: DuckDBPyConnection, seen: Mapping[DeviceId, datetime]) -> None:
    """Note when these devices, as far as they are there, were seen last."""
    stage(connection, "staged_seen", _SEEN, ((device, milliseconds(at)) for device, at in seen.items()))
    connection.execute(
        "UPDATE devices SET last_seen_at = staged.last_seen_at FROM staged_seen AS staged "
        f"WHERE {_IS_SAME} AND devices.last_seen_at <> staged.last_seen_at"
    )


def _numbered_rows(
    numbered: Iterable[tuple[int, Document]], rows: Callable[[Document], Iterable[tuple[object, ...]]]
) -> Iterator[tuple[object, ...]]:
    """These rows of all devices, each with its device and the number of the device's rows."""
    return ((device["device_id"], entry, *row) for entry, device in numbered for row in rows(device))


def _device(document: Document) -> Iterator[tuple[object, ...]]:
    yield (milliseconds(document["last_seen_at"]),)


def _visits(document: Document) -> Iterator[tuple[object, ...]]:
    """Its visits in the order in which domain/sales/histories numbers them: direct ones, then touches."""
    direct = document["direct_visits"]
    for number, visit in enumerate(direct):
        known_at = visit.get("received_at") or visit["at"]
        yield number, False, milliseconds(visit["at"]), milliseconds(known_at), *_NO_SOURCE
    touches, first = document["touches"], document["first_touch"]
    if first and not visit_rows.is_among(first, touches):
        touches = [first, *touches]
    for number, touch in enumerate(touches, len(direct)):
        yield number, True, *visit_rows.visit_row(touch)


# The other columns of a direct visit, of which only the time is known.
_NO_SOURCE = (*(None for _ in range(len(visit_rows.SHAPE) - 3)), False)


def _identities(document: Document) -> Iterator[tuple[object, ...]]:
    for number, identity in enumerate(document["customers"]):
        yield (
            number,
            milliseconds(identity["at"]),
            milliseconds(identity.get("received_at") or identity["at"]),
            identity["customer_id"] or "",
            milliseconds_or_none(identity.get("taken_back_at")),
            milliseconds_or_none(identity.get("replaced_at")),
            identity.get("is_server", False),
        )
