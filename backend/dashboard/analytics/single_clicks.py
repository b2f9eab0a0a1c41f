"""/clicks: the single clicks that a number of clicks counts.

Who opens it: whoever doubts a number, or wants to see what came of a post in the last minutes. They come from
a number, and see what it counts, the newest first, under the same filters.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Container
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import chips_of, view_of_request
from backend.dashboard.analytics.view import PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.labels import device_in_words
from backend.dashboard.frame.outcomes import outcome_in_words
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.query import Query
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import LinkId, OrgId
from backend.domain.reports.singles import COUNTED, ClicksOf
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.singles.clicks import ClickPageStart, SingleClick, SingleClicks
from backend.web.current import resources
from backend.web.file_answer import file_answer

_ROWS_PER_PAGE, _ROWS_PER_PIECE = 50, 5_000
_OF = "of"
_CHOICES: dict[str, Container[str]] = {_OF: (ClicksOf.NOT_COUNTED,)}
_TABS = {ClicksOf.CLICKS: "Clicks", ClicksOf.NOT_COUNTED: "Not counted"}
_COLUMNS = (
    "time", "link_id", "link_name", "outcome", "not_counted", "platform", "system", "browser", "country",
    "referrer", "variant",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SingleClickRow:
    """A single click in words. `link_name` is "" for a link that was deleted for good."""

    time: str
    link_id: LinkId
    link_name: str
    device: str
    country: str | None
    referrer: str
    outcome: str


@dashboard.get("/clicks")
@needs(Permission.ANALYTICS_READ)
async def clicks() -> Response:
    """A page of the single clicks that the view counts."""
    view = await view_of_request(_CHOICES)
    status = 422 if view.errors else 200
    return await page("analytics/clicks.html", status, later=partial(_content, view), view=view)


async def _content(view: View) -> dict[str, Any]:
    path = url_for("dashboard.clicks")
    query = _query(view)
    [measure] = query.measures
    questions = [SingleClicks(query, _ROWS_PER_PAGE, _place()), AskQuery(query)]
    found, total = await resources().analytics.ask_all(org_id(), questions)
    after = found.next_place
    return {
        "path": path,
        "csv_path": url_for("dashboard.clicks_csv"),
        "presets": PRESETS,
        "chips": await chips_of(view, path),
        "tabs": _TABS,
        "of": _of(view),
        "total": total.totals.values[measure],
        "notes": total.notes,
        "rows": [_row(click, view) for click in found.clicks],
        "next_page": view.address(path, after=f"{after.at}-{after.skipped}") if after else "",
        "is_first_page": "after" not in request.args,
    }


@dashboard.get("/clicks.csv")
@needs(Permission.ANALYTICS_READ)
async def clicks_csv() -> Response:
    """All single clicks that the view counts, as a file."""
    view = await view_of_request(_CHOICES)
    lines = _lines(resources().analytics, org_id(), _query(view), view)
    headers = {"Content-Disposition": 'attachment; filename="waylink-clicks.csv"'}
    return await file_answer(lines, "text/csv; charset=utf-8", headers)


def _query(view: View) -> Query:
    return view.query(*COUNTED[_of(view)], currency=None)


def _of(view: View) -> ClicksOf:
    return ClicksOf(view.others.get(_OF, ClicksOf.CLICKS))


def _place() -> ClickPageStart | None:
    """Where the page begins, as the address says; None for the beginning."""
    match = re.fullmatch(r"([0-9]{1,15})-([0-9]{1,9})", request.args.get("after", ""), re.ASCII)
    return ClickPageStart(int(match[1]), int(match[2])) if match else None


def _row(click: SingleClick, view: View) -> SingleClickRow:
    return SingleClickRow(
        f"{click.at.astimezone(view.zone):%-d %b, %H:%M:%S}",
        click.link_id,
        click.link_name or "",
        device_in_words(click.platform, click.system, click.browser),
        click.country,
        click.referrer or "None",
        outcome_in_words(click.outcome, click.reason, click.variant),
    )


async def _lines(
    analytics: Analytics, organization: OrgId, query: Query, view: View
) -> AsyncGenerator[bytes, None]:
    yield csv_line(_COLUMNS).encode()
    place: ClickPageStart | None = None
    while True:
        found = await analytics.ask(organization, SingleClicks(query, _ROWS_PER_PIECE, place))
        yield "".join(csv_line(_cells(click, view)) for click in found.clicks).encode()
        place = found.next_place
        if place is None:
            return


def _cells(click: SingleClick, view: View) -> list[str | None]:
    return [
        click.at.astimezone(view.zone).isoformat(timespec="milliseconds"), click.link_id, click.link_name,
        click.outcome, click.reason, click.platform, click.system, click.browser, click.country,
        click.referrer, click.variant,
    ]  # fmt: skip
