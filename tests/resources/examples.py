"""What the test of all resources says of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """A new one with a value in each field that may have one at once, and other values for a change.

    LINK stands for the id of a link of the organization.
    """

    new: Mapping[str, Any]
    change: Mapping[str, Any]


LINK = "LINK"
EXAMPLES: Mapping[str, Example] = {
    "funnels": Example(
        {
            "name": "Cart",
            "steps": [
                {"kind": "click", "name": None, "filters": {"country": ["AT", "DE", None]}},
                {"kind": "event", "name": "added_to_cart", "filters": {"event": {"prefix": "added"}}},
            ],
            "by": "customer",
            "within_days": 7,
            "ordered": False,
            "group_by": ["link"],
        },
        {
            "name": "Basket",
            "steps": [{"kind": "click"}, {"kind": "conversion"}],
            "by": "device",
            "within_days": 8,
            "ordered": True,
            "group_by": [],
        },
    ),
    "segments": Example(
        {"name": "German letters", "filters": {"country": "DE", "campaign": None}},
        {"name": "Austrian letters", "filters": {"country": "AT", "domain": "go.shop.example"}},
    ),
    "annotations": Example(
        {"at": "2026-03-02T09:30:00+02:00", "text": "Newsletter sent", "link_id": LINK},
        {"at": "2026-03-01", "text": "Prices raised"},
    ),
}
