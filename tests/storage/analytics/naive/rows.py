"""The rows that an organization's tables must have, by a naive reading of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from duckdb import DuckDBPyConnection

from backend.domain.clicks.block import UnreadableBlock, unpack
from backend.domain.fields.money import digits_of, in_units
from backend.domain.ids import OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History
from backend.domain.sales.records import Record
from backend.domain.visitors.attribution import Device, Touch
from backend.domain.visitors.calls import Kind
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.blocks import parts_of
from backend.storage.costs import costs
from backend.storage.driver.mongo import Database, Document
from backend.storage.links import links, tags
from backend.storage.outbox import entries
from backend.storage.sales import conversions, leads
from backend.storage.sales.refunds import refunds_of
from backend.storage.visitors import devices, events
from backend.storage.visitors.records import record_of

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]
_UTM = ("utm_campaign", "utm_source", "utm_medium", "utm_term", "utm_content")
_VISIT = """
    links.id, {0}."at", known_at, {0}.campaign, {0}.source, {0}.medium, {0}.term, {0}.content,
    variant, click_at, click_mark, is_named
"""
# What is compared, without the numbers that a file gives by itself.
_STORED: Mapping[str, str] = {
    "links": "SELECT id, domain, path, link_name, campaign, source, medium, term, content, tag_ids "
    "FROM links WHERE is_kept",
    "tags": "SELECT id, name FROM tags",
    "costs": "SELECT * FROM costs",
    "link_changes": """
        SELECT links.id, place, number, "at", type, changed FROM link_changes LEFT JOIN links USING (link)
    """,
    "clicks": """
        SELECT blocks.id, clicks."at", links.id, weight, outcome, reason, platform, system, browser, kind,
            country, referrer, variant, visitor
        FROM clicks JOIN blocks USING (block) JOIN links USING (link)
        WHERE clicks."at" // 86400000 = day
    """,
    "devices": "SELECT device, last_seen_at FROM devices",
    "visits": f"""
        SELECT device, number, is_touch, {_VISIT.format("visits")} FROM visits LEFT JOIN links USING (link)
    """,
    "identities": "SELECT * EXCLUDE (entry) FROM identities",
    "records": """
        SELECT kind, id, name, product_id, transaction_id, currency, digits, amount, records."at", metadata
        FROM records
    """,
    "tellings": "SELECT kind, id, tellings.* EXCLUDE (record) FROM tellings JOIN records USING (record)",
    "record_visits": f"""
        SELECT records.kind, records.id, telling, {_VISIT.format("record_visits")}
        FROM record_visits JOIN records USING (record) LEFT JOIN links USING (link)
    """,
    "amounts": "SELECT kind, id, amounts.* EXCLUDE (record) FROM amounts JOIN records USING (record)",
    "refunds": "SELECT kind, id, refunds.* EXCLUDE (record) FROM refunds JOIN records USING (record)",
    "installs": """
        SELECT installs.id, installs."at", platform, links.id FROM installs LEFT JOIN links USING (link)
    """,
}
_KINDS = {leads.NAME: Kind.LEAD, conversions.NAME: Kind.CONVERSION, events.NAME: Kind.EVENT}
# Tables whose rows all belong to rows of another, by which column.
_BELONGING = (
    *((table, key, "devices") for table in ("visits", "identities") for key in ("device", "entry")),
    *((table, "record", "records") for table in ("tellings", "record_visits", "amounts", "refunds")),
    *((table, "link", "links") for table in ("clicks", "visits", "record_visits", "installs")),
    ("clicks", "block", "blocks"),
)


_UNIQUE = (
    *("links.link", "links.id", "blocks.block", "blocks.id"),
    *("records.record", "devices.device", "devices.entry"),
)


def rows_in(columns: DuckDBPyConnection) -> Tables:
    """What is in the tables. Nothing in them may be without what it belongs to, or there twice."""
    for table, key, other in _BELONGING:
        astray = f"SELECT count(*) FROM {table} ANTI JOIN {other} USING ({key}) WHERE {key} IS NOT NULL"
        assert columns.execute(astray).fetchone() == (0,), (table, key)
    for key in (
        "links.link",
        "links.id",
        "blocks.block",
        "blocks.id",
        "records.record",
        "devices.device",
        "devices.entry",
    ):
        twice = f"SELECT {key} FROM {key.partition('.')[0]} GROUP BY 1 HAVING count(*) > 1"
        assert not columns.execute(twice).fetchall(), key
    empty = "SELECT count(*) FROM links WHERE NOT is_kept AND coalesce(domain, path, campaign) IS NOT NULL"
    assert columns.execute(empty).fetchone() == (0,)
    return {table: _ordered(columns.execute(query).fetchall()) for table, query in _STORED.items()}


async def rows_of(database: Database, org_id: OrgId) -> Tables:
    """What must be there of the documents that MongoDB has now."""
    tables: Tables = {table: [] for table in _STORED}
    for name, rows in _READERS.items():
        async for document in database[name].find({"org_id": org_id}):
            for table, row in rows(document):
                tables[table].append(row)
    kept = {link[0] for link in tables["links"]}
    tables["link_changes"] = [change for change in tables["link_changes"] if change[0] in kept]
    return {table: _ordered(rows) for table, rows in tables.items()}


def _ordered(rows: list[Row]) -> list[Row]:
    return sorted((_plain(row) for row in rows), key=repr)


def _plain(row: Row) -> Row:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row)


def _ms(at: datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * 1000)


def _link(document: Document) -> Iterator[tuple[str, Row]]:
    named = (document[name] for name in ("domain", "path", "link_name"))
    utm = (document["utm"].get(name) for name in _UTM)
    yield "links", (document["_id"], *named, *utm, document["tag_ids"])


def _entry(document: Document) -> Iterator[tuple[str, Row]]:
    """The changes of links that an entry of the feed tells, once it has its place."""
    for number, fact in enumerate(document["facts"] if "place" in document else []):
        if fact["type"].startswith("link.") and not fact.get("purged"):
            what = (_ms(fact["at"]), fact["type"], fact["changed"])
            yield "link_changes", (fact["link"]["_id"], document["place"], number, *what)


def _tag(document: Document) -> Iterator[tuple[str, Row]]:
    yield "tags", (document["_id"], document["name"])


def _cost(document: Document) -> Iterator[tuple[str, Row]]:
    cost_id = document["_id"].partition("/")[2]
    day = (date.fromisoformat(document["day"]) - date(1970, 1, 1)).days
    amount = document["amount"].to_decimal()
    digits = digits_of(amount, document["currency"])
    row = (cost_id, document["campaign"], day, document["currency"], digits, in_units(amount, digits))
    yield "costs", row


def _block(document: Document) -> Iterator[tuple[str, Row]]:
    try:
        clicks = unpack(document["packed"]).clicks(document["org_id"])
    except UnreadableBlock:
        return
    for part in parts_of(document):
        for _, click in zip(range(part.clicks), clicks, strict=False):
            what = (
                click.outcome,
                click.reason,
                click.platform,
                click.system,
                click.browser,
                click.client_kind,
            )
            facts = (click.country, click.referrer_host, click.variant, click.visitor)
            yield "clicks", (part.id, _ms(click.at), click.link_id, 1, *map(_text, what), *facts)


def _text(value: str | None) -> str | None:
    return None if value is None else str(value)


def _device(document: Document) -> Iterator[tuple[str, Row]]:
    device: Device = devices.from_document(document)
    yield "devices", (device.id, _ms(device.last_seen_at))
    for at, is_touch, _, number, touch, _, is_named in History.of_device(device, CreditRules()).visits:
        if touch:
            yield "visits", (device.id, number, is_touch, *_visit(touch))
        else:
            told_at = device.direct_visits[number].received_at or at
            row = (None, _ms(at), _ms(told_at), *[None] * 8, is_named)
            yield "visits", (device.id, number, is_touch, *row)
    for number, identification in enumerate(device.customers):
        known_at = _ms(identification.received_at or identification.at)
        back = (_ms(identification.taken_back_at), _ms(identification.replaced_at))
        whose = (identification.customer_id or "", *back, identification.is_server)
        yield "identities", (device.id, number, _ms(identification.at), known_at, *whose)


def _visit(touch: Touch) -> Row:
    times = (_ms(touch.at), _ms(touch.received_at or touch.at))
    click = (_ms(touch.click_at), touch.click_mark)
    return touch.link_id, *times, *map(touch.utm.get, _UTM), touch.variant, *click, touch.is_named


def _record(kind: Kind) -> Callable[[Document], Iterator[tuple[str, Row]]]:
    return lambda document: _rows_of_record(record_of(kind, document), document)


def _metadata(record: Record) -> dict[str, str] | None:
    """An event's texts, numbers and truth values, as they read."""
    told = record.fields.get("metadata", {}) if record.kind is Kind.EVENT else {}
    plain = {name: value for name, value in told.items() if isinstance(value, str | int | float)}
    texts = {
        name: value if isinstance(value, str) else str(value).lower().removesuffix(".0")
        for name, value in plain.items()
    }
    return texts or None


