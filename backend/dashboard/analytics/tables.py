"""Tables of an overview: what comes first by campaign, link, referrer, country and device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.dashboard.analytics.figures import lines_of, number
from backend.dashboard.analytics.view import View
from backend.dashboard.frame.labels import PLATFORMS
from backend.domain.analytics.answer import AnalyticsAnswer, NamedLink, RowKind, Values
from backend.domain.analytics.query import Field, Measure, Query, QueryField
from backend.domain.ids import LinkId

NAMES: Mapping[str, str] = {
    Field.LINK: "Link",
    Field.DOMAIN: "Domain",
    Field.CAMPAIGN: "Campaign",
    Field.SOURCE: "Source",
    Field.MEDIUM: "Medium",
    Field.TERM: "Term",
    Field.CONTENT: "Content",
    Field.TAG: "Tag",
    Field.COUNTRY: "Country",
    Field.PLATFORM: "Platform",
    Field.SYSTEM: "System",
    Field.BROWSER: "Browser",
    Field.REFERRER: "Referrer",
    Field.VARIANT: "Variant",
}
_NONE: Mapping[str, str] = {
    Field.LINK: "No link",
    Field.TAG: "No tag",
    Field.COUNTRY: "Unknown",
    Field.REFERRER: "None: typed, scanned, or not told",
}


@dataclass(frozen=True, slots=True)
class Card:
    """A table of the overview. Its rows are by one of these fields, by the first unless another is asked."""

    name: str
    title: str
    fields: tuple[Field, ...]

    def field(self, view: View) -> Field:
        """The field that the table is grouped by in this view."""
        return Field(view.others.get(self.name, self.fields[0]))


CARDS = (
    Card("campaigns", "Campaigns", (Field.CAMPAIGN, Field.SOURCE, Field.MEDIUM, Field.CONTENT)),
    Card("links", "Links", (Field.LINK, Field.TAG, Field.DOMAIN)),
    Card("referrers", "Referrers", (Field.REFERRER,)),
    Card("countries", "Countries", (Field.COUNTRY,)),
    Card("devices", "Devices", (Field.PLATFORM, Field.SYSTEM, Field.BROWSER)),
)
# The arguments of an overview's address that choose by what a table's rows are.
CHOICES = {card.name: tuple(field.value for field in card.fields) for card in CARDS if len(card.fields) > 1}


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row. `address` shows only what belongs to it; None where that can't be asked.

    `link_id` is of the link that it is of, if there is one.
    """

    key: str | None
    name: str
    clicks: int
    share: float
    conversions: int
    revenue: Sequence[str]
    address: str | None
    link_id: LinkId | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """What a card shows now. `left_out` rows are not shown; None where nobody knows how many.

    `revenue` is the heading of amounts: their currency, unless each of them `names_currencies`.
    """

    card: Card
    by: QueryField
    rows: Sequence[TableRow]
    left_out: int | None
    revenue: str = ""
    names_currencies: bool = False


def table_query(view: View, by: Field, most: int) -> Query:
    """The query for a table by this field, with what is known of its rows."""
    return view.query(Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE, by=by, limit=most)


def table(card: Card, view: View, answer: AnalyticsAnswer, path: str, currencies: Sequence[str]) -> Table:
    """The card's table with the answer's rows, and amounts in these currencies."""
    by = answer.query.group_by[0]
    most = max((count_of(row.values) for row in answer.rows), default=0)
    rows = []
    for row in answer.rows:
        value = row.group[0]
        clicks = count_of(row.values)
        revenue = row.values[Measure.REVENUE]
        is_something = any(number(revenue, currency) for currency in currencies)
        rows.append(
            TableRow(
                value,
                name_of(by, value, answer.links, row.kind),
                clicks,
                100 * clicks / most if most else 0.0,
                count_of(row.values, Measure.CONVERSIONS),
                lines_of(Measure.REVENUE, revenue, currencies) if is_something else ["–"],
                None if row.kind else view.with_filter(path, by, value),
                LinkId(value) if by is Field.LINK and value and value in answer.links else None,
            )
        )
    are_named = len(currencies) > 1
    heading = "Revenue" if are_named else currencies[0]
    return Table(card, by, rows, answer.rows_left_out, heading, are_named)


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
    return PLATFORMS.get(value, value) if by is Field.PLATFORM else value


def count_of(values: Values, measure: Measure = Measure.CLICKS) -> int:
    """A plain count among the values."""
    value = values[measure]
    assert isinstance(value, int)
    return value
