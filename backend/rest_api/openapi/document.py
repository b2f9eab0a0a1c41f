"""Builds the OpenAPI 3.1 document of the REST API from its list of operations."""

from __future__ import annotations

from typing import Any

from backend.domain.all_resources import RESOURCES
from backend.domain.clicks.rows import RowFormat
from backend.domain.fields.rules import Schema
from backend.json_api.authentication import KEY_HEADER
from backend.json_api.rate_limit import RATE_LIMIT_HEADERS
from backend.rest_api.alerts.schemas import ALERT_SCHEMAS
from backend.rest_api.analytics.answer_schemas import ANALYTICS_SCHEMAS
from backend.rest_api.analytics.cohort_schemas import COHORT_SCHEMAS
from backend.rest_api.annotations.annotation_list import ANNOTATION_SCHEMAS
from backend.rest_api.archives.schemas import ARCHIVE_SCHEMAS
from backend.rest_api.audit.schemas import AUDIT_SCHEMAS
from backend.rest_api.costs.schemas import COST_SCHEMAS
from backend.rest_api.destinations.schemas import DESTINATION_SCHEMAS
from backend.rest_api.domains.schemas import DOMAIN_SCHEMAS
from backend.rest_api.feed.schemas import EVENT_SCHEMAS
from backend.rest_api.funnels.schemas import FUNNEL_SCHEMAS
from backend.rest_api.keys.schemas import KEY_SCHEMAS
from backend.rest_api.links.schemas import LINK_SCHEMAS
from backend.rest_api.members.schemas import MEMBER_SCHEMAS
from backend.rest_api.openapi.error_answers import error_answers, rate_limit_headers, shared_error_answers
from backend.rest_api.openapi.operations import OPERATIONS
from backend.rest_api.openapi.schemas import ERROR_SCHEMAS
from backend.rest_api.openapi.shared_parts import shared_part_schemas, with_references
from backend.rest_api.reports.schemas import REPORT_SCHEMAS
from backend.rest_api.resources.operations import schemas_of
from backend.rest_api.routes.operation import Operation, reference
from backend.rest_api.sales.answer_schemas import SALES_ANSWER_SCHEMAS
from backend.rest_api.sales.schemas import SALES_SCHEMAS
from backend.rest_api.tags.schemas import TAG_SCHEMAS
from backend.rest_api.taps.schemas import TAP_SCHEMAS
from backend.rest_api.webhooks.schemas import WEBHOOK_SCHEMAS


def openapi_document(server_url: str) -> dict[str, Any]:
    """The OpenAPI document of the API at this base URL."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.shown_path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Waylink REST API",
            "version": "1",
            "description": "Dynamic links: create, change, find and count them. "
            "Within version 1 there will only be additions.",
        },
        "servers": [{"url": server_url}],
        "security": [{"apiKey": []}],
        "paths": paths,
        "components": {
            "schemas": LINK_SCHEMAS
            | TAP_SCHEMAS
            | TAG_SCHEMAS
            | DESTINATION_SCHEMAS
            | ANALYTICS_SCHEMAS
            | SALES_SCHEMAS
            | SALES_ANSWER_SCHEMAS
            | ERROR_SCHEMAS
            | EVENT_SCHEMAS
            | WEBHOOK_SCHEMAS
            | REPORT_SCHEMAS
            | FUNNEL_SCHEMAS
            | ANNOTATION_SCHEMAS
            | {name: schema for resource in RESOURCES for name, schema in schemas_of(resource).items()}
            | ALERT_SCHEMAS
            | COST_SCHEMAS
            | KEY_SCHEMAS
            | AUDIT_SCHEMAS
            | MEMBER_SCHEMAS
            | ARCHIVE_SCHEMAS
            | DOMAIN_SCHEMAS
            | COHORT_SCHEMAS
            | shared_part_schemas(),
            "responses": shared_error_answers(),
            "securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": KEY_HEADER}},
            "headers": {
                name: {"description": meaning, "schema": {"type": "integer", "minimum": 0}}
                for name, meaning in RATE_LIMIT_HEADERS.items()
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.endpoint,
        "summary": operation.summary,
        "description": f"A key that has scopes needs {' and '.join(operation.needs)}.",
        "responses": _responses(operation),
    }
    if parameters := operation.shown_parameters:
        described["parameters"] = parameters
    if body := operation.shown_body:
        described["requestBody"] = {"required": True, "content": _json(with_references(body))}
    return described


def _responses(operation: Operation) -> dict[str, Any]:
    headers = rate_limit_headers() | dict(operation.answer_headers)
    success: dict[str, Any] = {"description": operation.summary, "headers": headers}
    if content := _content(operation):
        success["content"] = content
    successes = {str(status): success for status in (operation.status, operation.other_status) if status}
    return successes | error_answers(operation)


def _content(operation: Operation) -> dict[str, Any]:
    answer = _json(reference(operation.answer)) if operation.answer else {}
    return answer | {
        media_type: {"schema": {"type": "string", "description": meaning} | _BINARY.get(media_type, {})}
        for media_type, meaning in operation.files.items()
    }


# Of media types that are no text, what the schema has beside its type.
_BINARY = {
    media_type: {"format": "binary"}
    for media_type in (RowFormat.PARQUET.media_type, "image/png", "application/pdf")
}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
