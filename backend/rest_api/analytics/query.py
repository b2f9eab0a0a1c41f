"""POST /analytics/query and GET /analytics/export (docs/rest-api.md, "Query analytics")."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.input import PARAMETERS, parse_query
from backend.domain.analytics.query import Query
from backend.domain.analytics.rows import AnswerRows
from backend.domain.clicks.rows import RowFormat
from backend.domain.errors import FieldError
from backend.domain.fields.rules import Word
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import read_json_object
from backend.rest_api.analytics.counts import has_subscription
from backend.rest_api.analytics.schemas import MEANINGS, QUERY
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_string import error_in_query
from backend.storage.analytics.query_file import QueryFile
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources
from backend.web.file_answer import file_answer
from backend.web.made_file import made_file

EXPORT_QUERY = {
    name: QueryParameter(rule, MEANINGS[name])
    for name, rule in {**PARAMETERS, "format": Word(RowFormat)}.items()
}
_FILES = {
    "text/csv": "A line of headings, then a line for each row: its fields, kind and partial where "
    "rows may have them, its measures (amounts have a column for each currency, and conversions have "
    "these behind their number), with compare those of the other time, as previous_…, and with "
    "change by how much they changed, as change_….",
    "application/x-ndjson": "A JSON object for each row, as POST /analytics/query has it.",
    RowFormat.PARQUET.media_type: "The columns of the CSV file with types: counts are BIGINT, "
    "amounts and shared counts DECIMAL, rates and changes DOUBLE, days, weeks and months DATE, hours "
    "TIMESTAMPTZ, partial BOOLEAN.",
}
_ERRORS = (error_table.INSTALLS_NEED_SUBSCRIPTION, error_table.FIGURES_UNAVAILABLE)
# Of a query: filters may name many links.
MOST_BYTES = 1024 * 1024


@Operation(
    method="POST",
    path="/analytics/query",
    summary="Ask what works: measures by time, link, campaign, country and more",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    body=QUERY,
    answer="AnalyticsAnswer",
    errors=(error_table.QUERY_INVALID, *_ERRORS),
)
async def query_analytics() -> dict[str, Any]:
    """What the organization's analytics say to a query: one page of rows, and totals."""
    query = within_reach(parse_query(await read_json_object(MOST_BYTES), resources().clock()))
    await _admit(query)
    answer = await resources().analytics.ask(caller().org_id, AskQuery(query))
    return AnswerRows(answer, resources().short_url_form).whole()


@Operation(
    method="GET",
    path="/analytics/export",
    summary="Export all rows of such a query as a file",
    needs=(Permission.ANALYTICS_READ,),
    holds_reach=True,
    query=EXPORT_QUERY,
    files=_FILES,
    errors=_ERRORS,
)
async def export_analytics(query: dict[str, Any]) -> Response:
    """The same as a file: all rows, as CSV, as lines of JSON or as Parquet."""
    form = RowFormat(query.pop("format", RowFormat.CSV))
    headers = {"Content-Disposition": f'attachment; filename="analytics.{form}"'}
    try:
        parsed = within_reach(parse_query(query, resources().clock()))
        await _admit(parsed)
        question = QueryFile(parsed, resources().short_url_form, form)
        return await file_answer(made_file(caller().org_id, question), form.media_type, headers)
    except FieldError as error:
        raise error_in_query(error) from None


def within_reach(query: Query) -> Query:
    """The query about what the caller reaches."""
    return replace(query, reach=reach())


async def _admit(query: Query) -> None:
    """Raise ApiError where the caller may not ask this query. Else let it take longer than other requests."""
    if query.needs_subscription and not await has_subscription():
        raise ApiError(error_table.INSTALLS_NEED_SUBSCRIPTION)
    lift_deadline()
