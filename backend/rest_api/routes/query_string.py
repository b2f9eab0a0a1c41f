"""Reads query strings by rules. Parameters that an operation does not have are errors, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from quart import request

from backend.domain.errors import FieldError, InvalidField, collect_errors, raise_all, shown_name
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.parameters import QueryParameter

_UNKNOWN = "is not a parameter of this request"


def read_query(parameters: Mapping[str, QueryParameter]) -> dict[str, Any]:
    """The values of these parameters, parsed: of those that the current request has.

    Raises ApiError, which names all that are unknown, break their rule, are given twice or are missing.
    """
    query: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, values in request.args.lists():
        with collect_errors(errors):
            query[name] = _parse(name, values, parameters)
    errors += [
        InvalidField(name, "parameter is required")
        for name, parameter in parameters.items()
        if parameter.is_required and name not in request.args
    ]
    try:
        raise_all(errors)
    except FieldError as error:
        raise error_in_query(error) from None
    return query


def refuse_parameters(query_string: bytes) -> None:
    """Raise ApiError if this query string has any parameter, for a request that takes none."""
    text = query_string.decode("utf-8", "replace")
    # Bytes that are no UTF-8 are written as the framework writes them: %FF.
    for name, _ in parse_qsl(text, keep_blank_values=True, errors="werkzeug.url_quote"):
        raise query_error(name, _UNKNOWN)


def error_in_query(error: FieldError) -> ApiError:
    """The API's error for an error of query parameters, with those of all others that are wrong."""
    others = [query_error(other.field, other.rule) for other in error.others]
    return query_error(error.field, error.rule).with_others(others)


def query_error(name: str, rule: str) -> ApiError:
    """The error for a query parameter. `rule` completes a sentence that starts with its name."""
    shown = shown_name(name)
    return ApiError(error_table.QUERY_INVALID, message=f"{shown} {rule}", field=shown)


def _parse(name: str, values: list[str], parameters: Mapping[str, QueryParameter]) -> Any:
    if name not in parameters:
        raise InvalidField(name, _UNKNOWN)
    if len(values) > 1:
        raise InvalidField(name, "must be given once")
    return parameters[name].rule.parse(name, values[0])
