"""The tables and views in ClickHouse: one table of all events, a view for each type, and the cursors.

The key of an event is its organization, place and index. An event that is written again replaces the earlier
row: the views, and the table with FINAL, show each event once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backend.domain.feed.events import EventType
from backend.follow.event_fields import FieldKind, fields_of
from backend.follow.event_rows import MORE, OWN, field_kinds
from backend.follow.event_views import VIEWS, columns_in_order

_TEXT = "Nullable(String)"
_TYPES = {
    FieldKind.FLAG: "Nullable(Bool)",
    FieldKind.INTEGER: "Nullable(Int64)",
    FieldKind.NUMBER: "Nullable(Decimal(38, 6))",
    FieldKind.TIME: "Nullable(DateTime64(6, 'UTC'))",
}
_EVENTS = """
CREATE TABLE IF NOT EXISTS waylink_events (
    org_id UUID,
    place UInt64,
    `index` UInt32,
    id String,
    type LowCardinality(String),
    at DateTime64(6, 'UTC'),
    written_at DateTime64(6, 'UTC') DEFAULT now64(6)
) ENGINE = ReplacingMergeTree(written_at)
PARTITION BY toYYYYMM(at)
ORDER BY (org_id, place, `index`)
"""
_CURSORS = """
CREATE TABLE IF NOT EXISTS waylink_cursors (
    org_id UUID,
    types String,
    `cursor` String,
    moved_at DateTime64(6, 'UTC') DEFAULT now64(6)
) ENGINE = ReplacingMergeTree(moved_at)
ORDER BY org_id
"""
# The columns of all views that are there.
COLUMNS = f"""
SELECT table, groupArray(name) FROM (
    SELECT table, name FROM system.columns
    WHERE database = currentDatabase() AND table IN ({", ".join(f"'{view}'" for view in VIEWS.values())})
    ORDER BY table, position
) GROUP BY table FORMAT JSONCompactEachRow
"""  # noqa: S608 - of constants


def statements(columns_of_views: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The statements that create missing tables and views, and add new columns."""
    yield _EVENTS
    yield _CURSORS
    columns = {name: _TYPES.get(kind, _TEXT) for name, kind in field_kinds().items()} | {MORE: _TEXT}
    additions = ", ".join(f"ADD COLUMN IF NOT EXISTS `{name}` {type_}" for name, type_ in columns.items())
    yield f"ALTER TABLE waylink_events {additions}"
    for type_, view in VIEWS.items():
        yield _view(type_, view, columns_of_views.get(view, ()))


def _view(type_: EventType, view: str, current_columns: Sequence[str]) -> str:
    own_columns = [column for column in OWN if column != "type"]
    fields = dict.fromkeys((*own_columns, "org_id", *(field.name for field in fields_of(type_)), MORE))
    column_list = ", ".join(f"`{column}`" for column in columns_in_order(current_columns, fields))
    of_type = f"type = '{type_.value}'"
    return f"CREATE OR REPLACE VIEW {view} AS SELECT {column_list} FROM waylink_events FINAL WHERE {of_type}"  # noqa: S608 - of constants
