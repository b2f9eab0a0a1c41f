"""GET /links/ID: a link and its clicks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from quart import Response, abort, jsonify, request, url_for

from backend.dashboard.analytics.answers import ask_all
from backend.dashboard.analytics.events import NAME_CARD, events_query
from backend.dashboard.analytics.figures import currencies_of, definitions_of, figures, meanings_of
from backend.dashboard.analytics.marks import note_path
from backend.dashboard.analytics.rows_behind import rows_of_link
from backend.dashboard.analytics.sorting import Sorting
from backend.dashboard.analytics.tables import names_of, table
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.analytics.view import read_view
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.labels import device_in_words
from backend.dashboard.frame.outcomes import outcome_in_words
from backend.dashboard.frame.page import page
from backend.dashboard.links.course import LinkCourse, clicks_address, course_by_day, course_by_hour
from backend.dashboard.links.editing.own_link import own_link, short_url_of
from backend.dashboard.links.editing.rule_variants import splits_of
from backend.dashboard.links.editing.rules import words_of
from backend.dashboard.links.link_query import MADE_BY
from backend.dashboard.links.sales import LATEST, sale_table
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field
from backend.domain.clicks.block import moment
from backend.domain.clicks.clicks import Click, NotCounted
from backend.domain.ids import LinkId
from backend.domain.links.destinations.destination import OUTCOME_NAMES
from backend.domain.links.destinations.policy import leads_to
from backend.domain.links.links import Behavior, Link
from backend.domain.links.tags import tags_on
from backend.domain.web.client import PLATFORM_NAMES
from backend.storage.accounts.organizations import find_click_days, get_organization
from backend.storage.analytics.clicks.click_breakdown import Breakdown, ClickBreakdown
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.clicks.latest_clicks import MOST_CLICKS, LatestClicks
from backend.storage.apps.install_counts import count_install_window
from backend.storage.clicks.retention import single_clicks_since
from backend.storage.links.tags import find_tags_of
from backend.storage.links.taken_clicks import count_taken
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


_OUTCOME = (
    Measure.LEADS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.CUSTOMERS,
    Measure.CONTACTS,
    Measure.REVENUE,
)
# What is shown where sites tell of any.
_BESIDE = (Measure.EVENTS, Measure.IDENTITIES)
PERIODS = {"month": "30 days", "day": "24 hours"}
# The breakdown of clicks has whole days in UTC: for each period their number, and what the page calls them.
DAYS = {"month": (30, "today and the 29 days before"), "day": (2, "today and yesterday")}
REASONS = {
    NotCounted.HEAD: "Checks that only ask whether the link works (HEAD)",
    NotCounted.PREFETCH: "Pages that a browser loaded ahead of a click",
    NotCounted.CRAWLER: "Crawlers",
    NotCounted.PREVIEW_FETCHER: "Link previews of chats and social networks",
    NotCounted.DISABLED: "Visits while the link was disabled",
    NotCounted.NOT_STARTED: "Visits before the link's start",
    NotCounted.EXPIRED: "Visits after the link had expired",
    NotCounted.PASSWORD: "Visits that were asked for the password",
    NotCounted.NOT_CONTINUED: "Visits that were asked to click to continue",
    NotCounted.HELD: "Visits while the operator of this service had stopped the link",
}


@dashboard.get("/links/<link_id>")
@needs(Permission.LINKS_READ)
async def links_one(link_id: LinkId) -> Response:
    """The link with its clicks by time, platform, country and referrer, and the visits that did not count."""
    link = await own_link(link_id)
    return await page(
        "links/link.html",
        later=partial(_content, link),
        link=link,
        is_blocked=leads_to(link, resources().block_list.current),
        short_url=short_url_of(link),
        tags=tags_on(link.tag_ids, await find_tags_of(resources().database, [link])),
        state=link.state_at(resources().clock()),
    )


async def _content(link: Link) -> dict[str, Any]:
    now = resources().clock()
    period = request.args.get("period", "")
    period = period if period in PERIODS else "month"
    return {
        "clicks": await resources().analytics.ask(link.org_id, ClickWindow(link.id, now)),
        "installs": await _installs(link, now),
        "period": period,
        "periods": PERIODS,
        "note_path": note_path(link.id),
        "course": await _course(link.id, period, now),
        "breakdown": await _breakdown(link.id, period, now),
        "days": DAYS[period][1],
        "days_path": _clicks_since(link, now, DAYS[period][0] - 1),
        "clicks_since": partial(_clicks_since, link, now),
        "single_clicks_since": await _single_clicks_since(link, now),
        **await _outcome(link, now),
        "latest": await latest_table(link.id),
        "clicks_left": await _clicks_left(link),
        "sales": await sale_table(link.id, skip=0, limit=LATEST),
        "zone": zone_of_browser(),
        "opens_app": Behavior.APP in {link.ios_behavior, link.android_behavior},
        "made_by": MADE_BY[link.created_by],
        "rules": words_of(link),
        "splits": await splits_of(link, now),
        "platform_names": PLATFORM_NAMES,
        "outcome_names": OUTCOME_NAMES,
        "reasons": REASONS,
    }


async def _installs(link: Link, now: datetime) -> int | None:
    """The number of installs from the link; None without an active subscription."""
    organization = await get_organization(resources().database, link.org_id)
    if not organization.has_subscription(now):
        return None
    return (await count_install_window(resources().database, link.id, now)).total


async def _clicks_left(link: Link) -> int | None:
    """The number of clicks that the link's limit still allows; None without a limit."""
    if link.limits.max_clicks is None:
        return None
    taken = await count_taken(resources().database, [link.id])
    return max(0, link.limits.max_clicks - taken.get(link.id, 0))


