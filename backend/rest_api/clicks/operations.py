"""Operations on what became of links, as data: counts of clicks and installs, and single clicks."""

from __future__ import annotations

from backend.domain.clicks.rows import COLUMNS, RowFormat
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.rest_api.clicks import export as export_clicks
from backend.rest_api.routes.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, SHORT_URL, Operation, query

_EXPORT_PARAMETERS = (
    query("from", export_clicks.QUERY["from"].schema(), "The beginning, which is included.")
    | {"required": True},
    query(
        "to",
        export_clicks.QUERY["to"].schema(),
        f"The end, which is not included: at most {export_clicks.MOST_DAYS} days later; without it, now.",
    ),
    query("link", export_clicks.QUERY["link"].schema(), "Only clicks on this link."),
    query(
        "format",
        export_clicks.QUERY["format"].schema() | {"default": RowFormat.CSV.value},
        "Form of the file.",
    ),
)
_REFERENCE: Schema = {
    "type": "object",
    "description": "At least one of the two; linkId wins.",
    "properties": {
        "shortUrl": {"type": ["string", "null"], "description": SHORT_URL["description"]},
        "linkId": {"type": ["string", "null"], "description": "The link's id."},
    },
}

_REFERENCE_ERRORS = (error_table.LINK_DETAILS_EMPTY, error_table.LINK_DETAILS_UNKNOWN)

OPERATIONS = (
    Operation(
        "click_analytics",
        "post",
        "/analytics",
        "Count a link's clicks",
        200,
        "ClickAnalytics",
        (*_REFERENCE_ERRORS, *BODY_ERRORS, *KEY_ERRORS, *EVERYWHERE),
        body=_REFERENCE,
        to_the_letter=True,
    ),
    Operation(
        "install_analytics",
        "post",
        "/install-analytics",
        "Count the installs that a link led to",
        200,
        "InstallAnalytics",
        (
            *_REFERENCE_ERRORS,
            *BODY_ERRORS,
            *KEY_ERRORS,
            error_table.SUBSCRIPTION_NEEDED,
            *EVERYWHERE,
        ),
        body=_REFERENCE,
        to_the_letter=True,
    ),
    Operation(
        "export_clicks",
        "get",
        "/clicks/export",
        "Export single clicks as a file",
        200,
        None,
        (
            error_table.QUERY_INVALID,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            error_table.FIGURES_UNAVAILABLE,
            *EVERYWHERE,
        ),
        parameters=_EXPORT_PARAMETERS,
        files={
            "text/csv": f"A line of headings, then a line for each click: {', '.join(COLUMNS)}.",
            "application/x-ndjson": "A JSON object for each click, one in a line, with the same names.",
            RowFormat.PARQUET.media_type: "A row for each click, sorted by time: the same columns, time as "
            "TIMESTAMPTZ, counted as BOOLEAN, all others as VARCHAR.",
        },
        headers={
            export_clicks.SINCE_HEADER: {
                "description": "From when on single clicks are kept; absent if that is without limit.",
                "schema": {"type": "string", "format": "date-time"},
            },
            export_clicks.UNREADABLE_HEADER: {
                "description": "How many requests of this time are not in the file, of whichever links, as "
                "what is stored of them is damaged; absent if there is none.",
                "schema": {"type": "integer"},
            },
        },
    ),
)
