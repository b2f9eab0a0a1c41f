"""The views of a database that a feed is written into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backend.domain.feed.events import EventType

# The views by the types of their events. Erasures have none, since their data is not stored.
VIEWS = {
    EventType.LINK_CREATED: "waylink_links_created",
    EventType.LINK_CHANGED: "waylink_links_changed",
    EventType.LINK_ARCHIVED: "waylink_links_archived",
    EventType.CLICK: "waylink_clicks",
    EventType.LEAD: "waylink_leads",
    EventType.CONVERSION: "waylink_conversions",
    EventType.REFUND: "waylink_refunds",
    EventType.EVENT: "waylink_custom_events",
    EventType.IDENTIFY: "waylink_identifications",
    EventType.INSTALL: "waylink_installs",
    EventType.OPEN: "waylink_opens",
    EventType.ALERT: "waylink_alerts",
    EventType.AUDIT: "waylink_audit",
}


def columns_in_order(current: Sequence[str], columns: Iterable[str]) -> list[str]:
    """A view's columns, those that are there first and in their order: somebody may take them by places."""
    return sorted(columns, key=lambda name: current.index(name) if name in current else len(current))
