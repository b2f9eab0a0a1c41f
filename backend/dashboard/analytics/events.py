"""/events: custom events.

Who opens it: whoever has sites tell what visitors do beside buying, such as signing up or putting something
into a cart. What they decide by it: which campaigns and links bring visitors who do it, and what they do it
with. So it answers: what was done, how often, and is that more than before; then where from, and by what the
sites told of it (properties that the organization has marked). A click on any row shows all of it for that
row alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, abort, request, url_for

from backend.dashboard.analytics.answers import ask_all, chips_of, csv_answer, view_of_request
from backend.dashboard.analytics.figures import course, definitions_of, figures, meanings_of
from backend.dashboard.analytics.marks import marks_of, note_path
from backend.dashboard.analytics.rows_behind import addresses_over_time, rows_behind
from backend.dashboard.analytics.sorting import SORT, Sorting, orders_of
from backend.dashboard.analytics.tables import CARDS, Card, choices_of, names_of, table, table_query
from backend.dashboard.analytics.view import COMPARISONS, FILTERS, PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.event_properties import BEGIN, EventProperty
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import MOST_LIMIT, Field, Query, is_of_events
from backend.storage.accounts.organizations import find_event_properties
from backend.web.current import resources

NAME_CARD = Card("events", "Events", (Field.EVENT,))
_PROPERTIES = "properties"
_ROWS_PER_TABLE = 8
_MEASURES = (Measure.EVENTS,)
_CHART = "chart"
_TIME = "time"


async def marked_properties() -> tuple[EventProperty, ...]:
    """The properties of events that the organization has marked."""
    marked = await find_event_properties(resources().database, org_id())
    return tuple(EventProperty(f"{BEGIN}{name}") for name in marked)


def events_cards(properties: Sequence[EventProperty]) -> tuple[Card, ...]:
    """The tables of the page, with these properties of events."""
    of_properties = [Card(_PROPERTIES, "Properties", tuple(properties))] if properties else []
    return (NAME_CARD, *of_properties, *CARDS)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address asks for: the view, the cards of the page, and what is shown over time."""

    view: View
    cards: tuple[Card, ...]
    has_properties: bool

    @classmethod
    async def of_request(cls) -> _Asked:
        """What the request asks for."""
        properties = await marked_properties()
        cards = events_cards(properties)
        choices = choices_of(cards) | {
            _CHART: (Measure.EVENTS, Measure.IDENTITIES),
            SORT: orders_of(_MEASURES),
        }
        view = await view_of_request(choices, (*FILTERS, Field.EVENT, *properties))
        return cls(view, cards, bool(properties))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is shown over time. Identities are no events, so a filter of events leaves none of them."""
        is_filtered = any(map(is_of_events, self.view.filters))
        return (Measure.EVENTS,) if is_filtered else (Measure.EVENTS, Measure.IDENTITIES)

    @property
    def sorting(self) -> Sorting:
        """The order of rows."""
        return Sorting.read(self.view, Measure.EVENTS)

    @property
    def series(self) -> Query:
        """The course of the figures, and what they come to."""
        view = self.view
        return view.query(
            *self.measures, by=Field(view.time_field), compare=view.comparison, limit=MOST_LIMIT
        )


@dashboard.get("/events")
@needs(Permission.ANALYTICS_READ)
async def events() -> Response:
    """The events of the period and the filters in the address."""
    asked = await _Asked.of_request()
    return await page(
        "analytics/events.html",
        422 if asked.view.errors else 200,
        later=partial(_content, asked),
        view=asked.view,
        comparisons=COMPARISONS,
    )


async def _content(asked: _Asked) -> dict[str, Any]:
    view, sorting, path = asked.view, asked.sorting, url_for("dashboard.events")
    queries = [events_query(view, card, sorting) for card in asked.cards]
    series, *answers = await ask_all([asked.series, *queries])
    chosen = Measure(view.others.get(_CHART, Measure.EVENTS))
    chosen = chosen if chosen in asked.measures else Measure.EVENTS
    return {
        "path": path,
        "csv_path": url_for("dashboard.events_csv"),
        "presets": PRESETS,
        "chips": await chips_of(view, path),
        "chosen": chosen,
        "figures": figures(series, series, ""),
        "course": course(chosen, view, series, ""),
        "addresses": addresses_over_time(chosen, view),
        "marks": await marks_of(series.rows, view.period, view.time_field, view.filters),
        "note_path": note_path(view.filters.get(Field.LINK)),
        "tables": [
            table(card, view, answer, path, sorting)
            for card, answer in zip(asked.cards, answers, strict=True)
        ],
        "has_properties": asked.has_properties,
        "names": names_of(asked.cards),
        "words": meanings_of(asked.measures),
        "definitions": definitions_of(asked.measures, partial(rows_behind, view=view)),
        "notes": dict.fromkeys(note for answer in (series, *answers) for note in answer.notes),
    }


@dashboard.get("/events.csv")
@needs(Permission.ANALYTICS_READ)
async def events_csv() -> Response:
    """A table of the page as a file, with all its rows; `table` names its field, or is `time`."""
    asked = await _Asked.of_request()
    name = request.args.get("table", "")
    fields = {field.value: field for card in asked.cards for field in card.fields}
    if name == _TIME:
        query = asked.series
    elif name in fields:
        query = table_query(asked.view, fields[name], asked.sorting, _ROWS_PER_TABLE, _MEASURES)
    else:
        abort(404)
    return await csv_answer(query, f"waylink-events-{'property' if name.startswith(BEGIN) else name}")


def events_query(view: View, card: Card, sorting: Sorting) -> Query:
    """The query for a card with events."""
    return table_query(view, card.field(view), sorting, _ROWS_PER_TABLE, _MEASURES)
