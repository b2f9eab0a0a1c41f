"""Visits as rows: those of devices, and those that records keep."""

from __future__ import annotations

from backend.domain.attribution import Touch
from backend.storage.analytics.link_rows import UTM_COLUMNS
from backend.storage.analytics.staged import Shape, milliseconds, milliseconds_or_none

_NUMBERS = ("at", "known_at")
_TEXTS = ("link_id", *UTM_COLUMNS.values(), "variant")
SHAPE: Shape = {
    **dict.fromkeys(_NUMBERS, "BIGINT"),
    **dict.fromkeys(_TEXTS, "VARCHAR"),
    "click_at": "BIGINT",
    "click_mark": "BIGINT",
    "is_named": "BOOLEAN",
}
# What stands in the tables of staged rows, by the names of columns.
WITH_NUMBERS = (
    "SELECT given.* EXCLUDE (link_id), links.link FROM {} AS given "
    "LEFT JOIN links ON links.id = given.link_id"
)


def visit_row(touch: Touch) -> tuple[object, ...]:
    """A touch, in the order of `SHAPE`."""
    return (
        milliseconds(touch.at),
        milliseconds(touch.received_at or touch.at),
        touch.link_id,
        *(touch.utm.get(name) for name in UTM_COLUMNS),
        touch.variant,
        milliseconds_or_none(touch.click_at),
        touch.click_mark,
        touch.is_named,
    )
