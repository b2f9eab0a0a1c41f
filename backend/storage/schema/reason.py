"""The reason why something does not apply to a collection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence that says why. It must not be empty."""

    why: str

    def __post_init__(self) -> None:
        if not self.why.strip():
            raise ValueError(f"{type(self).__name__} needs a reason.")
