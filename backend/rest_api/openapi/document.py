"""Builds the OpenAPI 3.1 document of the REST API from its list of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backend.domain.all_resources import RESOURCES
from backend.domain.analytics.filters import Filters
from backend.domain.analytics.funnels.input import FunnelSteps
from backend.domain.clicks.rows import RowFormat
from backend.domain.fields.answer_schemas import TEXT, answer_object
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.authentication import KEY_HEADER
from backend.json_api.error_table import ErrorRow
from backend.json_api.rate_limit import RATE_LIMIT_HEADERS
from backend.rest_api.analytics.answer_schemas import ANALYTICS_SCHEMAS
from backend.rest_api.analytics.cohort_schemas import COHORT_SCHEMAS
from backend.rest_api.annotations.annotation_list import ANNOTATION_SCHEMAS
from backend.rest_api.costs.schemas import COST_SCHEMAS
from backend.rest_api.destinations.schemas import DESTINATION_SCHEMAS
from backend.rest_api.domains.schemas import DOMAIN_SCHEMAS
from backend.rest_api.feed.schemas import EVENT_SCHEMAS
from backend.rest_api.funnels.schemas import FUNNEL_SCHEMAS
from backend.rest_api.links.schemas import LINK_SCHEMAS
from backend.rest_api.openapi.answers import ANSWER_SCHEMAS
from backend.rest_api.openapi.operations import OPERATIONS
from backend.rest_api.resources.operations import schemas_of
from backend.rest_api.routes.operation import Operation, reference
from backend.rest_api.sales.answer_schemas import SALES_ANSWER_SCHEMAS
from backend.rest_api.sales.schemas import SALES_SCHEMAS

# Parts of bodies that several operations take: the document describes each once, by its name.
#
# The rules of fields describe themselves as a whole, and know nothing of the document.
_PARTS: dict[str, Schema] = {
    "FunnelStep": FunnelSteps().schema()["items"],
    "AnalyticsFilters": Filters().schema(),
}


def shared_part_schemas() -> dict[str, Schema]:
    """The parts by their names in the components of the document; those inside others by reference."""
    return {name: _inside(part) for name, part in _PARTS.items()}


def with_references(schema: Any) -> Any:
    """The schema, with a reference in the place of each part. What the schema says of a part stays there."""
    if not isinstance(schema, dict):
        return [with_references(inner) for inner in schema] if isinstance(schema, list) else schema
    rules = {keyword: rule for keyword, rule in schema.items() if keyword != "description"}
    for name, part in _PARTS.items():
        if rules == part:
            return reference(name) | {keyword: schema[keyword] for keyword in schema.keys() - rules.keys()}
    return _inside(schema)


def _inside(schema: Schema) -> Schema:
    return {keyword: with_references(rule) for keyword, rule in schema.items()}


_INNER: Schema = reference("ErrorDetail")
_CODE: Schema = {"type": "integer"}

ERROR_SCHEMAS: dict[str, Schema] = {
    "ErrorDetail": answer_object(
        errorMessage=TEXT,
        fieldName=TEXT | {"description": "The field that is at fault, if one is; else a name of the error."},
    ),
    "ErrorAnswer": {
        "type": "object",
        "required": ["code", "errorMessage", "error"],
        "properties": {
            "code": _CODE,
            "errorMessage": TEXT,
            "error": _INNER,
            "errors": {
                "type": "array",
                "minItems": 1,
                "items": _INNER,
                "description": "Where fields are at fault, all of them; the first is error.",
            },
        },
    },
    "ErrorList": answer_object(
        code=_CODE,
        errorMessage=TEXT,
        errors={"type": "array", "minItems": 1, "items": _INNER},
    ),
}


_PLACEHOLDERS = {"field": "<field>", "message": "<field> <rule>"}
# Rows of unknown things are not in the table: these are called as they call themselves.
_NAMES = {row: name for name, row in vars(error_table).items() if isinstance(row, ErrorRow)}


def error_answers(operation: Operation) -> dict[str, Any]:
    """What the operation answers instead of a success, by status."""
    return {
        str(answer.status): answer.reference if answer in _SHARED else answer.described()
        for answer in _answers_of(operation)
    }


def shared_error_answers() -> dict[str, Any]:
    """The answers that several operations refer to, by their names in the components of the document."""
    return {answer.name: answer.described() for answer in _SHARED}


def rate_limit_headers() -> dict[str, Any]:
    """References to the headers that tell about the rate limit."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in RATE_LIMIT_HEADERS}


@dataclass(frozen=True, slots=True)
class _ErrorAnswer:
    """The answer with one of these errors, which have one status."""

    rows: tuple[ErrorRow, ...]
    to_the_letter: bool  # whether the errors are told in the contract's form, where that differs

    @property
    def status(self) -> int:
        return self.rows[0].status

    @property
    def name(self) -> str:
        names = (_NAMES.get(row, row.field_name).title().replace("_", "") for row in self.rows)
        return "Or".join(names) + ("ToTheLetter" if self.to_the_letter else "")

    @property
    def reference(self) -> Schema:
        return {"$ref": f"#/components/responses/{self.name}"}

    def described(self) -> Schema:
        names = {"ErrorList" if row.listed else "ErrorAnswer" for row in self.rows}
        shapes = [reference(name) for name in sorted(names)]
        content = {
            "schema": shapes[0] if len(shapes) == 1 else {"anyOf": shapes},
            "examples": {
                f"example{number}": {"value": self._body(row)} for number, row in enumerate(self.rows, 1)
            },
        }
        answer = {"description": self.rows[0].message, "content": {"application/json": content}}
        # A request without a valid key has no rate limit to show.
        return answer if self.status == 401 else answer | {"headers": rate_limit_headers()}

    def _body(self, row: ErrorRow) -> Schema:
        if self.to_the_letter or not row.at:
            return row.body(**_PLACEHOLDERS)
        return row.body_of_fields([row.field_error(**_PLACEHOLDERS)])


def _answers_of(operation: Operation) -> Iterator[_ErrorAnswer]:
    for status in sorted({row.status for row in operation.every_error}):
        rows = tuple(row for row in operation.every_error if row.status == status)
        yield _ErrorAnswer(rows, operation.is_to_the_letter and any(row.at for row in rows))


_SHARED = [
    answer
    for answer, operations in Counter(
        answer for operation in OPERATIONS for answer in _answers_of(operation)
    ).items()
    if operations > 1
]


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
            | ANSWER_SCHEMAS
            | DESTINATION_SCHEMAS
            | ANALYTICS_SCHEMAS
            | SALES_SCHEMAS
            | SALES_ANSWER_SCHEMAS
            | ERROR_SCHEMAS
            | EVENT_SCHEMAS
            | FUNNEL_SCHEMAS
            | ANNOTATION_SCHEMAS
            | {name: schema for resource in RESOURCES for name, schema in schemas_of(resource).items()}
            | COST_SCHEMAS
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
