"""The heading of a column by which a table can be sorted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A column that sorts. `direction` is that of the rows now; "" if they are sorted by another one.

    Where there is little room, `short` stands in place of the label.
    """

    label: str
    address: str
    direction: str
    short: str = ""
