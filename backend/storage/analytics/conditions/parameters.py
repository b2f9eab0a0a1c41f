"""The parameters of an SQL statement."""

from __future__ import annotations

from backend.storage.analytics.conditions.sql import Sql


class SqlParameters:
    """Gathers the parameters of one statement.

    A call with a value returns the placeholder that stands for the value in the statement's text.
    """

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def __call__(self, value: object) -> str:
        """Add a parameter with this value, and return its placeholder."""
        name = f"parameter_{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def take(self, part: Sql) -> str:
        """Add the parameters of a part of the statement, and return the part's text.

        Raises ValueError if a parameter of the same name is there already.
        """
        if not self.values.keys().isdisjoint(part.values):
            raise ValueError("Two values of a statement have the same name.")
        self.values |= part.values
        return part.text

    def whole(self, text: str) -> Sql:
        """The statement with its parameters."""
        return Sql(text, self.values)
