"""/attribution: what each campaign, link or source brought in.

Who opens it: whoever spends the money of a campaign, once a week or before a budget is given out. What they
decide by it: which of them get more, which are stopped. So clicks stand beside what came of them, as a rate
and as revenue per click, which can be held against what a click costs elsewhere; and any column sorts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import ask, chips_of, csv_answer, view_of_request
from backend.dashboard.analytics.figures import (
    LABELS,
    currencies_of,
    figures,
    label_in,
    lines_in_row,
    meanings_of,
)
from backend.dashboard.analytics.tables import NAMES, name_of
from backend.dashboard.analytics.view import COMPARISONS, PRESETS, AnyDay, View
from backend.dashboard.frame.blueprint import dashboard
from backend.dashboard.frame.heading import Heading
from backend.dashboard.frame.page import page
from backend.domain.analytics.answer import AnalyticsAnswer, Row
from backend.domain.analytics.query import MONEY, Field, Measure, Order, Query
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model

_ROWS_PER_PAGE = 25
FIELDS = (
    Field.CAMPAIGN, Field.SOURCE, Field.MEDIUM, Field.CONTENT, Field.TERM, Field.TAG, Field.LINK,
    Field.DOMAIN, Field.COUNTRY, Field.PLATFORM, Field.SYSTEM, Field.BROWSER, Field.REFERRER,
)  # fmt: skip
MEASURES = (
    Measure.CLICKS,
    Measure.LEADS,
    Measure.CONVERSIONS,
    Measure.CONVERSION_RATE,
    Measure.CUSTOMERS,
    Measure.CONTACTS,
    Measure.REVENUE,
    Measure.REFUNDS,
    Measure.NET_REVENUE,
    Measure.REVENUE_PER_CLICK,
)
_OF_REFUNDS = frozenset({Measure.REFUNDS, Measure.NET_REVENUE})
MODELS = {
    Model.LAST_NON_DIRECT.value: "last non-direct touch",
    Model.LAST.value: "last touch, direct visits too",
    Model.FIRST.value: "first touch",
    Model.LINEAR.value: "all touches alike (linear)",
    Model.POSITION_BASED.value: "first and last most (position-based)",
}
CREDITS = {CreditTo.DEVICE.value: "same device", CreditTo.CUSTOMER.value: "customer, on all devices"}
_DAYS = ("1", "7", "30", "90", "365")
WINDOWS = {"": "however long before", **{days: f"{days} days before" for days in _DAYS}}
_CHOICES: dict[str, Container[str]] = {
    "by": tuple(FIELDS),
    "touch": tuple(MODELS),
    "credit": tuple(CREDITS),
    "window": _DAYS,
    "as_of": AnyDay(),
    "sort": tuple(f"{sign}{measure.value}" for measure in MEASURES for sign in ("-", "")),
}


@dataclass(frozen=True, slots=True)
class AttributionRow:
    """A row: what it is of, where a click on it leads, and the lines of its cells with their headings.

    `address` is "" where nothing more can be shown of it.
    """

    name: str
    address: str
    cells: list[tuple[str, list[str]]]
    link_id: LinkId | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What a page of this address adds to its view."""

    by: Field
    rules: CreditRules
    order: Order

    @classmethod
    def of(cls, view: View) -> Choice:
        """The choice in the view's address."""
        sort = view.others.get("sort", f"-{Measure.CLICKS}")
        return cls(
            Field(view.others.get("by", Field.CAMPAIGN)),
            CreditRules(
                CreditTo(view.others.get("credit", CreditTo.DEVICE)),
                Model(view.others.get("touch", Model.LAST_NON_DIRECT)),
                int(window) if (window := view.others.get("window")) else None,
                view.end_of(day) if (day := view.others.get("as_of")) else None,
            ),
            Order(Measure(sort.removeprefix("-")), sort.startswith("-")),
        )

    def query(self, view: View, currencies: Sequence[str], cursor: str | None = None) -> Query:
        """The query for rows of the view, in these currencies. By an amount they are sorted in one."""
        is_one = self.order.column in MONEY or view.currency
        return view.query(
            *MEASURES,
            by=self.by,
            rules=self.rules,
            order=self.order,
            currency=currencies[0] if is_one else None,
            limit=_ROWS_PER_PAGE,
            cursor=cursor,
        )


