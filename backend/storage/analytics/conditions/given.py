"""The values of a statement."""

from __future__ import annotations

from backend.storage.analytics.conditions.sql import Sql


class Given:
    """Gathers the values of one statement. Each is named in its text by what a call returns."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def __call__(self, value: object) -> str:
        """What stands for the value in the statement."""
        name = f"given_{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def take(self, part: Sql) -> str:
        """The text of a part that has values of its own."""
        if not self.values.keys().isdisjoint(part.values):
            raise ValueError("Two values of a statement have the same name.")
        self.values |= part.values
        return part.text

    def whole(self, text: str) -> Sql:
        """The statement with its values."""
        return Sql(text, self.values)
