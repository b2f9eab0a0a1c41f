"""The heading of a column by which a table can be sorted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A column that sorts. `direction` is that of the rows now; "" if they are sorted by another one.

    Where there is little room, `short` stands in place of the label. `change_address` leads to the order by
    how much the column changed, whose direction is `change_direction`; "" where nothing is compared.
    """

    label: str
    address: str
    direction: str
    short: str = ""
    change_address: str = ""
    change_direction: str = ""
