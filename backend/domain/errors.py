"""What can be wrong with a request, said in terms of its fields."""

from __future__ import annotations


class RequestError(ValueError):
    """The request can't be carried out as it is; the message is for the caller."""


class MissingField(RequestError):
    """A required field is absent or null."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.rule = "field is required"
        super().__init__(f"{field} {self.rule}")


class InvalidField(RequestError):
    """A field's value breaks its rule; `rule` completes a sentence that begins with the field's name."""

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(f"{field} {rule}")
        self.field = field
        self.rule = rule
