"""POST /analytics/query and GET /analytics/export (docs/rest-api.md, "Query analytics")."""

from __future__ import annotations

from typing import Any

from quart import Response

from backend.domain.analytics.input import PARAMETERS, parse_query
from backend.domain.analytics.query import Query
from backend.domain.analytics.rows import AnswerRows
from backend.domain.clicks.rows import RowFormat
from backend.domain.errors import FieldError
from backend.domain.fields.rules import Rule, Word
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.json_body import read_json_object
from backend.rest_api.analytics.counts import has_subscription
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.query_string import error_in_query, read_query
from backend.storage.analytics.query_file import QueryFile
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources
from backend.web.file_answer import file_answer
from backend.web.made_file import made_file

EXPORT_QUERY: dict[str, Rule[Any]] = {**PARAMETERS, "format": Word(RowFormat)}
# Filters may name many links.
MOST_BYTES = 1024 * 1024


@rest.post("/analytics/query")
async def query_analytics() -> dict[str, Any]:
    """What the organization's analytics say to a query: one page of rows, and totals."""
    read_query({})
    query = parse_query(await read_json_object(MOST_BYTES), resources().clock())
    await _admit(query)
    found = await resources().analytics.ask(caller().org_id, AskQuery(query))
    return AnswerRows(found, resources().short_url_form).whole()


@rest.get("/analytics/export")
async def export_analytics() -> Response:
    """The same as a file: all rows, as CSV, as lines of JSON or as Parquet."""
    given = read_query(EXPORT_QUERY)
    form = RowFormat(given.pop("format", RowFormat.CSV))
    headers = {"Content-Disposition": f'attachment; filename="analytics.{form}"'}
    try:
        query = parse_query(given, resources().clock())
        await _admit(query)
        question = QueryFile(query, resources().short_url_form, form)
        return await file_answer(made_file(caller().org_id, question), form.media_type, headers)
    except FieldError as error:
        raise error_in_query(error) from None


async def _admit(query: Query) -> None:
    """Raise ApiError where the caller may not ask that. The answer may take longer than others."""
    if query.needs_subscription and not await has_subscription():
        raise ApiError(error_table.INSTALLS_NEED_SUBSCRIPTION)
    lift_deadline()
