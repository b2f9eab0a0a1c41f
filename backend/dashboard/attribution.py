"""/attribution: leads, conversions and revenue by their source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from quart import Response, request

from backend.current import resources
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.domain.ids import LinkId
from backend.storage.attribution_report import (
    Grouping,
    Period,
    ReportRow,
    TouchChoice,
    attribution_report,
)
from backend.storage.links import find_links
from backend.storage.mongo import deadline

# Rows on the page. The report of the command line has all rows.
_MOST_ROWS = 100
_PATIENCE = 60.0  # seconds; the report reads all records of its period


@dataclass(frozen=True, slots=True)
class Question:
    """The report that the page's query string asks for.

    `errors` complete sentences that start with a field's label.
    """

    grouping: Grouping
    touch: TouchChoice
    since: str
    until: str
    period: Period
    errors: dict[str, str]


@dashboard.get("/attribution")
async def attribution() -> Response:
    """A row for each link, campaign or source, those with most conversions first, and the totals."""
    asked = _read_question()
    with deadline(_PATIENCE):
        rows = await attribution_report(
            resources().database, org_id(), asked.grouping, asked.touch, asked.period
        )
    shown = rows[:_MOST_ROWS]
    return await page(
        "attribution.html",
        422 if asked.errors else 200,
        asked=asked,
        rows=shown,
        left_out=len(rows) - len(shown),
        total=_total(rows),
        most_conversions=max((row.conversions for row in rows), default=0),
        links=await find_links(resources().database, [LinkId(row.key) for row in shown if row.key], org_id())
        if asked.grouping is Grouping.LINK
        else {},
    )


def _read_question() -> Question:
    given = request.args
    errors: dict[str, str] = {}
    since, until = (given.get(name, "").strip() for name in ("since", "until"))
    first, last = (_day(name, given.get(name, "").strip(), errors) for name in ("since", "until"))
    if first and last and last < first:
        errors["until"] = "must not be before the first day"
        last = None
    return Question(
        Grouping(given["by"]) if given.get("by") in set(Grouping) else Grouping.LINK,
        TouchChoice(given["touch"]) if given.get("touch") in set(TouchChoice) else TouchChoice.LAST,
        since,
        until,
        Period(_midnight(first), _midnight(last + timedelta(days=1)) if last else None),
        errors,
    )


def _day(name: str, text: str, errors: dict[str, str]) -> date | None:
    try:
        day = date.fromisoformat(text) if text else None
    except ValueError:
        day = date.max
    if day == date.max:  # the last possible date: there is no day after it
        errors[name] = "must be a day such as 2027-12-31"
        return None
    return day


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


def _total(rows: Iterable[ReportRow]) -> ReportRow:
    """The sum of all rows. A customer who came by several links counts once."""
    total = ReportRow(None)
    for row in rows:
        total.leads += row.leads
        total.conversions += row.conversions
        total.customer_ids |= row.customer_ids
        for currency, amount in row.revenue.items():
            total.revenue[currency] = total.revenue.get(currency, Decimal()) + amount
    return total
