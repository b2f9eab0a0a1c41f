"""The figures of the variants of a link's splits, and what each A/B test has shown so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend.dashboard.analytics.answers import ask
from backend.dashboard.analytics.figures import currencies_of, lines_of, number, text_of
from backend.dashboard.analytics.tables import count_of
from backend.dashboard.analytics.view import read_view
from backend.domain.analytics.answer import Value, Values
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field
from backend.domain.analytics.verdicts import VariantCounts, VariantVerdict, verdict_of
from backend.domain.links.links import Link
from backend.domain.links.rules.rule_json import variant_names

MEASURES = (Measure.CLICKS, Measure.CONVERSIONS, Measure.CONVERSION_RATE, Measure.REVENUE)
COLUMNS = [measure.label for measure in MEASURES]
_NOTHING: Values = {
    Measure.CLICKS: 0,
    Measure.CONVERSIONS: 0,
    Measure.CONVERSION_RATE: None,
    Measure.REVENUE: {},
}


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant, its part of the visitors, and the lines of its figures, in the order of COLUMNS.

    An amount has a line for each currency, other figures have one line. `chance` is the probability that the
    variant converts best; None if it is unknown.
    """

    name: str
    gets: float
    texts: Sequence[Sequence[str]]
    chance: float | None


@dataclass(frozen=True, slots=True)
class SplitFigures:
    """The variants of the split of a rule, which is the rule with this number (from 1), and the verdict."""

    number: int
    rows: Sequence[VariantRow]
    verdict: VariantVerdict


async def splits_of(link: Link, now: datetime) -> list[SplitFigures]:
    """What each of the link's splits brought since the link was made, in the order of the rules."""
    names = variant_names(link.rules)
    if not names:
        return []
    view = read_view({Field.LINK: link.id, "period": "all"}, now, link.created_at.date(), {})
    query = view.query(*MEASURES, by=Field.VARIANT)
    filters = {Field.LINK: frozenset[str | None]([link.id]), Field.VARIANT: frozenset[str | None](names)}
    answer = await ask(replace(query, filters=filters))
    currencies = currencies_of(view, answer.totals.values)
    values = {row.group[0] or "": row.values for row in answer.rows}
    return [
        _figures(place, rule["then"]["split"], values, currencies)
        for place, rule in enumerate(link.rules, 1)
        if rule["then"].get("split")
    ]


def _figures(
    place: int, split: Sequence[Mapping[str, Any]], values: Mapping[str, Values], currencies: Sequence[str]
) -> SplitFigures:
    figures = {variant["name"]: values.get(variant["name"], _NOTHING) for variant in split}
    verdict = verdict_of([_counts(name, of_variant) for name, of_variant in figures.items()])
    weights = sum(variant["weight"] for variant in split)
    rows = [
        VariantRow(
            variant["name"],
            variant["weight"] / weights,
            [_lines(measure, figures[variant["name"]][measure], currencies) for measure in MEASURES],
            chance,
        )
        for variant, chance in zip(split, verdict.chances, strict=True)
    ]
    return SplitFigures(place, rows, verdict)


def _counts(name: str, values: Values) -> VariantCounts:
    conversions = float(number(values[Measure.CONVERSIONS], "") or 0)
    return VariantCounts(name, count_of(values, Measure.CLICKS), conversions)


def _lines(measure: Measure, value: Value, currencies: Sequence[str]) -> list[str]:
    has_one = len(currencies) == 1
    return [text_of(measure, value, currencies[0])] if has_one else lines_of(measure, value, currencies)
