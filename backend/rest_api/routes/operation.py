"""What an operation of the REST API is, as data, and what most of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow

SHORT_URL: Schema = {"type": "string", "description": "The complete short URL, with its protocol."}
BODY_ERRORS = (
    error_table.BODY_NOT_AN_OBJECT,
    error_table.FIELD_INVALID,
    error_table.BODY_TOO_SLOW,
    error_table.BODY_TOO_LARGE,
    error_table.MEDIA_TYPE_WRONG,
)
EVERYWHERE = (
    error_table.RATE_LIMIT_EXCEEDED,
    error_table.SERVER_FAULT,
    error_table.STORAGE_UNREACHABLE,
)
KEY_ERRORS = (error_table.KEY_MISSING, error_table.KEY_INVALID)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path.

    `endpoint` names its Quart route, `answer` the schema of its answer in JSON. It may also be of one of the
    media types in `files`: always so if `answer` is None, or without a body if there are none.
    """

    endpoint: str
    method: str
    path: str
    summary: str
    status: int
    answer: str | None
    errors: tuple[ErrorRow, ...]
    body: Schema | None = None
    parameters: tuple[Schema, ...] = ()
    # Another status of success, with the same answer.
    other_status: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)  # what each media type is
    headers: Mapping[str, Schema] = field(default_factory=dict)  # of the answer, besides rate limits
    # Whether it is one of the contract's, whose errors are told as that prints them.
    to_the_letter: bool = False


def reference(name: str) -> Schema:
    """A reference to this schema of the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}


def clearable(schema: Schema, *, by_empty: bool = True) -> Schema:
    """The schema of an optional field of a body: it may be null, and with `by_empty` also an empty text."""
    empty: list[Schema] = [{"type": "null"}]
    if by_empty:
        empty.append({"type": "string", "maxLength": 0})
    return {"anyOf": [schema, *empty]}


def query(name: str, schema: Schema, meaning: str) -> Schema:
    """The schema of an optional parameter of the query string."""
    return {"name": name, "in": "query", "required": False, "description": meaning, "schema": schema}
