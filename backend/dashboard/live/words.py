"""Events in words: a few words for what happened, and its details."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.outcomes import REASONS
from backend.domain.feed.events import Event, EventType
from backend.domain.links.destinations.destination import OUTCOME_NAMES

NAMES: Mapping[EventType, str] = {
    EventType.CLICK: "Clicks",
    EventType.LEAD: "Leads",
    EventType.CONVERSION: "Sales",
    EventType.REFUND: "Refunds",
    EventType.EVENT: "Events",
    EventType.IDENTIFY: "Customers identified",
    EventType.INSTALL: "Installs",
    EventType.OPEN: "App opens",
    EventType.LINK_CREATED: "Links made",
    EventType.LINK_CHANGED: "Links changed",
    EventType.LINK_ARCHIVED: "Links archived",
    EventType.ERASED: "Persons erased",
    EventType.ALERT: "Alerts",
}
_Data = Mapping[str, Any]


def in_words(event: Event) -> tuple[str, str]:
    """A few words for what happened, and the details, which may be empty."""
    return _WORDS[event.type](event.data)


def _click(data: _Data) -> tuple[str, str]:
    if not data["counted"]:
        return "Click, not counted", REASONS.get(data["reason"], data["reason"] or "")
    came = f"from {data['referrer_host']}" if data["referrer_host"] else ""
    return "Click", _joined(OUTCOME_NAMES.get(data["outcome"], data["outcome"]), came)


def _lead(data: _Data) -> tuple[str, str]:
    return _with_repeat("Lead", data), _joined(data["event_id"], _customer(data))


def _conversion(data: _Data) -> tuple[str, str]:
    return _with_repeat("Sale", data), _joined(data["transaction_id"], _customer(data))


def _refund(data: _Data) -> tuple[str, str]:
    return "Refund", data["transaction_id"]


def _event(data: _Data) -> tuple[str, str]:
    return _with_repeat(f"Event “{data['name']}”", data), _customer(data)


def _identify(data: _Data) -> tuple[str, str]:
    what = "Customer taken back from a device" if data["taken_back"] else "Customer identified"
    return what, data["customer_id"] or ""


def _install(data: _Data) -> tuple[str, str]:
    return "App installed", ""


def _open(data: _Data) -> tuple[str, str]:
    if data["counted"]:
        return "App opened", ""
    return "App opened, not counted", REASONS.get(data["reason"], data["reason"] or "")


def _erased(data: _Data) -> tuple[str, str]:
    return "A person was erased", ", ".join(data["customers"])


def _changed(data: _Data) -> tuple[str, str]:
    fields = [LABELS.get(name, name.replace("_", " ").capitalize()) for name in data["changed"]]
    return "Link changed", ", ".join(fields)


def _archived(data: _Data) -> tuple[str, str]:
    return "Link deleted for good" if data["purged"] else "Link archived", data["link"]["short_url"]


def _with_repeat(what: str, data: _Data) -> str:
    return f"{what}, told again with more" if data["told_again"] else what


def _customer(data: _Data) -> str:
    by = "told by a server" if data["told_by"] == "server" else "told by a browser"
    return f"{by}, customer {data['customer_id']}" if data["customer_id"] else by


def _joined(*parts: str | None) -> str:
    return ", ".join(part for part in parts if part)


def _alert(data: _Data) -> tuple[str, str]:
    over = " is over" if data["ended_at"] else ""
    return f"Alert “{data['rule_name']}”{over}", data["why"]


_WORDS: Mapping[EventType, Callable[[_Data], tuple[str, str]]] = {
    EventType.CLICK: _click,
    EventType.LEAD: _lead,
    EventType.CONVERSION: _conversion,
    EventType.REFUND: _refund,
    EventType.EVENT: _event,
    EventType.IDENTIFY: _identify,
    EventType.INSTALL: _install,
    EventType.OPEN: _open,
    EventType.LINK_CREATED: lambda data: ("Link made", data["link"]["short_url"]),
    EventType.LINK_CHANGED: _changed,
    EventType.LINK_ARCHIVED: _archived,
    EventType.ERASED: _erased,
    EventType.ALERT: _alert,
}
