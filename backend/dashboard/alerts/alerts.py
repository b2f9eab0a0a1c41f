"""/alerts: what was told of, and the rules by which it is told.

Who opens it: somebody who got an alert and wants to know more, or who wants to be told of something. What
they decide by it: whether to look into it now, where, and whether a rule tells too much or too little.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from quart import Response, abort, request

from backend.dashboard.alerts.previews import preview_in_short
from backend.dashboard.alerts.shown import link_ids_of, shown_alert, shown_rule
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.failing import failing_of
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import ItemUnknown
from backend.storage.alerts.alerts import count_not_seen, list_alerts, set_all_seen
from backend.storage.alerts.rules import list_rules, tag_names_of
from backend.storage.alerts.sources import AlertSources
from backend.storage.links.links import find_links
from backend.storage.processes.work import Work
from backend.web.current import resources

_PAGE_SIZE = 20


@dashboard.get("/alerts")
@needs(Permission.ANALYTICS_READ)
async def alerts() -> Response:
    """What was told of, the latest first, and all rules with what each would have told of lately."""
    return await page(
        "alerts/alerts.html",
        later=partial(_content, request.args.get("before")),
        zone=zone_of_browser(),
    )


@dashboard.post("/alerts/seen")
@needs(Permission.ANALYTICS_WRITE)
async def alerts_seen() -> Response:
    """Mark all alerts as seen that there were when the page was made: what came after it stays new."""
    try:
        until = datetime.fromisoformat(field("until")).astimezone(UTC)
    except (ValueError, OverflowError):
        abort(400)
    await set_all_seen(resources().database, org_id(), until, resources().clock())
    return redirect_with_notice("alerts", "alerts-seen")


async def _content(before: str | None) -> dict[str, Any]:
    database, zone, now = resources().database, zone_of_browser(), resources().clock()
    try:
        found = await list_alerts(database, org_id(), _PAGE_SIZE + 1, before=before)
    except ItemUnknown:  # it is forgotten by now, or of another organization
        return await _content(None)
    rules = await list_rules(database, org_id())
    by_id = {rule.id: rule for rule in rules}
    sources = AlertSources(database, resources().analytics, org_id(), now)
    links = await find_links(database, sorted(link_ids_of(found, rules)), org_id())
    tags = await tag_names_of(database, org_id(), rules)
    listed = found[:_PAGE_SIZE]
    return {
        "shown": [shown_alert(alert, by_id, links, zone) for alert in listed],
        "older": listed[-1].id if len(found) > _PAGE_SIZE else "",
        "is_first": not before,
        "failing": await failing_of(Work.ALERTS),
        "not_seen": await count_not_seen(database, org_id()),
        "until": (await list_alerts(database, org_id(), 1))[0].fired_at.isoformat() if found else "",
        "rules": [(shown_rule(rule, tags, links), await preview_in_short(sources, rule)) for rule in rules],
    }
