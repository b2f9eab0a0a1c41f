"""Visits as rows: those of devices, and those that records keep."""

from __future__ import annotations

from collections.abc import Collection

from backend.storage.columns.rows.links import UTM_COLUMNS
from backend.storage.columns.tables.staged import Shape, milliseconds, milliseconds_or_none
from backend.storage.driver.mongo import Document
from backend.storage.visitors.touches import touch_of

_NUMBERS = ("at", "known_at")
_TEXTS = ("link_id", *UTM_COLUMNS.values(), "variant")
SHAPE: Shape = {
    **dict.fromkeys(_NUMBERS, "BIGINT"),
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    "click_at": "BIGINT",
    "click_mark": "BIGINT",
    "is_named": "BOOLEAN",
}
# The SELECT of a table of staged visits, with the links' numbers instead of their ids.
WITH_NUMBERS = (
    "SELECT staged.* EXCLUDE (link_id), links.link FROM {} AS staged "
    "LEFT JOIN links ON links.id = staged.link_id"
)


def visit_row(touch: Document) -> tuple[object, ...]:
    """A stored touch, in the order of `SHAPE`."""
    # Not by `touch_of`, which takes as long again.
    get, at = touch.get, touch["at"]
    utm = get("utm") or {}
    return (
        milliseconds(at),
        milliseconds(get("received_at") or at),
        get("link_id"),
        *map(utm.get, UTM_COLUMNS),
        get("variant"),
        milliseconds_or_none(get("click_at")),
        get("click_mark"),
        get("is_named", False),
    )


def is_among(touch: Document, others: Collection[Document]) -> bool:
    """Whether a stored touch says the same as one of the others."""
    # Nearly always one is the very same.
    return touch in others or touch_of(touch) in map(touch_of, others)
