"""/attribution: what each campaign, link or source brought in.

Who opens it: whoever spends the money of a campaign, once a week or before a budget is given out. What they
decide by it: which of them get more, which are stopped. So clicks stand beside what came of them, as a rate
and as revenue per click, and beside that, where it was told, what it cost; and any column sorts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import ask, chips_of, csv_answer, view_of_request
from backend.dashboard.analytics.figures import (
    FigureCell,
    cell_of,
    currencies_of,
    definitions_of,
    figures,
    label_in,
    meanings_of,
)
from backend.dashboard.analytics.rows_behind import rows_address, rows_behind
from backend.dashboard.analytics.sorting import SORT, Sorting, orders_of
from backend.dashboard.analytics.tables import NAMES, link_of, name_of
from backend.dashboard.analytics.view import COMPARISONS, PRESETS, AnyDay, View
from backend.dashboard.frame.blueprint import dashboard, needs
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.answer import AnalyticsAnswer, Row
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.query import DIFFERENCE, Field, Query
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import (
    MODEL_WORDS,
    TO_WORDS,
    CreditRules,
    CreditTo,
    Model,
    window_words,
)

_ROWS_PER_PAGE = 25
# A narrow screen shows these and what the rows are sorted by; the others once they are asked for.
_ON_PHONES = {Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE}
# Of the totals, those that a budget is decided by.
_FIRST_ON_PHONES = {*_ON_PHONES, Measure.COST, Measure.RETURN_ON_AD_SPEND, Measure.COST_PER_CONVERSION}
FIELDS = (
    Field.CAMPAIGN, Field.SOURCE, Field.MEDIUM, Field.CONTENT, Field.TERM, Field.TAG, Field.LINK,
    Field.DOMAIN, Field.COUNTRY, Field.PLATFORM, Field.SYSTEM, Field.BROWSER, Field.REFERRING_SITE,
    Field.REFERRER, Field.OUTCOME,
)  # fmt: skip
# What a budget is decided by stands first: where not all columns fit, the last ones are scrolled to.
MEASURES = (
    Measure.CLICKS,
    Measure.CONVERSIONS,
    Measure.REVENUE,
    Measure.REFUNDS,
    Measure.NET_REVENUE,
    Measure.COST,
    Measure.RETURN_ON_AD_SPEND,
    Measure.COST_PER_CONVERSION,
    Measure.COST_PER_CLICK,
    Measure.CONVERSION_RATE,
    Measure.REVENUE_PER_CLICK,
    Measure.LEADS,
    Measure.CUSTOMERS,
    Measure.CONTACTS,
)
_OF_REFUNDS = frozenset({Measure.REFUNDS, Measure.NET_REVENUE})
MODELS = {model.value: words for model, words in MODEL_WORDS.items()}
CREDITS = {to.value: words for to, words in TO_WORDS.items()}
_DAYS = ("1", "7", "30", "90", "365")
WINDOWS = {"": window_words(None), **{days: window_words(int(days)) for days in _DAYS}}
# The choices of who gets the credit, with their words, on all pages.
CREDIT_CHOICES = {"credit": CREDITS, "model": MODELS, "lookback_days": WINDOWS}
CREDIT_VALUES: dict[str, Container[str]] = {
    "touch": tuple(MODELS),
    "credit": tuple(CREDITS),
    "window": _DAYS,
    "as_of": AnyDay(),
}
_CHOICES: dict[str, Container[str]] = {
    "by": tuple(FIELDS),
    **CREDIT_VALUES,
    SORT: orders_of(MEASURES),
}


def rules_of(view: View) -> CreditRules:
    """The rules of credit in the view's address."""
    return CreditRules(
        CreditTo(view.others.get("credit", CreditTo.DEVICE)),
        Model(view.others.get("touch", Model.LAST_NON_DIRECT)),
        int(window) if (window := view.others.get("window")) else None,
        view.end_of(day) if (day := view.others.get("as_of")) else None,
    )


@dataclass(frozen=True, slots=True)
class AttributionRow:
    """A row: what it is of, where a click on it leads, and its cells.

    `address` is "" where nothing more can be shown of it.
    """

    name: str
    address: str
    cells: list[FigureCell]
    link_id: LinkId | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What a page of this address adds to its view."""

    by: Field
    rules: CreditRules

    @classmethod
    def of(cls, view: View) -> Choice:
        """The choice in the view's address."""
        return cls(
            Field(view.others.get("by", Field.CAMPAIGN)),
            rules_of(view),
        )

    def query(self, view: View, sorting: Sorting, cursor: str | None = None) -> Query:
        """The query for rows of the view in this order."""
        return view.query(
            *MEASURES,
            by=self.by,
            rules=self.rules,
            order=sorting.order,
            compare=view.comparison,
            limit=_ROWS_PER_PAGE,
            cursor=cursor,
        )


