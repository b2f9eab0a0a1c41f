"""The table of a link's latest clicks, on the link's page and for its script, which asks for newer ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from quart import Response, abort, jsonify, request

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.labels import device_in_words
from backend.dashboard.frame.outcomes import outcome_in_words
from backend.dashboard.links.editing.own_link import own_link
from backend.domain.accounts.permissions import Permission
from backend.domain.clicks.block import moment
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId
from backend.storage.analytics.clicks.latest_clicks import MOST_CLICKS, LatestClicks
from backend.web.current import resources

# The script asks for clicks of this time again: most are stored within a second, and some later. A click that
# takes longer shows on the next load.
_OVERLAP = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class LatestTable:
    """The rows, and the time from which on the script asks for newer ones (milliseconds since 1970)."""

    rows: list[dict[str, str]]
    since: int
    most: int = MOST_CLICKS


async def latest_table(link_id: LinkId) -> LatestTable:
    """The link's latest clicks."""
    since = _milliseconds(resources().clock() - _OVERLAP)
    latest = await resources().analytics.ask(org_id(), LatestClicks(org_id(), link_id))
    return LatestTable([_row(click) for click in latest], since)


@dashboard.get("/links/<link_id>/clicks")
@needs(Permission.ANALYTICS_READ)
async def links_clicks(link_id: LinkId) -> Response:
    """The rows of clicks `since` a time, as JSON with the time to ask for next."""
    link = await own_link(link_id)
    since = _milliseconds(resources().clock() - _OVERLAP)
    latest = await resources().analytics.ask(org_id(), LatestClicks(org_id(), link.id, _since()))
    return jsonify({"since": since, "rows": [_row(click) for click in latest]})


def _row(click: Click) -> dict[str, str]:
    """The cells of a click's row by name, and its time `at` in milliseconds since 1970."""
    return {
        "at": str(_milliseconds(click.at)),
        "time": click.at.astimezone(zone_of_browser()).strftime("%-d %b, %H:%M:%S"),
        "device": device_in_words(click.platform, click.system, click.browser),
        "country": click.country or "Unknown",
        "referrer": click.referrer_host or "None",
        "outcome": outcome_in_words(click.outcome, click.reason),
    }


def _since() -> datetime:
    """The time in the query string."""
    text = request.args.get("since", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 15):
        abort(400)
    return moment(int(text))


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)
