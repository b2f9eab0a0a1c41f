"""What servers tell of leads, sales, events and customers, as data."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.rest_api.analytics import operations as operations_on_analytics
from backend.rest_api.routes.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation, query
from backend.rest_api.sales.explain import QUERY
from backend.rest_api.sales.schemas import one_or_many

_TRANSACTION_ID: Schema = {
    "name": "transaction_id",
    "in": "path",
    "required": True,
    "description": "The order's id, as it was told.",
    "schema": {"type": "string", "minLength": 1},
}


def _telling(endpoint: str, path: str, summary: str, item: str, *errors: ErrorRow) -> Operation:
    all_errors = (
        error_table.FIELD_MISSING,
        *BODY_ERRORS,
        error_table.QUERY_INVALID,
        *KEY_ERRORS,
        *errors,
        *EVERYWHERE,
    )
    return Operation(endpoint, "post", path, summary, 200, "ItemResults", all_errors, one_or_many(item))


OPERATIONS = (
    _telling("tell_conversions", "/conversions", "Tell sales, each counted once", "Conversion"),
    _telling("tell_leads", "/leads", "Tell leads", "Lead"),
    _telling("tell_events", "/events", "Tell events of your own naming", "Event"),
    _telling("tell_identities", "/identities", "Tell who customers are", "Identity"),
    _telling(
        "tell_refunds",
        "/conversions/refund",
        "Tell refunds, each counted once",
        "Refund",
        error_table.REFUNDED_SALE_NOT_FOUND,
    ),
    Operation(
        "explain_conversion",
        "get",
        "/conversions/{transaction_id}/explain",
        "Explain whose a sale is: what led to its credit, in order and in words, and what other models say",
        200,
        "ExplainedSale",
        (error_table.QUERY_INVALID, *KEY_ERRORS, error_table.SALE_NOT_FOUND, *EVERYWHERE),
        parameters=(
            _TRANSACTION_ID,
            *(
                query(name, rule.schema(), operations_on_analytics.MEANINGS[name])
                for name, rule in QUERY.items()
            ),
        ),
    ),
)
