"""Errors in a request, told in terms of its fields, and errors for whoever runs the service."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

# The most errors of a request that are listed: more than any request has fields.
MOST_ERRORS = 50


class ItemUnknown(LookupError):
    """The organization has no such thing, or not any more."""


class OperatorError(Exception):
    """Waylink can't do what its operator asked for. The message says why, and what to do."""


class RequestError(ValueError):
    """The request is invalid. The message is meant for the caller."""


class FieldError(RequestError):
    """A field is wrong. `rule` completes a sentence that starts with the field's name.

    The message ends with the `value` that was sent, where it is given. `rule` has no text of the caller's.
    `others` are the errors of the request's other fields, as far as they were found (`raise_all`).
    """

    def __init__(self, field: str, rule: str, value: object = None) -> None:
        super().__init__(f"{field} {rule}" if value is None else f"{field} {rule}, not {shown_value(value)}")
        self.field = field
        self.rule = rule
        self.others: tuple[FieldError, ...] = ()

    @property
    def every(self) -> tuple[FieldError, ...]:
        """This error and those of the other fields."""
        return self, *self.others

    @property
    def rule_by_field(self) -> dict[str, str]:
        """The rule that each wrong field breaks, by the field's name."""
        return {error.field: error.rule for error in self.every}

    def __reduce__(self) -> tuple[Any, ...]:
        """How the error is pickled, so that it arrives in another process with all its attributes."""
        return _unpickled, (type(self), self.args, self.__dict__)


def _unpickled(kind: type[FieldError], args: tuple[Any, ...], state: dict[str, Any]) -> FieldError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class MissingField(FieldError):
    """A required field is absent or null."""

    def __init__(self, field: str) -> None:
        super().__init__(field, "field is required")


class InvalidField(FieldError):
    """A field's value breaks a rule."""


class TooManyItems(InvalidField):
    """The organization has as many such things as it may have: `most`. `things` is what they are called."""

    def __init__(self, field: str, most: int, things: str = "") -> None:
        number = f"{most:,} {things}".rstrip()
        super().__init__(field, f"would be one more than the {number} that are possible")
        self.most = most


@contextmanager
def collect_errors(errors: list[FieldError]) -> Iterator[None]:
    """Add a FieldError that the block raises to `errors`, and go on after the block."""
    try:
        yield
    except FieldError as error:
        errors.append(error)


def raise_all(errors: Sequence[FieldError]) -> None:
    """Raise the first of these errors, with the others in its `others`. Returns if there are none."""
    if errors:
        first, *others = (inner for error in errors for inner in error.every)
        first.others = tuple(others[: MOST_ERRORS - 1])
        raise first


def shown_name(name: str) -> str:
    """A field name from the request, fit for an error message: ASCII, at most 100 characters."""
    return name.encode("ascii", "backslashreplace").decode()[:100]


def shown_value(value: object) -> str:
    """A value from the request, fit for an error message: as JSON in ASCII, at most 100 characters."""
    written = json.dumps(value, default=str)
    return written if len(written) <= 100 else f"{written[:97]}..."


def unknown_names(body: Iterable[str], known: Container[str]) -> Iterator[str]:
    """The names in the body that are not known, as many as errors are listed.

    A body may have a hundred thousand. While an error was made of each, nobody else would be served.
    """
    return islice((name for name in body if name not in known), MOST_ERRORS)


def unknown_fields(
    body: Mapping[str, object],
    known: Container[str],
    prefix: str = "",
    rule: str = "is not a field of this request",
) -> list[FieldError]:
    """An error for each field in the body that the request does not have, with `prefix` before its name."""
    return [InvalidField(prefix + shown_name(name), rule) for name in unknown_names(body, known)]
