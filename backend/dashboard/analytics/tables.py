"""Tables of an overview: what comes first by campaign, link, referrer, country and device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.dashboard.analytics.figures import FigureCell, cell_of, label_in, number
from backend.dashboard.analytics.rows_behind import rows_address
from backend.dashboard.analytics.sorting import Sorting
from backend.dashboard.analytics.view import View
from backend.dashboard.frame.heading import Heading
from backend.domain.analytics.answer import AnalyticsAnswer, NamedLink, Row, RowKind, Values
from backend.domain.analytics.filter_words import FilterLanguage
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Query, QueryField, field_label
from backend.domain.ids import LinkId
from backend.domain.links.destinations.destination import OUTCOME_NAMES
from backend.domain.web.client import PLATFORM_NAMES

NAMES: Mapping[str, str] = {field.value: field.label for field in Field}
_VALUES: Mapping[QueryField, Mapping[str, str]] = {
    Field.PLATFORM: PLATFORM_NAMES,
    Field.OUTCOME: OUTCOME_NAMES,
}
_NONE: Mapping[str, str] = {
    Field.LINK: "No link",
    Field.TAG: "No tag",
    Field.COUNTRY: "Unknown",
    Field.REFERRER: "None: typed, scanned, or not told",
    Field.REFERRING_SITE: "None: typed, scanned, or not told",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A table of the overview. Its rows are by one of these fields, by the first unless another is asked.

    With `opens`, the first field's values are made of those of the second, which show once one is chosen.
    """

    name: str
    title: str
    fields: tuple[QueryField, ...]
    opens: bool = False

    def field(self, view: View) -> QueryField:
        """The field that the table is grouped by in this view."""
        chosen = view.others.get(self.name)
        usual = self.fields[1] if self.opens and self.fields[0] in view.filters else self.fields[0]
        return next((field for field in self.fields if field == chosen), usual)


CARDS = (
    Card("campaigns", "Campaigns", (Field.CAMPAIGN, Field.SOURCE, Field.MEDIUM, Field.CONTENT)),
    Card("links", "Links", (Field.LINK, Field.TAG, Field.DOMAIN)),
    Card("referrers", "Referrers", (Field.REFERRING_SITE, Field.REFERRER), opens=True),
    Card("countries", "Countries", (Field.COUNTRY,)),
    Card("devices", "Devices", (Field.PLATFORM, Field.SYSTEM, Field.BROWSER, Field.OUTCOME)),
)


def choices_of(cards: Iterable[Card]) -> dict[str, tuple[str, ...]]:
    """The arguments of a page's address that choose by what the rows of its tables are."""
    return {card.name: tuple(field.value for field in card.fields) for card in cards if len(card.fields) > 1}


CHOICES = choices_of(CARDS)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row. `address` shows only what belongs to it; None where that can't be asked.

    `share` is what the number that sorts the rows is of the largest one, in percent. `link_id` is of the link
    that the row is of, if there is one.
    """

    key: str | None
    name: str
    share: float
    cells: Sequence[FigureCell]
    address: str | None
    link_id: LinkId | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """What a card shows now. `left_out` rows are not shown; None where nobody knows how many.

    `names_currencies`: amounts are in several currencies, so each of them names its own.
    """

    card: Card
    by: QueryField
    headings: Sequence[Heading]
    rows: Sequence[TableRow]
    left_out: int | None
    names_currencies: bool = False


MEASURES = (Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE)
SHORT = {Measure.CONVERSIONS: "Conv.", Measure.RETURN_ON_AD_SPEND: "Return"}


def table_query(
    view: View, by: QueryField, sorting: Sorting, most: int, measures: Sequence[Measure] = MEASURES
) -> Query:
    """The query for a table by this field, with what is known of its rows."""
    return view.query(*measures, by=by, order=sorting.order, compare=view.comparison, limit=most)


def table(card: Card, view: View, answer: AnalyticsAnswer, path: str, sorting: Sorting) -> Table:
    """The card's table with the answer's rows, and amounts in the currencies of their order."""
    by, currencies, measures = answer.query.group_by[0], sorting.currencies or ("",), answer.query.measures
    most = max((_sorted_by(row, sorting) for row in answer.rows), default=0.0)
    rows = [
        TableRow(
            row.group[0],
            name_of(by, row.group[0], answer.links, row.kind),
            100 * _sorted_by(row, sorting) / most if most else 0.0,
            [
                cell_of(
                    measure,
                    row,
                    currencies,
                    "" if row.kind else rows_address(measure, view, by, row.group[0]),
                    divides_counts=False,
                )
                for measure in measures
            ],
            None if row.kind else view.with_filter(path, by, row.group[0]),
            link_of(by, row, answer.links),
        )
        for row in answer.rows
    ]
    are_named = len(currencies) > 1
    headings = []
    for measure in measures:
        short = currencies[0] if measure is Measure.REVENUE and not are_named else SHORT.get(measure, "")
        headings.append(sorting.heading(measure, label_in(measure, currencies), view, path, short))
    return Table(card, by, headings, rows, answer.rows_left_out, are_named)


def _sorted_by(row: Row, sorting: Sorting) -> float:
    """The number that sorts the row, or how much it changed, either way; of amounts the main currency's."""
    main = next(iter(sorting.currencies), "")
    now, before = (
        float(number(values[sorting.measure], main) or 0) if values else 0.0
        for values in (row.values, row.previous)
    )
    return abs(now - before) if sorting.is_by_change else now


def link_of(by: QueryField, row: Row, links: Mapping[LinkId, NamedLink]) -> LinkId | None:
    """The link that a row of this field is of, if there is one."""
    key = row.group[0]
    return LinkId(key) if by is Field.LINK and key and key in links else None


def names_of(cards: Iterable[Card]) -> dict[str, str]:
    """What people call the fields of these cards."""
    return {field.value: field_label(field) for card in cards for field in card.fields}


def name_of(
    by: QueryField, value: str | None, links: Mapping[LinkId, NamedLink], kind: RowKind | None = None
) -> str:
    """What people call a value of this field, or a row of this kind."""
    if kind:
        return kind.words
    if value is None:
        return _NONE.get(by, "None")
    if by is Field.LINK:
        link = links.get(LinkId(value))
        return link.link_name if link else "A deleted link"
    return _VALUES.get(by, {}).get(value, value)


FILTERS_IN_WORDS = FilterLanguage(field_label, name_of)


def count_of(values: Values, measure: Measure = Measure.CLICKS) -> int:
    """A plain count among the values."""
    value = values[measure]
    assert isinstance(value, int)
    return value
