"""The order of a table of figures: by a measure, or by how much it changed, as an address names it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.dashboard.analytics.view import View
from backend.dashboard.frame.heading import Heading
from backend.domain.analytics.answer import Values
from backend.domain.analytics.changes import in_currency
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import DIFFERENCE, Order

SORT = "sort"


def orders_of(measures: Sequence[Measure]) -> tuple[str, ...]:
    """All orders by these measures, as addresses name them."""
    return tuple(
        f"{sign}{compared}{measure.value}"
        for compared in ("", DIFFERENCE)
        for measure in measures
        for sign in ("-", "")
    )


@dataclass(frozen=True, slots=True)
class Sorting:
    """How rows are sorted: by a measure's change against the time before if `is_by_change`.

    Amounts in the first of `currencies` decide, then those in the next one.
    """

    measure: Measure
    is_descending: bool = True
    is_by_change: bool = False
    currencies: tuple[str, ...] = ()

    @classmethod
    def of(cls, view: View, totals: Values, currencies: Sequence[str]) -> Sorting:
        """The order in the view's address. Without one: most revenue first, if there is any, else clicks."""
        revenue = totals[Measure.REVENUE]
        is_any = any(in_currency(revenue, currency) for currency in currencies)
        return cls.read(view, Measure.REVENUE if is_any else Measure.CLICKS, currencies)

    @classmethod
    def read(cls, view: View, default: Measure, currencies: Sequence[str] = ()) -> Sorting:
        """The order in the view's address; without one, most of `default` first."""
        word = view.others.get(SORT, "")
        signed = word.removeprefix("-")
        name = signed.removeprefix(DIFFERENCE)
        if not name or (name != signed and not view.comparison):
            return cls(default, currencies=tuple(currencies))
        return cls(Measure(name), signed != word, name != signed, tuple(currencies))

    @property
    def order(self) -> Order:
        """The order of a query."""
        currencies = self.currencies if self.measure.is_money else ()
        return Order(
            self.measure,
            self.is_descending,
            of_difference=self.is_by_change,
            currencies=currencies,
        )

    @property
    def word(self) -> str:
        """The order as an address names it."""
        return f"{'-' * self.is_descending}{DIFFERENCE * self.is_by_change}{self.measure.value}"

    def heading(self, measure: Measure, label: str, view: View, path: str, short: str = "") -> Heading:
        """The heading of a measure's column: a click sorts by it, the next one the other way round."""
        directions = [
            ("descending" if self.is_descending else "ascending")
            if measure is self.measure and self.is_by_change is by_change
            else ""
            for by_change in (False, True)
        ]
        addresses = [
            view.address(path, sort=f"{'-' * (direction != 'descending')}{compared}{measure.value}")
            for compared, direction in zip(("", DIFFERENCE), directions, strict=True)
        ]
        changes = (addresses[1], directions[1]) if view.comparison else ("", "")
        return Heading(label, addresses[0], directions[0], short, *changes)
