"""The page with the form that shares a view: what may be chosen of each kind."""

from __future__ import annotations

from collections.abc import Sequence

from quart import Response

from backend.dashboard.analytics.events import marked_properties
from backend.dashboard.frame.page import page
from backend.dashboard.reports.form import MEASURE_PREFIX, TABLE_PREFIX, Fields, Problems, figures_to_choose
from backend.dashboard.reports.saved_view import GROUPINGS, TABLE_FIELDS
from backend.dashboard.reports.words import QueryWords
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.query import Field, QueryField, field_label
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
        tables=[(f"{TABLE_PREFIX}{table}", field_label(table)) for table in (*TABLE_FIELDS, *properties)],
        measures=[
            (f"{MEASURE_PREFIX}{name}", words_of) for name, words_of in figures_to_choose(kind).items()
        ],
        groupings=[
            ("", "Only the totals"),
            *((by.value, field_label(by)) for by in _groupings(fields, properties)),
        ],
    )


def _groupings(fields: Fields, properties: Sequence[EventProperty]) -> Sequence[QueryField]:
    """What rows may be of, properties of events among it; hours only where the view has them."""
    return (*([Field.HOUR] if fields["by"] == Field.HOUR else []), *GROUPINGS, *properties)
