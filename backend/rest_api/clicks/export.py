"""GET /clicks/export: single clicks as a file (docs/rest-api.md, "Export single clicks")."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.period import days_by_clock
from backend.domain.clicks.rows import COLUMNS, RowFormat, Selection
from backend.domain.fields.rules import Schema, Uuid, Word, WrittenInstant
from backend.domain.fields.times.json_times import exact_time_json
from backend.json_api import error_table
from backend.rest_api.links.reference import own_link
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_string import query_error
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.clicks.click_file import ClicksFile
from backend.storage.clicks.missing import count_missing
from backend.storage.clicks.retention import single_clicks_since
from backend.storage.clicks.single_clicks import (
    MoreUnreadable,
    UnreadableBlocks,
    find_unreadable,
    written_clicks,
)
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources
from backend.web.file_answer import file_answer
from backend.web.made_file import made_file

# Since when single clicks are kept. Absent where no click is deleted for its age.
SINCE_HEADER = "Waylink-Clicks-Since"
# How many requests of the period the file lacks, since their blocks are damaged. Absent if it lacks none.
UNREADABLE_HEADER = "Waylink-Clicks-Unreadable"
MOST_DAYS = 400

_QUERY = {
    "from": QueryParameter(WrittenInstant(), "The beginning, which is included.", is_required=True),
    "to": QueryParameter(
        WrittenInstant(),
        f"The end, which is not included: at most {MOST_DAYS} days later; without it, now.",
    ),
    "link": QueryParameter(
        Uuid(), "Only clicks on this link. A key that is limited to some links must name one of them."
    ),
    "format": QueryParameter(Word(RowFormat), "Form of the file.", default=RowFormat.CSV.value),
}
_FILES = {
    "text/csv": f"A line of headings, then a line for each click: {', '.join(COLUMNS)}.",
    "application/x-ndjson": "A JSON object for each click, one in a line, with the same names.",
    RowFormat.PARQUET.media_type: "A row for each click, sorted by time: the same columns, time as "
    "TIMESTAMPTZ, counted as BOOLEAN, all others as VARCHAR.",
}
_ANSWER_HEADERS: dict[str, Schema] = {
    SINCE_HEADER: {
        "description": "From when on single clicks are kept; absent if that is without limit.",
        "schema": {"type": "string", "format": "date-time"},
    },
    UNREADABLE_HEADER: {
        "description": "How many requests of this time are not in the file, of whichever links, as "
        "what is stored of them is damaged; absent if there is none, and for a key that is limited to some "
        "links.",
        "schema": {"type": "integer"},
    },
}


@Operation(
    method="GET",
    path="/clicks/export",
    summary="Export single clicks as a file",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    query=_QUERY,
    files=_FILES,
    answer_headers=_ANSWER_HEADERS,
    errors=(error_table.LINK_NOT_FOUND, error_table.FIGURES_UNAVAILABLE),
)
async def export_clicks(query: dict[str, Any]) -> Response:
    """The organization's clicks of a period, as CSV, as lines of JSON or as Parquet."""
    now = resources().clock()
    lift_deadline()  # it may take an hour; every query of the database has a time limit of its own
    selection = await _selection(query, now)
    form = RowFormat(query.get("format", RowFormat.CSV))
    organization = await get_organization(resources().database, caller().org_id)
    headers = {"Content-Disposition": f'attachment; filename="clicks.{form}"'}
    if since := single_clicks_since(organization.click_days, now):
        headers[SINCE_HEADER] = exact_time_json(since)
    if form is RowFormat.PARQUET:
        return await _parquet(selection, headers)
    unreadable = await find_unreadable(resources().database, caller().org_id, selection)
    while True:
        try:
            return await _file(selection, form, headers, unreadable)
        except MoreUnreadable as error:  # made again without these blocks
            unreadable |= error.blocks


async def _parquet(selection: Selection, headers: dict[str, str]) -> Response:
    question = ClicksFile(selection, resources().short_url_form)
    answer = await file_answer(made_file(caller().org_id, question), RowFormat.PARQUET.media_type, headers)
    if reach():
        return answer
    # Not before the file is made, which marks the blocks that can't be read.
    database, analytics = resources().database, resources().analytics
    if missing := await count_missing(database, analytics, caller().org_id, selection):
        answer.headers[UNREADABLE_HEADER] = str(missing)
    return answer


async def _file(
    selection: Selection, form: RowFormat, headers: dict[str, str], unreadable: UnreadableBlocks
) -> Response:
    """The clicks as a file, without those of blocks known to be unreadable. Raises MoreUnreadable."""
    more = {UNREADABLE_HEADER: str(unreadable.clicks)} if unreadable.clicks and reach() is None else {}
    pieces = written_clicks(
        resources().database,
        caller().org_id,
        selection,
        form,
        resources().short_url_form,
        unreadable=unreadable,
    )
    return await file_answer(pieces, form.media_type, headers | more)


async def _selection(query: dict[str, Any], now: datetime) -> Selection:
    start = query["from"]
    end = query.get("to", now.astimezone(start.tzinfo))
    if end < start:
        raise query_error("to", "must not be before from; without it, it is now")
    if days_by_clock(start, end) > MOST_DAYS:
        raise query_error("from", f"must be at most {MOST_DAYS} days before to")
    link_id = query.get("link")
    if link_id is not None:
        await own_link(link_id)
    elif reach():
        raise query_error("link", "is required: the key is limited to some links")
    return Selection(start.astimezone(UTC), end.astimezone(UTC), link_id)
