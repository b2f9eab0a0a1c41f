"""The figures of the variants of a link's splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.dashboard.analytics.answers import ask
from backend.dashboard.analytics.figures import LABELS, currencies_of, lines_of, text_of
from backend.dashboard.analytics.view import read_view
from backend.domain.analytics.answer import Value
from backend.domain.analytics.query import Field, Measure
from backend.domain.links.links import Link
from backend.domain.links.rules import variant_names

MEASURES = (
    Measure.CLICKS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.REVENUE,
    Measure.CHANCE_OF_BEST,
)
COLUMNS = [LABELS[measure] for measure in MEASURES[:-1]]


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant and the lines of its figures, in the order of COLUMNS.

    An amount has a line for each currency, other figures have one line. `chance` is the probability that the
    variant converts best; None if it is unknown.
    """

    name: str
    texts: Sequence[Sequence[str]]
    chance: float | None


async def variants_of(link: Link, now: datetime) -> list[VariantRow]:
    """The variants of the last four weeks, with most clicks first; none if no rule has variants."""
    if not variant_names(link.rules):
        return []
    view = read_view({Field.LINK: link.id}, now, link.created_at.date(), {})
    answer = await ask(view.query(*MEASURES, by=Field.VARIANT))
    currencies = currencies_of(view, answer.totals.values)
    rows = []
    for row in answer.rows:
        chance = row.values[Measure.CHANCE_OF_BEST]
        texts = [_lines(measure, row.values[measure], currencies) for measure in MEASURES[:-1]]
        rows.append(
            VariantRow(row.group[0] or "", texts, float(chance) if isinstance(chance, float) else None)
        )
    return rows


def _lines(measure: Measure, value: Value, currencies: Sequence[str]) -> list[str]:
    has_one = len(currencies) == 1
    return [text_of(measure, value, currencies[0])] if has_one else lines_of(measure, value, currencies)


def best_of(rows: Sequence[VariantRow]) -> VariantRow | None:
    """The variant with the greatest chance to convert best; None if no chance is known."""
    rated = [row for row in rows if row.chance is not None]
    return max(rated, key=lambda row: row.chance or 0, default=None)