@dataclass(frozen=True, slots=True)
class _Attribution:
    """What the page shows besides its rows."""

    view: View
    choice: Choice
    totals: AnalyticsAnswer
    sorting: Sorting

    @property
    def currencies(self) -> Sequence[str]:
        """Those of amounts, the main one first."""
        return self.sorting.currencies

    @property
    def measures(self) -> list[Measure]:
        """The measures with a column: those of refunds and of costs only if there are any."""
        total = self.totals.totals
        refunds = [values[Measure.REFUNDS] for values in (total.values, total.previous) if values]
        is_refunded = any(
            any(refunded.values()) if isinstance(refunded, Mapping) else refunded for refunded in refunds
        )
        has_costs = any(values[Measure.COST] for values in (total.values, total.previous) if values)
        left_out = frozenset() if is_refunded else _OF_REFUNDS
        measures = [measure for measure in MEASURES if measure not in left_out]
        return [measure for measure in measures if has_costs or measure.kind is not MeasureKind.COSTS]


async def _read(view: View) -> _Attribution:
    """The choice and the totals of the view, and the order of rows, which follows from them."""
    choice = Choice.of(view)
    totals = await ask(view.query(*MEASURES, rules=choice.rules, compare=view.comparison))
    values = totals.totals.values
    return _Attribution(view, choice, totals, Sorting.of(view, values, currencies_of(view, values)))


@dashboard.get("/attribution")
@needs(Permission.ANALYTICS_READ)
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
    headings = [
        shown.sorting.heading(measure, label_in(measure, currencies), view, path) for measure in measures
    ]
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
        "first": _FIRST_ON_PHONES,
        "headings": headings,
        "folded": [
            not (measure in _ON_PHONES or heading.direction or heading.change_direction)
            for measure, heading in zip(measures, headings, strict=True)
        ],
        "sorting": shown.sorting,
        "orders": _orders(view, measures),
        "rows": [_row(row, view, rows, currencies, measures) for row in rows.rows],
        "rows_in_all": rows.rows_in_all,
        "next_page": view.address(path, cursor=rows.next_cursor) if rows.next_cursor else "",
        "is_first_page": "cursor" not in request.args,
        "notes": dict.fromkeys((*rows.notes, *shown.totals.notes)),
        "fields": FIELDS,
        "names": NAMES,
        "words": meanings_of(measures),
        "definitions": definitions_of(measures, partial(rows_behind, view=view)),
        "choices": CREDIT_CHOICES,
    }


@dashboard.get("/attribution.csv")
@needs(Permission.ANALYTICS_READ)
async def attribution_csv() -> Response:
    """All rows of what the page shows, in its order, with exact amounts."""
    shown = await _read(await view_of_request(_CHOICES))
    query = shown.choice.query(shown.view, shown.sorting)
    return await csv_answer(query, f"waylink-attribution-{shown.choice.by}")


async def _rows(shown: _Attribution, cursor: str | None) -> AnalyticsAnswer:
    try:
        return await ask(shown.choice.query(shown.view, shown.sorting, cursor))
    except InvalidField:  # a cursor of another view, such as one of yesterday
        return await ask(shown.choice.query(shown.view, shown.sorting))


def _row(
    row: Row, view: View, answer: AnalyticsAnswer, currencies: Sequence[str], measures: Sequence[Measure]
) -> AttributionRow:
    by, key = answer.query.group_by[0], row.group[0]
    address = view.with_filter(url_for("dashboard.home"), by, key, without=_CHOICES)
    return AttributionRow(
        name_of(by, key, answer.links, row.kind),
        "" if row.kind else address,
        [
            cell_of(measure, row, currencies, "" if row.kind else rows_address(measure, view, Field(by), key))
            for measure in measures
        ],
        link_of(by, row, answer.links),
    )


def _orders(view: View, measures: Sequence[Measure]) -> dict[str, str]:
    """The orders that can be chosen, in words."""
    ways = {"": ("most first", "least first")}
    if view.comparison:
        ways[DIFFERENCE] = ("grown most first", "fallen most first")
    return {
        f"{sign}{compared}{measure.value}": f"{measure.label}, {way}"
        for measure in measures
        for compared, both in ways.items()
        for sign, way in zip(("-", ""), both, strict=True)
    }
