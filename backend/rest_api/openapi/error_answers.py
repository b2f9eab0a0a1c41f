"""Answers with errors, as OpenAPI describes them: what several operations answer is described once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.json_api.rate_limit import RATE_LIMIT_HEADERS
from backend.rest_api.openapi.operations import OPERATIONS
from backend.rest_api.routes.operation import Operation, reference

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
