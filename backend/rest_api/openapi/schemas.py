"""JSON Schemas of errors (contract, "Errors")."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import TEXT, answer_object
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

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