async def _single_clicks_since(link: Link, now: datetime) -> datetime | None:
    """The time since which the link's single clicks are kept; None if all are kept."""
    days = (await find_click_days(resources().database, [link.org_id]))[link.org_id]
    since = single_clicks_since(days, now)
    return since if since and since > link.created_at else None


async def _outcome(link: Link, now: datetime) -> dict[str, Any]:
    """What came of the link in the overview's default period and against the one before, and its events."""
    view = read_view({Field.LINK: link.id}, now, link.created_at.date(), {})
    by_name = Sorting(Measure.EVENTS)
    asked = [
        view.query(*_OUTCOME, *_BESIDE, compare=view.comparison),
        events_query(view, NAME_CARD, by_name),
    ]
    answer, events = await ask_all(asked)
    totals = (answer.totals.values, answer.totals.previous or {})
    shown = [
        measure
        for measure in answer.query.measures
        if measure in _OUTCOME or any(values.get(measure) for values in totals)
    ]
    found = figures(answer, None, currencies_of(view, answer.totals.values)[0])
    return {
        "words": meanings_of(dict.fromkeys([Measure.CLICKS, Measure.VISITORS, *shown])),
        "definitions": definitions_of(shown, partial(rows_of_link, link_id=link.id)),
        "outcome": [figure for figure in found if figure.measure in shown],
        "view": view,
        "events": table(NAME_CARD, view, events, url_for("dashboard.events"), by_name),
        "names": names_of([NAME_CARD]),
    }


async def _course(link_id: LinkId, period: str, now: datetime) -> LinkCourse:
    course = course_by_hour if period == "day" else course_by_day
    return await course(link_id, now, zone_of_browser())


def _clicks_since(link: Link, now: datetime, days: int) -> str:
    """The address of the link's single clicks of today and so many days before, as days are in UTC."""
    return clicks_address(link.id, f"{now - timedelta(days):%Y-%m-%d}", f"{now:%Y-%m-%d}", "UTC")


async def _breakdown(link_id: LinkId, period: str, now: datetime) -> Breakdown:
    """The link's clicks in this period by their properties."""
    return await resources().analytics.ask(org_id(), ClickBreakdown(link_id, now, DAYS[period][0]))
