"""Reads what was counted from rows of SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backend.domain.analytics_figures import Sold, Sums

_PLAIN = ("clicks", "visitors", "not_counted", "installs", "customers", "contacts")


def sums_of(row: Mapping[str, Any], prefix: str = "") -> Sums:
    """The figures of a row, of which columns begin with `prefix`."""
    found = Sums()
    for name in _PLAIN:
        if count := row.get(prefix + name):
            setattr(found, name, count)
    if sold := row.get(prefix + "sold"):
        found.add(_each(sold))
    found.chance_of_best = row.get(prefix + "chance")
    return found


def _each(sold: Iterable[Mapping[str, Any]]) -> Iterable[Sold]:
    return (Sold(**each) for each in sold)
