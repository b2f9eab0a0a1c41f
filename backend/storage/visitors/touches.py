"""Touches as documents have them: those of devices, the copies that records keep, and those of tellings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from backend.domain.visitors.attribution import Touch
from backend.storage.driver.mongo import Document

# What a touch has only if it names its click.
CLICK_FIELDS = ("click_at", "click_mark")
_RARE = ("variant", *CLICK_FIELDS)  # what few touches have
_ALWAYS = tuple(item.name for item in fields(Touch) if item.name not in {*_RARE, "is_named"})


def touch_of(stored: Mapping[str, Any]) -> Touch:
    """A stored touch. Not by `known_fields`, which takes several times as long: reports read many."""
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
