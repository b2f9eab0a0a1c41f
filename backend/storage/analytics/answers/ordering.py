"""The order of rows, and the condition for rows behind a given one, as SQL on the values that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.domain.analytics.answer import RATE_DIGITS
from backend.domain.analytics.figures import MORE_DIGITS
from backend.domain.analytics.query import MONEY, TIMES, Field, Measure, Query
from backend.domain.fields.money import MINOR_DIGITS
from backend.storage.analytics.answers.rows import BEFORE
from backend.storage.analytics.conditions.parameters import SqlParameters

_SHARED = frozenset({Measure.LEADS, Measure.CONVERSIONS, Measure.EVENTS, Measure.IDENTITIES})
_RATE = 10**RATE_DIGITS


@dataclass(frozen=True, slots=True)
class Key:
    """An expression that rows are sorted by, a text or a number.

    Rows without a value come first or last, whichever the direction.
    """

    expression: str
    is_descending: bool = False
    has_nulls_first: bool = False
    is_text: bool = True

    @property
    def sql(self) -> str:
        """The key as it stands behind ORDER BY."""
        direction = "DESC" if self.is_descending else "ASC"
        return f"{self.expression} {direction} NULLS {'FIRST' if self.has_nulls_first else 'LAST'}"

    def is_behind(self, value: object, parameters: SqlParameters) -> str:
        """Whether a row comes behind one with this value, by this key alone."""
        if value is None:
            return f"{self.expression} IS NOT NULL" if self.has_nulls_first else "false"
        behind = f"{self.expression} {'<' if self.is_descending else '>'} {parameters(value)}"
        return behind if self.has_nulls_first else f"({behind} OR {self.expression} IS NULL)"

    def is_same(self, value: object, parameters: SqlParameters) -> str:
        """Whether a row has this value."""
        return f"{self.expression} IS NOT DISTINCT FROM {parameters(value)}"


def keys_of(query: Query) -> list[Key]:
    """The keys of the query's order: its column, then what rows are by, as texts, and their kinds."""
    order = query.sorting
    texts = [
        Key("row_link.id" if field is Field.LINK else f"groups.g{number}", is_text=field not in TIMES)
        for number, field in enumerate(query.group_by)
    ]
    kinds = [Key("groups.apart", has_nulls_first=True)] if query.has_kinds else []
    if not isinstance(order.column, Measure):
        first = texts[query.group_by.index(order.column)]
        return [replace(first, is_descending=order.is_descending), *texts, *kinds]
    measure = order.column
    value = _change(measure, query) if order.of_change else _value(measure, query, "")
    return [Key(value, order.is_descending, is_text=False), *texts, *kinds]


def behind(keys: Sequence[Key], values: Sequence[object], parameters: SqlParameters) -> str:
    """Whether a row comes behind the one that has these values."""
    text = "false"
    for key, value in reversed(list(zip(keys, values, strict=True))):
        text = f"({key.is_behind(value, parameters)} OR ({key.is_same(value, parameters)} AND {text}))"
    return text


def _value(measure: Measure, query: Query, prefix: str) -> str:
    """What rows show of the measure, as a whole number of its last decimal; null where they show nothing."""
    if measure in _SHARED:
        return f"round_even({_shares(measure, prefix)} * {_RATE}, 0)"
    if measure is Measure.CONVERSION_RATE:
        return f"round_even({_shares('of_links', prefix)} / {_clicks(prefix)} * {_RATE}, 0)"
    if measure is Measure.REVENUE_PER_CLICK:
        of_links = _amount("revenue_of_links", query, prefix)
        return f"round_even({of_links} / {_clicks(prefix)} * {10**MORE_DIGITS}, 0)"
    if measure in MONEY:
        back = f" - {_amount('refunds', query, prefix)}" if measure is Measure.NET_REVENUE else ""
        paid = measure.value if measure is Measure.REFUNDS else "revenue"
        return f"round_even({_amount(paid, query, prefix)}{back}, 0)"
    if measure is Measure.CHANCE_OF_BEST:
        return f"chances.{prefix}chance"
    return f"coalesce(groups.{prefix}{measure}, 0)"


def _change(measure: Measure, query: Query) -> str:
    """How much the measure changed; null where there was nothing."""
    now, was = _value(measure, query, ""), _value(measure, query, BEFORE)
    return f"round_even(({now} - {was})::DOUBLE / nullif({was}, 0) * {_RATE}, 0)"


def _clicks(prefix: str) -> str:
    return f"nullif(groups.{prefix}clicks, 0)"


def _shares(name: str, prefix: str) -> str:
    """The sum of the row's shares of sales, each of which may be a part of one."""
    parts = f"[coalesce(sale.{name}, 0)::DOUBLE / sale.whole FOR sale IN groups.{prefix}sold]"
    return f"coalesce(list_sum({parts}), 0)"


def _amount(name: str, query: Query, prefix: str) -> str:
    """An amount of the query's currency, in its smallest units."""
    digits = MINOR_DIGITS.get(query.currency or "", 2)
    unit = f"pow(10, {digits} - sale.digits::INTEGER)"
    part = f"coalesce(sale.{name}, 0)::DOUBLE * {unit} / sale.whole"
    parts = f"[{part} FOR sale IN groups.{prefix}sold IF sale.currency IS NOT NULL]"
    return f"coalesce(list_sum({parts}), 0)"
