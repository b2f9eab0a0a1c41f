"""The tables and views in PostgreSQL: one table of all events, a view for each type, and the cursors."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

from backend.domain.feed.events import EventType
from backend.follow.event_fields import EventField, FieldKind, fields_of
from backend.follow.event_views import VIEWS, columns_in_order

_OWN_COLUMNS = ("id", "org_id", "at", "place", "index", "written_at")
_CASTS = {
    FieldKind.FLAG: "boolean",
    FieldKind.INTEGER: "bigint",
    FieldKind.NUMBER: "numeric",
    FieldKind.TIME: "timestamptz",
}

_TABLES = """
CREATE TABLE waylink_events (
    id text PRIMARY KEY,
    org_id uuid NOT NULL,
    type text NOT NULL,
    at timestamptz NOT NULL,
    place bigint NOT NULL,
    index integer NOT NULL,
    data jsonb NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    link_id text GENERATED ALWAYS AS (coalesce(data ->> 'link_id', data -> 'link' ->> 'id')) STORED,
    device_id text GENERATED ALWAYS AS (data ->> 'device_id') STORED,
    customer_id text GENERATED ALWAYS AS (data ->> 'customer_id') STORED,
    install_id text GENERATED ALWAYS AS (data ->> 'install_id') STORED,
    email_sha256 text GENERATED ALWAYS AS (data ->> 'email_sha256') STORED
);
CREATE UNIQUE INDEX waylink_events_order ON waylink_events (org_id, place, index);
CREATE INDEX waylink_events_type_at ON waylink_events (type, at);
CREATE INDEX waylink_events_link_id ON waylink_events (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX waylink_events_device_id ON waylink_events (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX waylink_events_customer_id ON waylink_events (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX waylink_events_install_id ON waylink_events (install_id) WHERE install_id IS NOT NULL;
CREATE INDEX waylink_events_email_sha256 ON waylink_events (email_sha256) WHERE email_sha256 IS NOT NULL;
CREATE INDEX waylink_events_refunded ON waylink_events ((data ->> 'conversion_id')) WHERE type = 'refund';
CREATE TABLE waylink_cursors (
    org_id uuid PRIMARY KEY,
    types text[],
    cursor text NOT NULL,
    moved_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE waylink_events IS 'Events of Waylink, each once; `waylink follow` writes them';
COMMENT ON COLUMN waylink_events.at IS 'when it happened';
COMMENT ON COLUMN waylink_events.place IS 'with index, the order of an organization''s events';
COMMENT ON COLUMN waylink_events.written_at IS 'when the row was written';
COMMENT ON TABLE waylink_cursors IS 'How far `waylink follow` has read; nobody else changes it';
"""


async def make_tables(connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
    """Create missing tables and views, in the open transaction. Views get new columns."""
    # Followers of two organizations may create the tables at the same time.
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('waylink tables ' || current_schema(), 0))"
    )
    table = await (await connection.execute("SELECT to_regclass('waylink_events')")).fetchone()
    if table == (None,):
        await connection.execute(_TABLES)
    for type_, name in VIEWS.items():
        current_columns = await _columns(connection, name)
        fields = {field.name: field for field in fields_of(type_)}
        if not current_columns or fields.keys() - current_columns:
            # Columns of a view can only be added behind those that it has.
            in_order = columns_in_order(current_columns, fields)
            await connection.execute(_view(type_, name, [fields[column] for column in in_order]))


async def _columns(connection: psycopg.AsyncConnection[tuple[Any, ...]], view: str) -> list[str]:
    """The columns of a view in their order; none where there is no such view."""
    cursor = await connection.execute(
        "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0"
        " ORDER BY attnum",
        [view],
    )
    return [name async for (name,) in cursor]


def _view(type_: EventType, name: str, fields: list[EventField]) -> Composed:
    columns = [*map(Identifier, _OWN_COLUMNS), *map(_column, fields)]
    return SQL("CREATE OR REPLACE VIEW {} AS SELECT {} FROM waylink_events WHERE type = {}").format(
        Identifier(name), SQL(", ").join(columns), Literal(type_.value)
    )


def _column(field: EventField) -> Composed:
    path = Literal("{" + ",".join(field.path) + "}")
    value = SQL("data #> {}" if field.kind is FieldKind.OTHER else "data #>> {}").format(path)
    cast = SQL("::") + SQL(_CASTS[field.kind]) if field.kind in _CASTS else SQL("")
    return SQL("({}){} AS {}").format(value, cast, Identifier(field.name))
