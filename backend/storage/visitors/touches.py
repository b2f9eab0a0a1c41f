"""The stored form of touches: those of devices, copies of them in records, and those of tellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from backend.domain.visitors.attribution import Touch
from backend.storage.driver.mongo import Document

# The fields that only a touch with its click has.
CLICK_FIELDS = ("click_at", "click_mark")
_RARE = ("variant", *CLICK_FIELDS)  # few touches have these fields
_ALWAYS = tuple(item.name for item in fields(Touch) if item.name not in {*_RARE, "is_named"})


def touch_of(stored: Mapping[str, Any]) -> Touch:
    """The touch in a document. It does without `known_fields`, which is several times slower."""
    get = stored.get
    return Touch(
        stored["at"],
        get("link_id"),
        get("utm") or {},
        get("click_ids") or {},
        get("received_at"),
        get("variant"),
        get("click_at"),
        get("click_mark"),
        get("is_named", False),
    )


def touch_document(touch: Touch | None) -> Document | None:
    """The stored form of a touch."""
    # Not by dataclasses.asdict, which copies deeply and takes longer than storing a device.
    if touch is None:
        return None
    stored: Document = {name: getattr(touch, name) for name in _ALWAYS}
    stored |= {name: value for name in _RARE if (value := getattr(touch, name)) is not None}
    return stored | {"is_named": True} if touch.is_named else stored
