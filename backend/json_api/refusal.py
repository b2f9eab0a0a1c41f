"""The exception that ends a request with an error from the error table."""

from __future__ import annotations

from backend.json_api.error_table import ErrorRow


class Refusal(Exception):
    """Raised to answer the request with this row of the error table. `details` fill its placeholders."""

    def __init__(self, row: ErrorRow, **details: str) -> None:
        super().__init__(row.inner_message)
        self.row = row
        self.details = details
        self.headers: dict[str, str] = {}

    def with_headers(self, headers: dict[str, str]) -> Refusal:
        """The same refusal, whose answer also has these headers."""
        self.headers |= headers
        return self
