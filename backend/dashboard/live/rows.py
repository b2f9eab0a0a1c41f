"""Events in words, for the page Live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from quart import url_for

from backend.dashboard.analytics.figures import amount
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import org_id, permissions
from backend.dashboard.frame.labels import PLATFORMS
from backend.dashboard.live.words import in_words
from backend.domain.accounts.permissions import Permission
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.links.links import find_links
from backend.web.current import resources

# The text of an empty cell.
_NOTHING = ""


async def rows_of(events: Iterable[Event]) -> list[dict[str, str]]:
    """The cells of the row of each event by name, the newest event first."""
    sees_persons = Permission.PERSONS_READ in permissions()
    events = [event if sees_persons else _without_persons(event) for event in events]
    ids = {link_id for event in events if (link_id := _link_id(event))}
    links = await find_links(resources().database, ids, org_id())
    return [_row(event, links) for event in reversed(events)]


def _without_persons(event: Event) -> Event:
    """The event without what names a customer or a device, for who must not see persons' data."""
    nobody: dict[str, Any] = {"customer_id": None, "device_id": None, "customers": [], "transaction_id": ""}
    return replace(event, data={name: nobody.get(name, value) for name, value in event.data.items()})


def _link_id(event: Event) -> LinkId | None:
    link_id = event.data.get("link_id") or (event.data.get("link") or {}).get("id")
    return LinkId(link_id) if link_id else None


def _row(event: Event, links: Mapping[LinkId, Link]) -> dict[str, str]:
    link = links.get(_link_id(event) or LinkId(""))
    what, detail = in_words(event)
    return {
        "time": event.at.astimezone(zone_of_browser()).strftime("%-d %b, %H:%M:%S"),
        "what": what,
        "detail": detail,
        "link": _name(event, link),
        "address": url_for("dashboard.links_one", link_id=link.id) if link else _NOTHING,
        "amount": _amount(event.data),
        "country": event.data.get("country") or _NOTHING,
        "device": _device(event.data),
    }


def _name(event: Event, link: Link | None) -> str:
    if described_link := event.data.get("link"):
        return str(described_link["link_name"])
    if link:
        return link.link_name
    return "A link that was deleted" if _link_id(event) else _NOTHING


def _amount(data: Mapping[str, Any]) -> str:
    told = data.get("revenue", data.get("amount"))
    return f"{amount(Decimal(str(told)))} {data['currency']}" if told is not None else _NOTHING


def _device(data: Mapping[str, Any]) -> str:
    platform = PLATFORMS.get(data.get("platform") or "", data.get("platform") or "")
    system = data.get("system") or ""
    facts = (platform, system if system != platform else "", data.get("browser") or "")
    return ", ".join(fact for fact in facts if fact)
