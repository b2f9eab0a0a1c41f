"""An operation of the REST API: said once, above the function that carries it out.

The route, the checks before the function and the OpenAPI document follow from it
(docs/decisions/described-operations.md).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from quart import Response, request

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import ItemUnknown
from backend.domain.fields.rules import Schema
from backend.json_api import error_table
from backend.json_api.api_error import ApiError, api_error_for
from backend.json_api.error_table import ErrorRow
from backend.rest_api.routes.blueprint import admit, rest
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.parameters import PathParameter, QueryParameter
from backend.rest_api.routes.query_string import read_query

Arguments = ParamSpec("Arguments")
AnswerT = TypeVar("AnswerT")


def to_the_letter(
    operation: Callable[Arguments, Awaitable[AnswerT]],
) -> Callable[Arguments, Awaitable[AnswerT]]:
    """The operation, which tells one error at a time, with a code where others name the field."""

    @wraps(operation)
    async def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> AnswerT:
        try:
            return await operation(*args, **kwargs)
        except Exception as error:
            api_error = api_error_for(error)
            if api_error is None:
                raise
            raise api_error.to_the_letter() from None

    return answer


OperationView = Callable[..., Awaitable[Any]]
OperationViewT = TypeVar("OperationViewT", bound=OperationView)

_BODY_ERRORS = (
    error_table.BODY_NOT_AN_OBJECT,
    error_table.FIELD_INVALID,
    error_table.BODY_TOO_SLOW,
    error_table.BODY_TOO_LARGE,
    error_table.MEDIA_TYPE_WRONG,
)
_EVERYWHERE = (
    error_table.RATE_LIMIT_EXCEEDED,
    error_table.SERVER_FAULT,
    error_table.STORAGE_UNREACHABLE,
)
_PARAMETER = re.compile("<[^>]+>")

# By the name of their endpoint.
REGISTERED: dict[str, Operation] = {}


@dataclass(kw_only=True)
class Operation:
    """One method of one path; the decorator of its view, which gets what the request says as arguments:

    - the part of the path, parsed as `path_parameter` says,
    - `query`, the parameters that are in the query string, if the operation has some,
    - `fields`, the body, if it is described by BodyFields. The view reads any other body itself.

    Before it is called, key, rate limit and the key's scopes are checked, then path, query string and body,
    in this order.

    `name`, which is also that of its route, is the view's where it is empty. `path` is Quart's. `answer` is
    the name of the schema of its answer in JSON. The answer may also be of one of the media types in `files`:
    always so if `answer` is None, or without a body if there are none. A view without a body returns None.
    """

    name: str = ""
    method: str
    path: str
    summary: str
    needs: tuple[Permission, ...]  # a key with scopes must have all of them
    # Whether its view holds to the `reach` of the caller. Without, keys that are limited to some links are
    # refused.
    holds_reach: bool = False
    path_parameter: PathParameter | None = None
    query: Mapping[str, QueryParameter] = field(default_factory=dict)
    header_parameters: tuple[Schema, ...] = ()
    body: BodyFields | Schema | None = None
    status: int = 200
    other_status: int | None = None  # of success too, with the same answer
    answer: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)  # what each media type is
    answer_headers: Mapping[str, Schema] = field(default_factory=dict)  # besides those of rate limits
    # What it answers besides what follows from all else. Of errors of one status the document shows these
    # first, in this order: one that follows from all else may be named to stand among them.
    errors: tuple[ErrorRow, ...] = ()
    invalid_key: ErrorRow = error_table.KEY_INVALID
    # Whether it is one of the contract's: its errors are told as that prints them, and it ignores parameters
    # that it does not have.
    is_to_the_letter: bool = False
    view: OperationView = field(init=False)

    def __call__(self, view: OperationViewT) -> OperationViewT:
        """Register the operation, with its route, by its name. Returns the view."""
        self._register(view, to_the_letter(self._answer) if self.is_to_the_letter else self._answer)
        return view

    def _register(self, view: OperationView, view_of_route: OperationView | None) -> None:
        self.view = view
        assert self.endpoint not in REGISTERED, self.endpoint
        REGISTERED[self.endpoint] = self
        rest.add_url_rule(self.path, self.endpoint, view_of_route, methods=[self.method])

    async def _answer(self, **parts_of_path: str) -> Any:
        parse = self.path_parameter.parse if self.path_parameter else str
        path_values = [parse(text) for text in parts_of_path.values()]
        named: dict[str, Any] = {}
        if not self.is_to_the_letter:
            query = read_query(self.query)
            named = {"query": query} if self.query else {}
        if isinstance(self.body, BodyFields):
            named["fields"] = await self.body.read()
        try:
            answer = await self.view(*path_values, **named)
        except ItemUnknown:
            if self.path_parameter is None:
                raise
            raise ApiError(self.path_parameter.errors[0]) from None
        return Response(status=self.status) if answer is None else answer

    @property
    def endpoint(self) -> str:
        """Its name, which is also that of its route."""
        return self.name or self.view.__name__

    @property
    def shown_path(self) -> str:
        """The path, as OpenAPI writes it."""
        name = self.path_parameter.name if self.path_parameter else ""
        return _PARAMETER.sub(f"{{{name}}}", self.path)

    @property
    def shown_parameters(self) -> list[Schema]:
        """All parameters, as OpenAPI describes them."""
        return [
            *([self.path_parameter.described()] if self.path_parameter else []),
            *(parameter.described(name) for name, parameter in self.query.items()),
            *self.header_parameters,
        ]

    @property
    def shown_body(self) -> Schema | None:
        """JSON Schema of the body."""
        return self.body.schema() if isinstance(self.body, BodyFields) else self.body

    @property
    def every_error(self) -> tuple[ErrorRow, ...]:
        """All that it may answer instead of a success, those of one status in the document's order."""
        return tuple(
            dict.fromkeys(
                (
                    *(self.path_parameter.errors if self.path_parameter else ()),
                    *(self.body.errors if isinstance(self.body, BodyFields) else ()),
                    *self.errors,
                    *(_BODY_ERRORS if self.body else ()),
                    *(() if self.is_to_the_letter else (error_table.QUERY_INVALID,)),
                    error_table.KEY_MISSING,
                    self.invalid_key,
                    error_table.SCOPE_MISSING,
                    *(() if self.holds_reach else (error_table.KEY_LIMITED,)),
                    *_EVERYWHERE,
                )
            )
        )


class PlainOperation(Operation):
    """One whose view is plain ASGI: it is given the AsgiRequest, and reads all of it itself.

    The framework knows its route and answers every other method. Who calls the view is links/creation_route.
    """

    def __call__(self, view: OperationViewT) -> OperationViewT:
        """Register the operation by the view's name. Returns what is to be called in the view's place."""
        answered = to_the_letter(view) if self.is_to_the_letter else view
        self._register(answered, None)
        return cast(OperationViewT, answered)


@rest.before_request
async def _admit() -> None:
    operation = REGISTERED[str(request.endpoint).removeprefix("rest.")]
    await admit(operation.endpoint, operation.invalid_key, operation.needs, holds_reach=operation.holds_reach)


def reference(name: str) -> Schema:
    """A reference to this schema of the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}