def _rows_of_record(record: Record, document: Document) -> Iterator[tuple[str, Row]]:
    key, fields = (record.kind.value, record.call_id), record.fields
    name = fields.get("name") if record.kind is Kind.EVENT else None
    digits = digits_of(fields["revenue"], fields["currency"]) if "revenue" in fields else None
    amount = None if digits is None else in_units(fields["revenue"], digits)
    named = (name, *map(fields.get, ("product_id", "transaction_id", "currency")))
    yield "records", (*key, *named, digits, amount, _ms(record.at), _metadata(record))
    for number, told in enumerate(record.tellings):
        who = (told.device_id, told.customer_id, told.is_server)
        yield "tellings", (*key, number, _ms(told.at), _ms(told.received_at), *who)
        if told.visit:
            yield "record_visits", (*key, number, *_visit(told.visit))
    for touch in record.credit.touches:
        yield "record_visits", (*key, None, *_visit(touch))
    for refund in refunds_of(document):
        assert digits is not None
        known_at = _ms(refund.received_at or refund.at)
        # A server may have told another currency of the sale since.
        is_of_sale = refund.currency == document["currency"]
        amount = in_units(refund.amount, digits if is_of_sale else digits_of(refund.amount, refund.currency))
        yield "refunds", (*key, _ms(refund.at), known_at, refund.currency, amount)
    amounts = list(_amounts(record))
    if len({amount[1:] for amount in amounts}) > 1:
        yield from (("amounts", (*key, *amount)) for amount in amounts)


def _amounts(record: Record) -> Iterator[Row]:
    """The amount of a sale at each moment at which it was told."""
    for moment in sorted({told.received_at for told in record.tellings}):
        known = tuple(told for told in record.tellings if told.received_at <= moment)
        fields = replace(record, tellings=known).fields
        if "revenue" in fields:
            digits = digits_of(fields["revenue"], fields["currency"])
            yield _ms(moment), fields["currency"], digits, in_units(fields["revenue"], digits)


def _install(document: Document) -> Iterator[tuple[str, Row]]:
    own_id = document["_id"].partition("/")[2]
    yield "installs", (own_id, _ms(document["at"]), document["platform"], document["link_id"])


_READERS: Mapping[str, Callable[[Document], Iterator[tuple[str, Row]]]] = {
    links.NAME: _link,
    tags.NAME: _tag,
    costs.NAME: _cost,
    entries.NAME: _entry,
    click_blocks.NAME: _block,
    devices.NAME: _device,
    **{name: _record(kind) for name, kind in _KINDS.items()},
    installs.NAME: _install,
}
