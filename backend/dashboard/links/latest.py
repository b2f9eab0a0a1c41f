"""A link's latest clicks, one by one: on its page, and for the page's script, which asks for newer ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from quart import Response, abort, jsonify, request

from backend.current import resources
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.labels import PLATFORMS
from backend.dashboard.frame.outcomes import OUTCOMES, REASONS
from backend.dashboard.links.own_link import own_link
from backend.domain.click_block import moment
from backend.domain.clicks import Click
from backend.domain.ids import LinkId
from backend.storage.latest_clicks import MOST_CLICKS, latest_clicks
from backend.storage.mongo import StorageError, is_too_slow

# A click is mostly stored within a second. One that takes longer than this shows on the next load.
_LATE = timedelta(seconds=30)
# Clicks of all links that one question of the script may read.
_READ_FOR_SCRIPT = 50_000


@dataclass(frozen=True, slots=True)
class LatestTable:
    """The rows, and in milliseconds since 1970 from when on the script asks for newer ones.

    `may_be_more`: there may be older clicks, which were not looked for.
    """

    rows: list[dict[str, str]]
    since: int
    may_be_more: bool
    most: int = MOST_CLICKS


async def latest_table(link_id: LinkId) -> LatestTable | None:
    """The link's latest clicks; None if reading them took too long."""
    now = resources().clock()
    try:
        latest = await latest_clicks(resources().database, org_id(), link_id, now)
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return None
    return LatestTable(
        [_row(each) for each in latest.clicks], _milliseconds(now - _LATE), not latest.is_all_read
    )


@dashboard.get("/links/<link_id>/clicks")
async def links_clicks(link_id: LinkId) -> Response:
    """The rows of clicks `since` a time, as JSON with the time to ask for next; 204 if they are too many."""
    link = await own_link(link_id)
    now = resources().clock()
    latest = await latest_clicks(
        resources().database, org_id(), link.id, now, _since(), most_read=_READ_FOR_SCRIPT
    )
    if not latest.is_all_read:
        return Response(status=204)
    rows = [_row(each) for each in latest.clicks]
    return jsonify({"since": _milliseconds(now - _LATE), "rows": rows})


def _row(click: Click) -> dict[str, str]:
    """What people read about a click, and its time in milliseconds since 1970."""
    outcome = OUTCOMES.get(click.outcome, click.outcome.value)
    if click.reason is not None:
        reason = REASONS.get(click.reason, click.reason)
        outcome = f"Not counted: {reason}"
    platform = PLATFORMS.get(click.platform, click.platform)
    facts = (platform, click.system if click.system != platform else "", click.browser)
    return {
        "at": str(_milliseconds(click.at)),
        "time": click.at.astimezone(zone_of_browser()).strftime("%-d %b, %H:%M:%S"),
        "device": ", ".join(fact for fact in facts if fact),
        "country": click.country or "Unknown",
        "referrer": click.referrer_host or "None",
        "outcome": outcome,
    }


def _since() -> datetime:
    """The time in the query string."""
    text = request.args.get("since", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 15):
        abort(400)
    return moment(int(text))


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)
