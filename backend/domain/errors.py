"""Errors in a request, told in terms of its fields, and errors for whoever runs the service."""

from __future__ import annotations


class OperatorError(Exception):
    """Waylink can't do what its operator asked for. The message says why, and what to do."""


class RequestError(ValueError):
    """The request is invalid. The message is meant for the caller."""


class MissingField(RequestError):
    """A required field is absent or null."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.rule = "field is required"
        super().__init__(f"{field} {self.rule}")


class InvalidField(RequestError):
    """A field's value breaks a rule. `rule` completes a sentence that starts with the field's name."""

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field} {rule}")
        self.field = field
        self.rule = rule


def shown_name(name: str) -> str:
    """A field name from the request, fit for an error message: ASCII, at most 100 characters."""
    return name.encode("ascii", "backslashreplace").decode()[:100]
