"""The error for clicks that are stored but can't be read."""

from __future__ import annotations

from backend.domain.errors import OperatorError


class MissingClicks(OperatorError):
    """The output lacks `missing` requests, and has all others."""

    def __init__(self, missing: int) -> None:
        super().__init__(
            f"{missing:,} requests of this time are missing, since what is stored of them can't be read; all "
            "others are there. See `waylink doctor`."
        )
