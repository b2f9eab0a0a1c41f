"""Pieces of SQL with the values that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL whose `$names` stand for `values`. What comes from a request is a value, never text."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
