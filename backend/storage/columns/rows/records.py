"""Leads, conversions and events as rows, with what was told of them, their visits and their refunds."""

# ruff: noqa: S608 - names of tables and columns are constants, and values are parameters

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from duckdb import DuckDBPyConnection

from backend.domain.analytics.event_properties import property_texts
from backend.domain.fields.money import digits_of, in_units
from backend.domain.ids import CallId
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.tellings import fields_over_time
from backend.storage.columns.rows import visits as visit_rows
from backend.storage.columns.rows.links import number_links
from backend.storage.columns.tables.staged import Shape, milliseconds, stage
from backend.storage.driver.mongo import Document
from backend.storage.sales import conversions, leads
from backend.storage.sales.refunds import FIELD as REFUNDS
from backend.storage.sales.refunds import refunds_of
from backend.storage.visitors import events
from backend.storage.visitors.calls import key_of
from backend.storage.visitors.records import TELLINGS, TOUCHES, tellings_of

KINDS: Mapping[str, Kind] = {
    leads.NAME: Kind.LEAD,
    conversions.NAME: Kind.CONVERSION,
    events.NAME: Kind.EVENT,
}
# What is read of a record's document.
FIELDS = dict.fromkeys(
    (
        *("at", "received_at", "device_id", "customer_id", TELLINGS, *TOUCHES),
        *("name", "product_id", "transaction_id", "currency", "revenue", "metadata", REFUNDS),
    ),
    1,
)
RecordName: TypeAlias = tuple[Kind, CallId]
RecordRow: TypeAlias = tuple[object, ...]
_TELLING = {
    "number": "INTEGER",
    "at": "BIGINT",
    "known_at": "BIGINT",
    "device": "VARCHAR",
    "customer": "VARCHAR",
    "is_server": "BOOLEAN",
}
_RECORD = {
    **dict.fromkeys(("kind", "id", "name", "product_id", "transaction_id", "currency"), "VARCHAR"),
    "digits": "UTINYINT",
    "amount": "BIGINT",
    "at": "BIGINT",
    "metadata": "MAP(VARCHAR, VARCHAR)",
}
_SHAPES: Mapping[str, Shape] = {
    "records": _RECORD,
    "tellings": _TELLING,
    "record_visits": {"telling": "INTEGER", **visit_rows.SHAPE},
    "amounts": {"known_at": "BIGINT", "currency": "VARCHAR", "digits": "UTINYINT", "amount": "BIGINT"},
    "refunds": {"at": "BIGINT", "known_at": "BIGINT", "currency": "VARCHAR", "amount": "BIGINT"},
}


_KEY = "md5_number_lower({0}.kind || ' ' || {0}.id)"


def delete_records(connection: DuckDBPyConnection, names: Collection[RecordName]) -> None:
    """Delete all rows of these records."""
    stage(connection, "staged_gone", {"kind": "VARCHAR", "id": "VARCHAR"}, names)
    gone = connection.execute(
        "SELECT record FROM records JOIN staged_gone AS gone "
        f"ON records.key = {_KEY.format('gone')} AND records.kind = gone.kind AND records.id = gone.id"
    ).fetchall()
    for table in _SHAPES if gone else ():
        of_these = {"gone": [record for (record,) in gone]}
        connection.execute(f"DELETE FROM {table} WHERE record IN (SELECT unnest($gone))", of_these)


def delete_kind(connection: DuckDBPyConnection, kind: Kind) -> None:
    """Delete all rows of the records of this kind."""
    of_kind = "SELECT record FROM records WHERE kind = $kind"
    for table in reversed(list(_SHAPES)):  # the records themselves last
        connection.execute(f"DELETE FROM {table} WHERE record IN ({of_kind})", {"kind": kind.value})


def insert_records(connection: DuckDBPyConnection, kind: Kind, documents: Sequence[Document]) -> None:
    """Add the rows of these records of one kind, which have no rows yet."""
    last = connection.execute("SELECT coalesce(max(record), 0) FROM records").fetchone()
    assert last
    numbered = list(enumerate(map(_Read.of, [kind] * len(documents), documents), last[0] + 1))
    for table, rows_of in _ROWS.items():
        if rows := list(_numbered_rows(numbered, rows_of)):
            stage(connection, f"staged_{table}", {"record": "BIGINT", **_SHAPES[table]}, rows)
            connection.execute(f"INSERT INTO {table} BY NAME {_from_staged(connection, table)}")


