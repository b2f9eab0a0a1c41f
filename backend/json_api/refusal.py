"""The exception that ends a request with a row of the error table."""

from __future__ import annotations

from backend.json_api.error_table import ErrorRow


class Refusal(Exception):
    """The request is answered with this row; `details` fill its placeholders."""

    def __init__(self, row: ErrorRow, **details: str) -> None:
        super().__init__(row.inner_message)
        self.row = row
        self.details = details
        self.headers: dict[str, str] = {}

    def with_headers(self, headers: dict[str, str]) -> Refusal:
        """The same refusal with these headers on its answer."""
        self.headers |= headers
        return self
