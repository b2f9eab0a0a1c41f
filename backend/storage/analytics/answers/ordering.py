"""The order of rows, and the condition for rows behind a given one, as SQL on the values that are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.domain.analytics.answer import RATE_DIGITS
from backend.domain.analytics.figures import MORE_DIGITS
from backend.domain.analytics.formulas import Formula, Less, Per, Sum
from backend.domain.analytics.measures import Measure, MeasureKind, Unit
from backend.domain.analytics.query import TIMES, Field, Order, Query
from backend.domain.fields.money import MINOR_DIGITS
from backend.storage.analytics.answers.rows import BEFORE
from backend.storage.analytics.conditions.parameters import SqlParameters

_RATE = 10**RATE_DIGITS
# With so many decimals values are sorted; amounts with those of their currency, and so many more.
_DIGITS = {
    Unit.CREDIT: RATE_DIGITS,
    Unit.SHARE: RATE_DIGITS,
    Unit.RETURN: RATE_DIGITS,
    Unit.AMOUNT_PER_CLICK: MORE_DIGITS,
}


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
    values = [
        Key(_sorted_by(order, query, code), order.is_descending, is_text=False) for code in _codes(query)
    ]
    return [*values, *_ties(query), *texts, *kinds]


def values_of_keys(query: Query) -> dict[str, str]:
    """The parameters that the keys of the query's order name: the currencies by which amounts are sorted."""
    if _is_cost(query.sorting) and not query.knows_cost:
        return {}
    return {_code(number): currency for number, currency in enumerate(query.sorting.currencies)}


def _is_cost(order: Order) -> bool:
    return isinstance(order.column, Measure) and order.column.kind is MeasureKind.COSTS


def _code(number: int) -> str:
    return f"order_currency_{number}"


def _codes(query: Query) -> list[str | None]:
    """The names of the parameters of the order's currencies; only None if it has none."""
    return [*values_of_keys(query)] or [None]


def _ties(query: Query) -> list[Key]:
    """The key of rows that have the same amounts, most of all none: the first count, as the order goes."""
    order = query.sorting
    counts = [measure for measure in query.measures if not measure.is_money]
    if not (order.currencies and counts):
        return []
    return [Key(_value(counts[0], query, ""), order.is_descending, is_text=False)]


def _sorted_by(order: Order, query: Query, code: str | None) -> str:
    """What rows are sorted by: of amounts, those in the currency that the parameter `code` names."""
    measure = order.column
    assert isinstance(measure, Measure)
    now, was = (_value(measure, query, prefix, code) for prefix in ("", BEFORE if query.compare else ""))
    if order.of_difference:
        return f"({now} - {was})"
    if order.of_change:
        return f"round_even(({now} - {was})::DOUBLE / nullif({was}, 0) * {_RATE}, 0)"
    return now


def behind(keys: Sequence[Key], values: Sequence[object], parameters: SqlParameters) -> str:
    """Whether a row comes behind the one that has these values."""
    text = "false"
    for key, value in reversed(list(zip(keys, values, strict=True))):
        text = f"({key.is_behind(value, parameters)} OR ({key.is_same(value, parameters)} AND {text}))"
    return text


def _value(measure: Measure, query: Query, prefix: str, code: str | None = None) -> str:
    """What rows show of the measure, as a whole number of its last decimal; null where they show nothing.

    Of amounts, what is in the query's currency, or in the one that the parameter `code` names.
    """
    if measure.kind is MeasureKind.COSTS and not query.knows_cost:
        return "NULL::DOUBLE"
    if measure.unit is Unit.COUNT:
        return f"coalesce(groups.{prefix}{measure}, 0)"
    factor = f" * {10 ** _DIGITS[measure.unit]}" if measure.unit in _DIGITS else ""
    return f"round_even({_exact(measure.formula, query, prefix, code)}{factor}, 0)"


def _exact(formula: Formula, query: Query, prefix: str, code: str | None) -> str:
    """The measure before it is rounded, as `figures` in domain works it out; amounts in small units."""
    match formula:
        case Sum(name):
            return _sum(name, query, prefix, code)
        case Less(whole, part):
            return f"{_sum(whole.name, query, prefix, code)} - {_sum(part.name, query, prefix, code)}"
        case Per(of, by):
            of_sum, by_sum = (_sum(part.name, query, prefix, code) for part in (of, by))
            return f"{of_sum} / nullif({by_sum}, 0)"


def _sum(name: str, query: Query, prefix: str, code: str | None) -> str:
    """A sum of `domain.analytics.figures.GroupSums`."""
    sold = f"{prefix}sold"
    match name:
        case "clicks":
            return f"groups.{prefix}clicks"
        case "chance_of_best":
            return f"chances.{prefix}chance"
        case "cost":
            return _sum_of("amount", f"{prefix}spent", query, code)
        case "revenue" | "refunds" | "revenue_of_links":
            return f"coalesce({_sum_of(name, sold, query, code)}, 0)"
        case "clicks_with_cost" | "conversions_with_cost" | "revenue_with_cost":
            return _sum_with_cost(name, query, prefix, code)
    return _shares("of_links" if name == "conversions_of_links" else name, prefix)


def _sum_with_cost(name: str, query: Query, prefix: str, code: str | None) -> str:
    """A sum of what came of campaigns whose cost is known."""
    if name == "clicks_with_cost":
        only = f"IF part.currency = ${code}" if code else ""
        return f"list_sum([part.clicks FOR part IN groups.{prefix}clicks_with_cost {only}])"
    if name == "conversions_with_cost":
        has_cost = f"list_contains(part.costs_in, ${code})" if code else "part.costs_in IS NOT NULL"
        parts = "coalesce(part.conversions, 0)::DOUBLE / part.whole"
        return f"list_sum([{parts} FOR part IN groups.{prefix}sold IF {has_cost}])"
    has_cost = "list_contains(part.costs_in, part.currency)"
    return f"coalesce({_sum_of('revenue', f'{prefix}sold', query, code, has_cost)}, 0)"


def _shares(name: str, prefix: str) -> str:
    """The sum of the row's shares of sales, each of which may be a part of one."""
    parts = f"[coalesce(sale.{name}, 0)::DOUBLE / sale.whole FOR sale IN groups.{prefix}sold]"
    return f"coalesce(list_sum({parts}), 0)"


def _sum_of(name: str, column: str, query: Query, code: str | None, more: str = "true") -> str:
    """The sum of an amount of one currency in the lists of a column, in its smallest units, or null.

    Only the parts of which `more` is true count.
    """
    digits = str(MINOR_DIGITS.get(query.currency or "", 2))
    only = "part.currency IS NOT NULL"
    if code:
        named = query.sorting.currencies[int(code.rpartition("_")[2])]
        digits, only = str(MINOR_DIGITS.get(named, 2)), f"part.currency = ${code}"
    unit = f"pow(10, {digits} - part.digits::INTEGER)"
    whole = " / part.whole" if column.endswith("sold") else ""
    amount = f"coalesce(part.{name}, 0)::DOUBLE * {unit}{whole}"
    return f"list_sum([{amount} FOR part IN groups.{column} IF {only} AND {more}])"