def _from_staged(connection: DuckDBPyConnection, table: str) -> str:
    """The query for the rows of a table."""
    if table == "record_visits":
        number_links(connection, "SELECT link_id AS id FROM staged_record_visits")
        return visit_rows.WITH_NUMBERS.format("staged_record_visits")
    if table == "records":
        return f"SELECT *, {_KEY.format('staged')} AS key FROM staged_records AS staged"
    return f"FROM staged_{table}"


class _Read(NamedTuple):
    """A record's kind and document, and how many decimals its amounts are counted with."""

    kind: Kind
    document: Document
    revenue: Decimal | None
    digits: int | None

    @classmethod
    def of(cls, kind: Kind, document: Document) -> _Read:
        """What is read of a record's document."""
        currency = document.get("currency")
        if currency is None:
            return cls(kind, document, None, None)
        revenue = document["revenue"].to_decimal()
        return cls(kind, document, revenue, digits_of(revenue, currency))


def _numbered_rows(
    numbered: Iterable[tuple[int, _Read]], rows: Callable[[_Read], Iterable[RecordRow]]
) -> Iterator[RecordRow]:
    """These rows of all records, each with its record's number."""
    return ((number, *row) for number, record in numbered for row in rows(record))


def _record(read: _Read) -> Iterator[RecordRow]:
    kind, document, revenue, digits = read
    yield (
        kind.value,
        key_of(document["_id"])[1],
        # A lead's name is that of a customer.
        document.get("name") if kind is Kind.EVENT else None,
        *(document.get(name) for name in ("product_id", "transaction_id", "currency")),
        digits,
        None if revenue is None or digits is None else in_units(revenue, digits),
        milliseconds(document["at"]),
        property_texts(document.get("metadata")) if kind is Kind.EVENT else None,
    )


def _tellings_of(read: _Read) -> Sequence[Document]:
    """The tellings of the record. A record that only a browser told, and once, is its own telling."""
    return read.document.get(TELLINGS) or [read.document]


def _tellings(read: _Read) -> Iterator[RecordRow]:
    for number, telling in enumerate(_tellings_of(read)):
        at = telling["at"]
        known_at = milliseconds(telling.get("received_at") or at)
        is_server = telling.get("is_server", False)
        yield number, milliseconds(at), known_at, telling["device_id"], telling["customer_id"], is_server


def _visits(read: _Read) -> Iterator[RecordRow]:
    for number, telling in enumerate(_tellings_of(read)):
        if visit := telling.get("visit"):
            yield number, *visit_rows.visit_row(visit)
    copies: list[Document] = []
    for touch in filter(None, map(read.document.get, TOUCHES)):
        if not visit_rows.is_among(touch, copies):
            copies.append(touch)
            yield None, *visit_rows.visit_row(touch)


def _amounts(read: _Read) -> Iterator[RecordRow]:
    if read.digits is None or len(_tellings_of(read)) == 1:
        return
    told = fields_over_time(tellings_of(read.kind, read.document))
    amounts = [(known_at, fields["currency"], fields["revenue"]) for known_at, fields in told]
    if all(amount[1:] == amounts[0][1:] for amount in amounts):
        return
    for known_at, currency, revenue in amounts:
        digits = digits_of(revenue, currency)
        yield milliseconds(known_at), currency, digits, in_units(revenue, digits)


def _refunds(read: _Read) -> Iterator[RecordRow]:
    for refund in refunds_of(read.document):
        known_at = refund.received_at or refund.at
        is_of_sale = refund.currency == read.document["currency"]
        digits = read.digits if is_of_sale else digits_of(refund.amount, refund.currency)
        amount = in_units(refund.amount, digits or 0)
        yield milliseconds(refund.at), milliseconds(known_at), refund.currency, amount


_ROWS: Mapping[str, Callable[[_Read], Iterable[RecordRow]]] = {
    "records": _record,
    "tellings": _tellings,
    "record_visits": _visits,
    "amounts": _amounts,
    "refunds": _refunds,
}
