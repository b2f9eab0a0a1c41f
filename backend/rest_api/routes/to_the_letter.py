"""The contract's operations tell their errors as the contract prints them (docs/decisions/rest-errors.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from backend.json_api.api_error import api_error_for

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
