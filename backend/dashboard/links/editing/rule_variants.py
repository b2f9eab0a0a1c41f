"""What the variants of a link's splits brought."""

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
COLUMNS = [LABELS[each] for each in MEASURES[:-1]]


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant and its figures, in the order of the columns. `chance` is that it converts best.

    An amount has a line for each currency, other figures have one.
    """

    name: str
    texts: Sequence[Sequence[str]]
    chance: float | None


async def variants_of(link: Link, now: datetime) -> list[VariantRow]:
    """The variants of four weeks, those with most clicks first; none if the link's rules have none."""
    if not variant_names(link.rules):
        return []
    view = read_view({Field.LINK: link.id}, now, link.created_at.date(), {})
    found = await ask(view.query(*MEASURES, by=Field.VARIANT))
    currencies = currencies_of(view, found.totals.values)
    rows = []
    for row in found.rows:
        chance = row.values[Measure.CHANCE_OF_BEST]
        texts = [_lines(each, row.values[each], currencies) for each in MEASURES[:-1]]
        rows.append(
            VariantRow(row.group[0] or "", texts, float(chance) if isinstance(chance, float) else None)
        )
    return rows


def _lines(measure: Measure, value: Value, currencies: Sequence[str]) -> list[str]:
    has_one = len(currencies) == 1
    return [text_of(measure, value, currencies[0])] if has_one else lines_of(measure, value, currencies)


def best_of(rows: Sequence[VariantRow]) -> VariantRow | None:
    """The variant that converts best with the greatest chance; None if nothing can be said."""
    known = [each for each in rows if each.chance is not None]
    return max(known, key=lambda each: each.chance or 0, default=None)