@dataclass(frozen=True, slots=True)
class _Attribution:
    """What the page shows besides its rows. `currencies` are those of amounts, the main one first."""

    view: View
    choice: Choice
    totals: AnalyticsAnswer
    currencies: Sequence[str]

    @property
    def measures(self) -> list[Measure]:
        """The measures with a column: those of refunds only if there are any."""
        total = self.totals.totals
        refunds = [values[Measure.REFUNDS] for values in (total.values, total.previous) if values]
        is_refunded = any(
            any(refunded.values()) if isinstance(refunded, Mapping) else refunded for refunded in refunds
        )
        return [measure for measure in MEASURES if is_refunded or measure not in _OF_REFUNDS]


async def _read(view: View) -> _Attribution:
    """The choice and the totals of the view, with the currencies that amounts have.

    If rows are sorted by an amount and there are several currencies, the view is changed to the main one.
    """
    choice = Choice.of(view)
    totals = await ask(view.query(*MEASURES, rules=choice.rules, compare=view.comparison))
    currencies = currencies_of(view, totals.totals.values)
    if choice.order.column in MONEY and len(currencies) > 1:
        return await _read(replace(view, currency=currencies[0]))
    return _Attribution(view, choice, totals, currencies)


@dashboard.get("/attribution")
async def attribution() -> Response:
    """A page of rows in the order that the address names, and the totals of all rows."""
    view = await view_of_request(_CHOICES)
    status = 422 if view.errors else 200
    later = partial(_content, view)
    return await page("analytics/attribution.html", status, later=later, view=view, comparisons=COMPARISONS)


async def _content(view: View) -> dict[str, Any]:
    shown = await _read(view)
    view, choice, currencies, measures = shown.view, shown.choice, shown.currencies, shown.measures
    path = url_for("dashboard.attribution")
    rows = await _rows(shown, request.args.get("cursor") or None)
    return {
        "choice": choice,
        "view": view,
        "path": path,
        "csv_path": url_for("dashboard.attribution_csv"),
        "presets": PRESETS,
        "chips": await chips_of(view, path),
        "figures": [
            figure for figure in figures(shown.totals, None, currencies[0]) if figure.measure in measures
        ],
        "headings": [_heading(measure, view, choice, path, currencies) for measure in measures],
        "rows": [_row(row, view, rows, currencies, measures) for row in rows.rows],
        "rows_in_all": rows.rows_in_all,
        "next_page": view.address(path, cursor=rows.next_cursor) if rows.next_cursor else "",
        "is_first_page": "cursor" not in request.args,
        "notes": dict.fromkeys((*rows.notes, *shown.totals.notes)),
        "fields": FIELDS,
        "names": NAMES,
        "words": meanings_of(measures),
        "models": MODELS,
        "credits": CREDITS,
        "windows": WINDOWS,
        "labels_of": LABELS,
        "measures": measures,
    }


@dashboard.get("/attribution.csv")
async def attribution_csv() -> Response:
    """All rows of what the page shows, in its order, with exact amounts."""
    shown = await _read(await view_of_request(_CHOICES))
    query = shown.choice.query(shown.view, shown.currencies)
    return await csv_answer(query, f"waylink-attribution-{shown.choice.by}")


async def _rows(shown: _Attribution, cursor: str | None) -> AnalyticsAnswer:
    try:
        return await ask(shown.choice.query(shown.view, shown.currencies, cursor))
    except InvalidField:  # a cursor of another view, such as one of yesterday
        return await ask(shown.choice.query(shown.view, shown.currencies))


def _row(
    row: Row, view: View, answer: AnalyticsAnswer, currencies: Sequence[str], measures: Sequence[Measure]
) -> AttributionRow:
    by, key = answer.query.group_by[0], row.group[0]
    address = view.with_filter(url_for("dashboard.home"), by, key, without=_CHOICES)
    return AttributionRow(
        name_of(by, key, answer.links, row.kind),
        "" if row.kind else address,
        [
            (label_in(measure, currencies), lines_in_row(measure, row.values, currencies))
            for measure in measures
        ],
        LinkId(key) if by is Field.LINK and key and key in answer.links else None,
    )


def _heading(measure: Measure, view: View, choice: Choice, path: str, currencies: Sequence[str]) -> Heading:
    order = choice.order
    direction = ""
    if order.column is measure:
        direction = "descending" if order.is_descending else "ascending"
    sort = measure.value if direction == "descending" else f"-{measure.value}"
    return Heading(label_in(measure, currencies), view.address(path, sort=sort), direction)
