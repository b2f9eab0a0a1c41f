"""Devices as rows, with their visits and with whose they were."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from duckdb import DuckDBPyConnection

from backend.domain.ids import DeviceId
from backend.storage.analytics import visit_rows
from backend.storage.analytics.link_rows import number_links
from backend.storage.analytics.staged import milliseconds, milliseconds_or_none, stage
from backend.storage.mongo import Document
from backend.storage.touches import touch_of

# What is read of a device's document.
FIELDS = dict.fromkeys(
    ("device_id", "last_seen_at", "first_touch", "touches", "customers", "direct_visits"), 1
)
_TABLES = ("devices", "visits", "identities")
_DEVICE = {"device": "VARCHAR", "last_seen_at": "BIGINT"}
_VISIT = {"device": "VARCHAR", "number": "INTEGER", "is_touch": "BOOLEAN", **visit_rows.SHAPE}
_IDENTITY = {
    "device": "VARCHAR",
    "number": "INTEGER",
    "at": "BIGINT",
    "known_at": "BIGINT",
    "customer": "VARCHAR",
    "taken_back_at": "BIGINT",
    "replaced_at": "BIGINT",
}


def delete_devices(connection: DuckDBPyConnection, ids: Collection[DeviceId]) -> None:
    """Delete what is there of these devices."""
    stage(connection, "staged_gone", {"device": "VARCHAR"}, ((each,) for each in ids))
    known = "SELECT device FROM devices WHERE device IN (SELECT device FROM staged_gone)"
    if gone := [device for (device,) in connection.execute(known).fetchall()]:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE device IN (SELECT unnest($gone))", {"gone": gone})


def insert_devices(connection: DuckDBPyConnection, documents: Sequence[Document]) -> None:
    """Add these devices, of which nothing is there."""
    stage(connection, "staged_devices", _DEVICE, map(_device, documents))
    stage(connection, "staged_visits", _VISIT, _each_of(documents, _visits))
    stage(connection, "staged_identities", _IDENTITY, _each_of(documents, _identities))
    number_links(connection, "SELECT link_id AS id FROM staged_visits")
    connection.execute("INSERT INTO devices FROM staged_devices")
    visits = visit_rows.WITH_NUMBERS.format("staged_visits")
    connection.execute(f"INSERT INTO visits BY NAME {visits} ORDER BY device, number")
    connection.execute("INSERT INTO identities FROM staged_identities")


def see_devices(connection: DuckDBPyConnection, seen: Mapping[DeviceId, datetime]) -> None:
    """Note when these devices, as far as they are there, were seen last."""
    rows = ((device, milliseconds(at)) for device, at in seen.items())
    stage(connection, "staged_devices", _DEVICE, rows)
    connection.execute(
        "UPDATE devices SET last_seen_at = given.last_seen_at FROM staged_devices AS given "
        "WHERE devices.device = given.device AND devices.last_seen_at <> given.last_seen_at"
    )


def _each_of(
    documents: Iterable[Document], rows: Callable[[Document], Iterable[tuple[object, ...]]]
) -> Iterator[tuple[object, ...]]:
    """These rows of all devices, each with its device."""
    return ((each["device_id"], *row) for each in documents for row in rows(each))


def _device(document: Document) -> tuple[object, ...]:
    return document["device_id"], milliseconds(document["last_seen_at"])


def _visits(document: Document) -> Iterator[tuple[object, ...]]:
    """Its visits in the order in which domain/histories numbers them: direct ones, then touches."""
    direct = document.get("direct_visits") or ()
    for number, each in enumerate(direct):
        known_at = each.get("received_at") or each["at"]
        yield number, False, milliseconds(each["at"]), milliseconds(known_at), *_NOTHING
    touches = list(map(touch_of, document["touches"]))
    first = document["first_touch"] and touch_of(document["first_touch"])
    if first and first not in touches:
        touches.insert(0, first)
    for number, touch in enumerate(touches, len(direct)):
        yield number, True, *visit_rows.visit_row(touch)


# Of a direct visit, nothing but its time is known.
_NOTHING = (*(None for _ in range(len(visit_rows.SHAPE) - 3)), False)


def _identities(document: Document) -> Iterator[tuple[object, ...]]:
    for number, each in enumerate(document["customers"]):
        yield (
            number,
            milliseconds(each["at"]),
            milliseconds(each.get("received_at") or each["at"]),
            each["customer_id"],
            milliseconds_or_none(each.get("taken_back_at")),
            milliseconds_or_none(each.get("replaced_at")),
        )
