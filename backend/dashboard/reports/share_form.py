"""The page with the form that shares a view: what may be chosen of each kind."""

from __future__ import annotations

from collections.abc import Sequence

from quart import Response

from backend.dashboard.analytics.events import marked_properties
from backend.dashboard.cohorts.triangle import SHOWN
from backend.dashboard.frame.page import page
from backend.dashboard.reports.form import MEASURE_PREFIX, TABLE_PREFIX, Fields, Problems
from backend.dashboard.reports.saved_view import GROUPINGS, MEASURES, TABLE_FIELDS
from backend.dashboard.reports.words import QueryWords
from backend.dashboard.shared.filter_words import field_name
from backend.dashboard.shared.shown import measure_name
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.query import Field, QueryField
from backend.domain.reports.links import ListFigure
from backend.domain.reports.live import LiveFigure
from backend.domain.reports.views import ViewKind

# What is chosen to be shown, of kinds of which that can be chosen.
_COLUMNS = {
    ViewKind.TABLE: "Columns",
    ViewKind.OVERVIEW: "Figures",
    ViewKind.COHORTS: "A table for each",
    ViewKind.LINKS: "Columns",
    ViewKind.LIVE: "Figures",
}


async def share_form(
    fields: Fields, problems: Problems, words: QueryWords, kinds: Sequence[tuple[str, str, bool]] = ()
) -> Response:
    """The form; `kinds` are what else may be shared of the view, and the addresses of forms for that."""
    properties = await marked_properties()
    kind = ViewKind(fields["kind"])
    return await page(
        "reports/share.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        words=words,
        kinds=kinds,
        has_amounts=kind.has_amounts,
        has_chart=kind.has_chart,
        columns=_COLUMNS.get(kind, ""),
        tables=[(f"{TABLE_PREFIX}{table}", field_name(table)) for table in (*TABLE_FIELDS, *properties)],
        measures=[(f"{MEASURE_PREFIX}{name}", words_of) for name, words_of in _measures(kind)],
        groupings=[
            ("", "Only the totals"),
            *((by.value, field_name(by)) for by in _groupings(fields, properties)),
        ],
    )


def _measures(kind: ViewKind) -> Sequence[tuple[str, str]]:
    """What may be chosen to be shown, and what it is called."""
    if kind is ViewKind.COHORTS:
        return [(figure.value, words) for figure, words in SHOWN.items()]
    if kind in {ViewKind.LINKS, ViewKind.LIVE}:
        figures = ListFigure if kind is ViewKind.LINKS else LiveFigure
        return [(figure.value, measure_name(figure.measure)) for figure in figures]
    return [(measure.value, measure_name(measure)) for measure in MEASURES]


def _groupings(fields: Fields, properties: Sequence[EventProperty]) -> Sequence[QueryField]:
    """What rows may be of, properties of events among it; hours only where the view has them."""
    return (*([Field.HOUR] if fields["by"] == Field.HOUR else []), *GROUPINGS, *properties)
