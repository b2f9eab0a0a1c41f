"""The alert rules of the demo's organization: what somebody who runs such a shop would want to be told of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from backend.domain.alerts.rule import AlertKind
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.storage.alerts.rules import create_rule
from backend.storage.driver.mongo import Database

# A partner's link that nobody clicks any more in the last days of the history.
_STOPS = "kitereview: Kestrel"
_RULES: tuple[Mapping[str, Any], ...] = (
    {"name": "Clicks jump", "kind": AlertKind.SPIKE},
    {"name": "Clicks stop", "kind": AlertKind.DROP},
    {"name": "A page is gone", "kind": AlertKind.BROKEN_DESTINATION},
    {"name": "A link ends", "kind": AlertKind.LINK_EXPIRY},
)


async def make_alert_rules(database: Database, org_id: OrgId, links: list[Link], now: datetime) -> None:
    """Make the rules, once, when the links are made."""
    of_link = [
        {"name": "Kitereview stops", "kind": AlertKind.DROP, "link_id": link.id, "thresholds": {"least": 10}}
        for link in links
        if link.link_name == _STOPS
    ]
    for rule in (*_RULES, *of_link):
        await create_rule(database, org_id, rule, now)
